// swift-tools-version: 6.1

import PackageDescription

let package = Package(
  name: "nio-corpus",
  dependencies: [.package(url: "https://github.com/apple/swift-nio", exact: "2.101.2")],
  targets: [
    .executableTarget(
      name: "nio-corpus",
      dependencies: [.product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOEmbedded", package: "swift-nio")],
      swiftSettings: [.swiftLanguageMode(.v5)])
  ]
)
