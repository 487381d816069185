// swift-tools-version: 6.1
// Servers and clients in one process, with public packages. Each program has a known leak ("leak") and works without it
// ("clean").

import PackageDescription

let package = Package(
  name: "programs",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
    .package(url: "https://github.com/swhitty/FlyingFox", exact: "0.27.1"),
  ],
  targets: [
    .executableTarget(
      name: "ticket-service",
      dependencies: [
        .product(name: "Hummingbird", package: "hummingbird"), .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"), .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "price-poller",
      dependencies: [
        .product(name: "AsyncHTTPClient", package: "async-http-client"), .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .executableTarget(
      name: "chat-relay", dependencies: [.product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio")]),
    .executableTarget(name: "feed-server", dependencies: [.product(name: "FlyingFox", package: "FlyingFox")]),
    .executableTarget(name: "stream-readers", dependencies: [.product(name: "AsyncAlgorithms", package: "swift-async-algorithms")]),
  ]
)
