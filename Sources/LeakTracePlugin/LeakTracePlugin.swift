// `swift package leaktrace`: checks a package's tests or one of its products for leaks.

import Foundation
import PackagePlugin

/// Builds with the package manager, and runs the built program under `leaktrace check`. Only the program is recorded,
/// not the package manager and its children.
@main struct LeakTracePlugin: CommandPlugin {
  private static let usage = """
    USAGE: swift package leaktrace test [OPTION...] [-- ARGUMENT...]
           swift package leaktrace run PRODUCT [OPTION...] [-- ARGUMENT...]

    Runs the package's tests, or a product, and fails if there are new leaks.
    Accepted findings are in .leaktrace-baseline beside Package.swift, if it is there;
    --update-baseline writes it.

    OPTION: any option of 'leaktrace check'; -c release builds for release (default: debug).
    ARGUMENT: for the program, such as --filter NAME of the tests.
    """

  func performCommand(context: PluginContext, arguments: [String]) async throws {
    var words = arguments
    guard let verb = words.first, verb == "test" || verb == "run" else { return Self.refuse() }
    words.removeFirst()
    var product: String?
    if verb == "run" {
      guard let name = words.first, !name.hasPrefix("-") else { return Self.refuse() }
      product = name
      words.removeFirst()
    }
    let separator = words.firstIndex(of: "--") ?? words.endIndex
    var options = Array(words[..<separator])
    let given = Array(words[separator...].dropFirst())
    let configuration = Self.takeConfiguration(&options)
    guard let leaktrace = Self.command(besides: context.package.directoryURL) else {
      return Diagnostics.error(
        "leaktrace is not installed: it is not in PATH, and LEAKTRACE does not name it. Install a release; the README of leaktrace says how."
      )
    }

    var parameters = PackageManager.BuildParameters(configuration: configuration, logging: .concise)
    parameters.echoLogs = true
    let subset: PackageManager.BuildSubset = product.map { .product($0) } ?? .all(includingTests: true)
    let result = try packageManager.build(subset, parameters: parameters)
    guard result.succeeded else { return Diagnostics.error("the build failed") }

    let executables = result.builtArtifacts.filter { $0.kind == .executable }.map(\.url)
    var check = options + Self.baseline(options, context.package.directoryURL)
    if let product {
      guard let program = executables.first(where: { $0.lastPathComponent == product }) else {
        return Diagnostics.error("\(product) is not an executable product of this package")
      }
      check += ["--", program.path] + given
    } else {
      let bundle = "\(context.package.displayName)PackageTests.xctest"
      guard let program = Self.testBundle(named: bundle, besides: executables) else {
        return Diagnostics.error("the build has no test bundle \(bundle)")
      }
      // In one run, a test bundle runs the tests of only one testing library. Both runs form one check with one
      // baseline.
      let script = """
        "$0" "$@"; first=$?
        "$0" --testing-library swift-testing "$@"; second=$?
        # 69: there are no tests of that library.
        if [ $second -eq 69 ]; then second=0; fi
        if [ $first -ne 0 ]; then exit $first; fi
        exit $second
        """
      check += ["--only", bundle, "--", "/bin/sh", "-c", script, program.path] + given
    }
    try Self.run(leaktrace, ["check"] + check, in: context.package.directoryURL)
  }

  private static func refuse() { Diagnostics.error("wrong usage\n\(usage)") }

  /// Removes `-c` and its value from the options.
  private static func takeConfiguration(_ options: inout [String]) -> PackageManager.BuildConfiguration {
    guard let index = options.firstIndex(where: { $0 == "-c" || $0 == "--configuration" }), index + 1 < options.count
    else { return .debug }
    let isRelease = options[index + 1] == "release"
    options.removeSubrange(index...(index + 1))
    return isRelease ? .release : .debug
  }

  /// Returns the leaktrace command: the one that LEAKTRACE names, one in PATH, or the one in the package's .leaktrace
  /// folder.
  private static func command(besides package: URL) -> URL? {
    let environment = ProcessInfo.processInfo.environment
    let folders = (environment["PATH"] ?? "").split(separator: ":").map { URL(fileURLWithPath: String($0)) }
    let candidates =
      (environment["LEAKTRACE"].map { [URL(fileURLWithPath: $0)] } ?? [])
      + (folders + [package.appendingPathComponent(".leaktrace/bin")]).map { $0.appendingPathComponent("leaktrace") }
    return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) }
  }

  /// Returns the option for the baseline beside Package.swift, if it exists or must be written. Returns no option if
  /// the options name another baseline.
  private static func baseline(_ options: [String], _ package: URL) -> [String] {
    let file = package.appendingPathComponent(".leaktrace-baseline")
    if options.contains(where: { $0 == "--baseline" || $0.hasPrefix("--baseline=") }) { return [] }
    let isThere = FileManager.default.fileExists(atPath: file.path)
    return isThere || options.contains("--update-baseline") ? ["--baseline", file.path] : []
  }

  /// Finds the test bundle, which is in the products' folder. Some versions of the package manager do not list it among
  /// the products.
  private static func testBundle(named name: String, besides executables: [URL]) -> URL? {
    let folders = Set(executables.map { $0.deletingLastPathComponent() })
    return (executables + folders.map { $0.appendingPathComponent(name) }).first {
      $0.lastPathComponent == name && FileManager.default.isExecutableFile(atPath: $0.path)
    }
  }

  /// Runs a command on this terminal. If the command fails, ends the plugin with its status.
  private static func run(_ program: URL, _ arguments: [String], in directory: URL) throws {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = directory
    try process.run()
    process.waitUntilExit()
    let status = process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    if status != 0 { exit(status) }
  }
}
