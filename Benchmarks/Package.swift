// swift-tools-version: 6.1

import PackageDescription

// What is measured inside one process; scripts/bench builds and runs it.
let package = Package(
  name: "benchmarks",
  dependencies: [.package(name: "leaktrace", path: "..")],
  targets: [
    .target(name: "PhaseMeter", path: "measured/PhaseMeter"),
    .executableTarget(
      name: "graph-algorithms", dependencies: ["PhaseMeter", .product(name: "TraceAnalysis", package: "leaktrace")],
      path: "measured/graph-algorithms"),
    .executableTarget(
      name: "analysis-phases", dependencies: ["PhaseMeter", .product(name: "TraceAnalysis", package: "leaktrace")],
      path: "measured/analysis-phases"),
    .executableTarget(
      name: "image-list", dependencies: [.product(name: "TraceAnalysis", package: "leaktrace")], path: "measured/image-list"),
  ]
)
