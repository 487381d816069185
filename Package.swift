// swift-tools-version: 6.1

import PackageDescription

// Dependencies of several layers of the analysis.
let reading: [Target.Dependency] = ["TextWriting", "TraceReading"]
let symbolication = reading + ["TraceSymbolication"]
let detection = symbolication + ["HeapAnalysis", "LeakDetection"]
/// All modules below TraceAnalysis.
let analysis =
  detection + [
    "Wording", "AllocationReports", "LeakGates", "RunDiff", "TraceRecording", "TraceReports", "TraceExports",
    "TraceDatabase", "PageReports", "ProcessInspection", "ProcessAttachment", "FeatureChecks", "AgentProtocol",
  ]
let testSupport: [Target.Dependency] = ["TraceTestSupport", "TestRequirements"]

let package = Package(
  name: "leaktrace",
  // The platforms of programs that link LeakTrace. Everything else runs only on Linux.
  platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9)],
  products: [
    .executable(name: "leaktrace", targets: ["leaktrace"]),
    .library(name: "TraceAnalysis", targets: ["TraceAnalysis"]),
    .library(name: "LeakTrace", targets: ["LeakTrace"]),
    .library(name: "LeakTraceTesting", targets: ["LeakTraceTesting"]),
    .plugin(name: "LeakTracePlugin", targets: ["LeakTracePlugin"]),
  ],
  traits: [
    .default(enabledTraits: ["Command"]),
    .trait(
      name: "Command",
      description: "The command, which parses arguments. Packages that link LeakTrace or use its plugin need no trait."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2")
  ],
  targets: [
    // The trace format, for the recorder and for readers.
    .target(name: "CTraceFormat", exclude: ["README.md"]),
    // A child process for code that does not validate its input.
    .target(name: "CSandboxedChild", exclude: ["README.md"]),
    // Unwinds stacks of other processes with libunwind.
    .target(
      name: "CUnwinder", dependencies: ["CSandboxedChild"], exclude: ["README.md"],
      linkerSettings: [.linkedLibrary("unwind-generic", .when(platforms: [.linux]))]),
    // System calls that act on other processes. The recorder uses its list of calls to repeat.
    .target(
      name: "CProcessCalls", dependencies: ["CUnwinder"], exclude: ["README.md"],
      cSettings: [.headerSearchPath(".")]),
    // Reads Swift's metadata and the words of a heap image in any process's memory. The analysis uses only the layouts.
    .target(
      name: "CHeapScan", dependencies: ["CTraceFormat"], exclude: ["README.md", "allocator_metadata/README.md"],
      publicHeadersPath: "."),
    // The preloaded library. This target is for editing and unit tests; scripts/build links the shared object itself.
    .target(
      name: "CTraceShim", dependencies: ["CTraceFormat", "CProcessCalls", "CHeapScan"],
      exclude: [
        "README.md", "arch/README.md", "hooks/README.md", "image/README.md", "os/README.md", "process/README.md",
        "record/README.md", "unwind/README.md", "exports.map",
      ],
      publicHeadersPath: ".", cSettings: [.define("LT_UNIT_TESTS"), .define("LT_CHECKS")],
      linkerSettings: [.linkedLibrary("zstd"), .linkedLibrary("z")]),

    .systemLibrary(name: "CElfutils", providers: [.apt(["libdw-dev"])]),
    .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    // Only a header, without code to link.
    .systemLibrary(name: "CPrefetch"),
    // Mapped files that keep track of the parts that were read.
    .target(name: "CTrackedFiles", exclude: ["README.md"]),
    // Code that does not validate its input, and therefore runs in a child process.
    .target(
      name: "CDemangle", dependencies: ["CSandboxedChild"], exclude: ["README.md"],
      linkerSettings: [.linkedLibrary("stdc++")]),
    .target(
      name: "CRemoteMirror", dependencies: ["CSandboxedChild"], exclude: ["README.md"],
      linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),

    // Text, JSON, Markdown and tables, without knowledge of traces.
    .target(name: "TextWriting", path: "Sources/TraceAnalysis/TextWriting", exclude: ["README.md"]),
    // The protocol of tools for agents, without knowledge of traces.
    .target(
      name: "AgentProtocol", dependencies: ["TextWriting"], path: "Sources/TraceAnalysis/AgentProtocol",
      exclude: ["README.md"]),
    // The layers of the analysis, from the bottom. Each layer sees the `package` declarations of the layers below it.
    // One module has all code that runs for every event, so that the compiler specialises its generic code.
    .target(
      name: "TraceReading", dependencies: ["TextWriting", "CTraceFormat", "CZstd", "CPrefetch"],
      path: "Sources/TraceAnalysis/TraceReading",
      exclude: ["README.md", "Aggregates/README.md", "Format/README.md", "Replay/README.md"]),
    // Facts about platforms and libraries, as data that is embedded in the program.
    .target(
      name: "PlatformRules", path: "Sources/TraceAnalysis/PlatformRules", exclude: ["README.md"],
      resources: [.embedInCode("Rules")]),
    .target(
      name: "TraceSymbolication",
      dependencies: reading + [
        "PlatformRules", "CElfutils", "CSandboxedChild", "CDemangle", "CTrackedFiles", "CUnwinder",
      ],
      path: "Sources/TraceAnalysis/TraceSymbolication", exclude: ["README.md"]),
    // Other processes and core files: memory, threads and allocator blocks, and a writer that makes a trace of them.
    .target(
      name: "ProcessInspection",
      dependencies: symbolication + [
        "CTraceFormat", "CHeapScan", "CElfutils", "CProcessCalls", "CZstd",
      ],
      path: "Sources/TraceAnalysis/ProcessInspection", exclude: ["README.md"]),
    .target(
      name: "HeapAnalysis",
      dependencies: symbolication + [
        "PlatformRules", "CTraceFormat", "CHeapScan", "CElfutils", "CSandboxedChild", "CRemoteMirror",
      ],
      path: "Sources/TraceAnalysis/HeapAnalysis",
      exclude: [
        "README.md", "HeapGraph/README.md", "HeapImage/README.md", "ObjectGraph/README.md", "SwiftReflection/README.md",
      ]),
    .target(
      name: "LeakDetection",
      dependencies: symbolication + ["PlatformRules", "HeapAnalysis"],
      path: "Sources/TraceAnalysis/LeakDetection",
      exclude: [
        "README.md", "History/README.md", "Leaks/README.md", "Outline/README.md", "Tasks/README.md",
        "Leaks/Advice/README.md", "Leaks/Growth/README.md", "Leaks/Survivors/README.md",
      ]),
    // The texts of findings, for all output formats.
    .target(
      name: "Wording", dependencies: detection,
      path: "Sources/TraceAnalysis/Wording", exclude: ["README.md"]),
    .target(
      name: "AllocationReports",
      dependencies: symbolication + ["PlatformRules"],
      path: "Sources/TraceAnalysis/AllocationReports", exclude: ["README.md"]),
    .target(
      name: "LeakGates",
      dependencies: symbolication + ["LeakDetection", "Wording"],
      path: "Sources/TraceAnalysis/LeakGates", exclude: ["README.md"]),
    .target(
      name: "RunDiff",
      dependencies: detection + ["PlatformRules", "Wording", "AllocationReports", "LeakGates"],
      path: "Sources/TraceAnalysis/RunDiff", exclude: ["README.md"]),
    .target(
      name: "TraceRecording",
      dependencies: reading + ["CTraceFormat", "CProcessCalls", "CZstd"],
      path: "Sources/TraceAnalysis/TraceRecording", exclude: ["README.md"]),
    // Recordings of running processes.
    .target(
      name: "ProcessAttachment",
      dependencies: reading + ["TraceRecording", "ProcessInspection", "CTraceFormat", "CProcessCalls"],
      path: "Sources/TraceAnalysis/ProcessAttachment", exclude: ["README.md"]),
    // Finds out which features work on this machine or for a process: facts, judgements of facts, texts, and attempts.
    .target(
      name: "FeatureChecks",
      dependencies: symbolication + [
        "HeapAnalysis", "ProcessInspection", "TraceRecording", "ProcessAttachment", "CRemoteMirror",
      ],
      path: "Sources/TraceAnalysis/FeatureChecks", exclude: ["README.md"]),
    .target(
      name: "TraceReports",
      dependencies: detection + ["Wording", "AllocationReports", "LeakGates", "RunDiff"],
      path: "Sources/TraceAnalysis/TraceReports", exclude: ["README.md"]),
    // Files for other tools.
    .target(
      name: "TraceExports",
      dependencies: detection + ["Wording", "RunDiff", "CZlib"],
      path: "Sources/TraceAnalysis/TraceExports", exclude: ["README.md"]),
    // Writes a trace as a database.
    .target(
      name: "TraceDatabase",
      dependencies: detection + ["Wording", "LeakGates", "TraceExports", "CSQLite"],
      path: "Sources/TraceAnalysis/TraceDatabase", exclude: ["README.md"]),
    // The HTML page of a report.
    .target(
      name: "PageReports",
      dependencies: detection + [
        "AllocationReports", "LeakGates", "RunDiff", "TraceReports", "TraceExports", "Wording",
      ],
      path: "Sources/TraceAnalysis/PageReports", exclude: ["README.md"], resources: [.embedInCode("Resources")]),
    // The public module. It re-exports the others.
    .target(
      name: "TraceAnalysis",
      dependencies: analysis,
      path: "Sources/TraceAnalysis/TraceAnalysis", exclude: ["README.md"]),
    // Lists every module as a direct dependency. A change in a lower module does not change TraceAnalysis itself. The
    // executable would not be rebuilt then, and would use the old layout of values.
    .executableTarget(
      name: "leaktrace",
      dependencies: analysis + [
        "TraceAnalysis",
        .product(
          name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Command"])),
      ], exclude: ["README.md"]),

    // Libraries that programs link to state expectations, and that tests link to fail on leaks. They refer to the
    // recorder only by the names of its functions.
    .target(name: "CLeakTrace", exclude: ["README.md"]),
    .target(name: "LeakTrace", dependencies: ["CLeakTrace"], exclude: ["README.md"]),
    .target(name: "LeakTraceTesting", dependencies: ["CLeakTrace", "LeakTrace"], exclude: ["README.md"]),

    // `swift package leaktrace test` and `swift package leaktrace run PRODUCT`, for other packages.
    .plugin(
      name: "LeakTracePlugin",
      capability: .command(
        intent: .custom(verb: "leaktrace", description: "Check tests or a product for leaks with leaktrace.")),
      path: "Sources/LeakTracePlugin", exclude: ["README.md"]),

    // Conditions for tests that need more than a toolchain.
    .target(name: "TestRequirements", path: "Tests/TestRequirements"),

    // Programs for scripts/bench that measure parts of the analysis, which other packages cannot use.
    .target(name: "PhaseMeter", path: "Benchmarks/measured/PhaseMeter"),
    .executableTarget(
      name: "graph-algorithms", dependencies: ["PhaseMeter", "HeapAnalysis"],
      path: "Benchmarks/measured/graph-algorithms"),
    .executableTarget(
      name: "analysis-phases", dependencies: ["PhaseMeter", "TraceAnalysis"],
      path: "Benchmarks/measured/analysis-phases"),
    .executableTarget(
      name: "image-list", dependencies: reading, path: "Benchmarks/measured/image-list"),

    // The tool of scripts/rules, which changes constants of suspicions.
    .executableTarget(
      name: "rule-sensitivity",
      dependencies: detection + ["TraceReports", "TraceAnalysis"],
      path: "Tests/RuleSensitivity"),

    // Builds traces for tests.
    .target(
      name: "TraceTestSupport",
      dependencies: detection + [
        "AllocationReports", "LeakGates", "RunDiff", "TraceReports", "TraceExports", "TraceDatabase", "PageReports",
        "CTraceFormat",
      ],
      path: "Tests/TraceTestSupport"),
    .testTarget(
      name: "FormatTests",
      dependencies: detection + ["RunDiff", "TraceReports", "CTraceFormat"] + testSupport,
      exclude: ["FuzzCorpus"]),
    .testTarget(
      name: "ReplayTests",
      dependencies: symbolication + ["LeakDetection"] + testSupport),
    .testTarget(name: "HeapGraphTests", dependencies: ["HeapAnalysis", "TraceTestSupport", "TestRequirements"]),
    .testTarget(
      name: "HeapImageTests",
      dependencies: detection + ["CTraceFormat"] + testSupport),
    .testTarget(
      name: "ObjectGraphTests",
      dependencies: detection + ["TraceTestSupport"]),
    .testTarget(
      name: "LeaksTests",
      dependencies: detection + ["CTraceFormat", "PlatformRules", "Wording", "LeakGates", "TraceReports"] + testSupport),
    .testTarget(
      name: "DiffTests",
      dependencies: symbolication + ["LeakDetection", "AllocationReports", "LeakGates", "RunDiff"] + testSupport),
    .testTarget(name: "GatesTests", dependencies: reading + ["LeakDetection", "LeakGates", "RunDiff"]),
    .testTarget(
      name: "SymbolicationTests",
      dependencies: symbolication + ["HeapAnalysis", "CSandboxedChild"]),
    .testTarget(name: "AgentProtocolTests", dependencies: ["TextWriting", "AgentProtocol"] + testSupport),
    .testTarget(name: "PlatformRulesTests", dependencies: ["PlatformRules"]),
    .testTarget(
      name: "SwiftReflectionTests",
      dependencies: symbolication + ["HeapAnalysis", "TestRequirements"]),
    .testTarget(
      name: "ReportsTests",
      dependencies: detection + [
        "Wording", "AllocationReports", "LeakGates", "RunDiff", "TraceRecording", "TraceReports",
      ] + testSupport,
      exclude: ["Golden"]),
    .testTarget(
      name: "ExportTests",
      dependencies: detection + [
        "AllocationReports", "LeakGates", "RunDiff", "TraceExports", "TraceTestSupport", "CZlib",
      ]),
    .testTarget(
      name: "DatabaseTests",
      dependencies: symbolication + ["LeakDetection", "LeakGates", "TraceExports", "TraceDatabase", "TraceTestSupport"]),
    .testTarget(
      name: "PageReportsTests",
      dependencies: detection + [
        "AllocationReports", "LeakGates", "RunDiff", "TraceReports", "TraceExports", "PageReports",
      ] + testSupport),
    // Uses the API like a program in another package.
    .testTarget(
      name: "PublicAPITests",
      // Lists lower modules, so that the tests are rebuilt if the layout of a value changes.
      dependencies: reading + ["CLeakTrace", "LeakTrace", "TraceAnalysis", "TraceTestSupport", "LeakDetection"],
      packageAccess: false),
    .testTarget(
      name: "ProcessInspectionTests",
      dependencies: symbolication + ["ProcessInspection", "CZstd"] + testSupport),
    .testTarget(
      name: "FeatureChecksTests",
      dependencies: symbolication + ["TraceRecording", "ProcessInspection", "ProcessAttachment", "FeatureChecks"]),
    .testTarget(name: "ShimTests", dependencies: ["CTraceShim", "CHeapScan", "CZstd", "TestRequirements"]),
    // The largest module. SwiftPM (Swift 6.3.1) starts with modules that are late in the alphabet, so this one is not
    // the last to be built.
    .testTarget(
      name: "ProgramTests",
      dependencies: detection + [
        "TraceAnalysis", "AllocationReports", "LeakGates", "TraceReports", "TraceRecording", "CTraceFormat", "CZstd",
        "ProcessInspection", "ProcessAttachment",
      ] + testSupport),
  ]
)

// A quick build is a release build that optimises only the busiest modules, which handle every event and every block.
// -Osize compiles faster than -O. A debug build would be slow, since ArgumentParser then validates all declarations at
// each start. Only `scripts/build quick` may set the variable: a package with unsafe flags cannot be a dependency.
if Context.environment["LEAKTRACE_QUICK_BUILD"] != nil {
  // A quick build leaves out the programs of scripts/bench and scripts/rules.
  let measured: Set = ["PhaseMeter", "graph-algorithms", "analysis-phases", "image-list", "rule-sensitivity"]
  package.targets.removeAll { measured.contains($0.name) }
  let busy: Set = ["TextWriting", "TraceReading", "TraceSymbolication", "HeapAnalysis"]
  for target in package.targets where target.type != .system && target.type != .plugin {
    let flags = ["-enable-testing"] + [busy.contains(target.name) ? "-Osize" : "-Onone"]
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(flags)]
  }
}
