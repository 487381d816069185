// swift-tools-version: 6.1

import PackageDescription

// A server that is recorded under load, and the load generator. scripts/bench builds and runs both.
let package = Package(
  name: "server",
  platforms: [.macOS(.v14)],
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
  ],
  targets: [
    .executableTarget(
      name: "shop-server",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(name: "pace", cSettings: [.unsafeFlags(["-O2", "-Wall", "-Wextra"])]),
  ]
)
