// swift-tools-version: 6.1

import PackageDescription

let package = Package(
  name: "packages",
  platforms: [.macOS(.v14)],
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
    .package(name: "leaktrace", path: "../../..", traits: []),
  ],
  targets: [
    .executableTarget(
      name: "audit-server",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "session-server",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    // Hands out its own tasks, as docs/production.md shows.
    .executableTarget(
      name: "debug-server",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"), .product(name: "LeakTrace", package: "leaktrace"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: [.swiftLanguageMode(.v5)]),
    // Sends requests to each of them.
    .executableTarget(name: "load"),
    // Faults in the use of SwiftNIO and AsyncAlgorithms, as the programs of the corpus are.
    .executableTarget(
      name: "nio-corpus",
      dependencies: [
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
      ],
      swiftSettings: [.swiftLanguageMode(.v5)]),
  ]
)
