// swift-tools-version: 6.1

import PackageDescription

let package = Package(
  name: "leaktrace",
  // For programs that link LeakTrace; the rest is for Linux alone.
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  products: [
    .executable(name: "leaktrace", targets: ["leaktrace"]),
    .library(name: "TraceAnalysis", targets: ["TraceAnalysis"]),
    .library(name: "LeakTrace", targets: ["LeakTrace"]),
    .library(name: "LeakTraceTesting", targets: ["LeakTraceTesting"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    // The trace format, for both sides.
    .target(name: "CTraceFormat"),
    // Calls on other processes. The recorder has the list of calls to repeat from it.
    .target(name: "CProcessCalls"),
    // The preloaded library. This target is for editing and unit tests; scripts/build links the shared object itself.
    .target(
      name: "CTraceShim", dependencies: ["CTraceFormat", "CProcessCalls"], exclude: ["exports.map"], cSettings: [.define("LT_UNIT_TESTS")],
      linkerSettings: [.linkedLibrary("zstd")]),

    .systemLibrary(name: "CElfutils", providers: [.apt(["libdw-dev"])]),
    .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),
    .target(name: "CDemangle", linkerSettings: [.linkedLibrary("stdc++")]),

    .target(name: "CRemoteMirror", linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),

    .target(name: "TraceAnalysis", dependencies: ["CTraceFormat", "CProcessCalls", "CElfutils", "CZstd", "CDemangle", "CRemoteMirror"]),
    .executableTarget(
      name: "leaktrace",
      dependencies: ["TraceAnalysis", .product(name: "ArgumentParser", package: "swift-argument-parser")]),

    // What programs link to say what they expect, and their tests to fail by it. They know the recorder by the names of its functions alone.
    .target(name: "CLeakTrace"),
    .target(name: "LeakTrace", dependencies: ["CLeakTrace"]),
    .target(name: "LeakTraceTesting", dependencies: ["CLeakTrace", "LeakTrace"]),

    // Builds traces for tests.
    .target(name: "TraceTestSupport", dependencies: ["TraceAnalysis"], path: "Tests/TraceTestSupport"),
    .testTarget(
      name: "FormatTests", dependencies: ["TraceAnalysis", "TraceTestSupport", "CTraceFormat"], exclude: ["FuzzCorpus"]),
    .testTarget(name: "ReplayTests", dependencies: ["TraceAnalysis", "TraceTestSupport"]),
    .testTarget(name: "HeapGraphTests", dependencies: ["TraceAnalysis", "TraceTestSupport"]),
    .testTarget(name: "HeapImageTests", dependencies: ["TraceAnalysis", "TraceTestSupport", "CTraceFormat"]),
    .testTarget(name: "ObjectGraphTests", dependencies: ["TraceAnalysis", "TraceTestSupport"]),
    .testTarget(name: "LeaksTests", dependencies: ["TraceAnalysis", "TraceTestSupport"]),
    .testTarget(name: "DiffTests", dependencies: ["TraceAnalysis", "TraceTestSupport"]),
    .testTarget(name: "GatesTests", dependencies: ["TraceAnalysis"]),
    .testTarget(name: "SymbolicationTests", dependencies: ["TraceAnalysis"]),
    .testTarget(name: "SwiftReflectionTests", dependencies: ["TraceAnalysis", "CRemoteMirror"]),
    .testTarget(name: "ReportsTests", dependencies: ["TraceAnalysis", "TraceTestSupport"]),
    .testTarget(name: "ShimTests", dependencies: ["CTraceShim", "CZstd"]),
    .testTarget(name: "EndToEndTests", dependencies: ["TraceAnalysis", "CTraceFormat"]),
  ]
)
