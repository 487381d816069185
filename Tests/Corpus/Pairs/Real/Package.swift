// swift-tools-version: 5.9
// A program that reads and writes its settings with TOMLKit: as it is published, or a copy of it at TOMLKIT_PATH.

import PackageDescription

let package = Package(
  name: "settings",
  dependencies: [
    Context.environment["TOMLKIT_PATH"].map { .package(name: "TOMLKit", path: $0) }
      ?? .package(url: "https://github.com/LebJe/TOMLKit", exact: "0.6.0")
  ],
  targets: [
    .executableTarget(name: "settings", dependencies: [.product(name: "TOMLKit", package: "TOMLKit")])
  ]
)
