// Recordings of the toolchain's own programs, which are large, concurrent, and start many children.

import Foundation
import TestRequirements
import Testing
import TraceReading
import TraceRecording

@Suite(.requires(.recorder), .serialized) struct ToolchainTests {
  private static func program(_ name: String) -> String { "\(BuildProducts.toolchain)/\(name)" }
  private static let source = BuildProducts.packageRoot + "/Tests/Programs/plain.swift"

  private func expectSwiftEvents(_ trace: RecordedTrace, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let contents = try TraceContents(trace.path)
    #expect(contents.orphans == 0, sourceLocation: sourceLocation)
    #expect(contents.eventCount == trace.eventCount, sourceLocation: sourceLocation)
    #expect(contents.count("swift_allocObject") > 1000, sourceLocation: sourceLocation)
    #expect(contents.count("swift_retain") > 1000, sourceLocation: sourceLocation)
    #expect(contents.count("swift_release") > 1000, sourceLocation: sourceLocation)
  }

  @Test("swift-format formats", arguments: [["format"], ["lint"], ["dump-configuration"], ["--version"]])
  func swiftFormat(arguments: [String]) throws {
    let file = arguments[0] == "format" || arguments[0] == "lint" ? [Self.source] : []
    let run = try TracedRun([Self.program("swift-format")] + arguments + file)
    run.expectSameBehaviour()
    let trace = try run.onlyTrace()
    #expect(trace.state == .closed(.exit))
    if !file.isEmpty { try expectSwiftEvents(trace) }
  }

  @Test("docc converts a catalogue") func docc() throws {
    let directory = try TemporaryDirectory()
    _ = try directory.write(
      "# ``Toolbox``\n\nA summary.\n\n## Overview\n\nSee <doc:First>.\n", to: "Toolbox.docc/Toolbox.md")
    _ = try directory.write("# First\n\nAn article.\n\n- term A: text\n- term B: text\n", to: "Toolbox.docc/First.md")
    func arguments(_ output: String) -> [String] {
      [
        Self.program("docc"), "convert", directory.path + "/Toolbox.docc", "--fallback-display-name", "Toolbox",
        "--fallback-bundle-identifier", "org.example.toolbox", "--output-path", output,
      ]
    }
    let output = directory.path + "/out"
    let run = try TracedRun(arguments(output)) { $0.environment["DOCC_HTML_DIR"] = nil }
    run.expectSameBehaviour()
    let trace = try #require(run.traces.max { $0.eventCount < $1.eventCount })
    #expect(trace.state == .closed(.exit))
    try expectSwiftEvents(trace)
  }

  /// Creates a package of one library and one executable.
  private func package(in directory: TemporaryDirectory) throws {
    _ = try directory.write(
      """
      // swift-tools-version: 5.9
      import PackageDescription
      let package = Package(
        name: "Tiny",
        targets: [.target(name: "Core"), .executableTarget(name: "tiny", dependencies: ["Core"])])

      """, to: "Package.swift")
    _ = try directory.write("public func answer() -> Int { 42 }\n", to: "Sources/Core/Core.swift")
    _ = try directory.write("import Core\nprint(answer())\n", to: "Sources/tiny/main.swift")
  }

  @Test("swift-package describes a package") func swiftPackage() throws {
    let directory = try TemporaryDirectory()
    try package(in: directory)
    let run = try TracedRun([
      Self.program("swift-package"), "--package-path", directory.path, "--scratch-path", directory.path + "/scratch",
      "--cache-path", directory.path + "/cache", "--manifest-cache", "none", "describe", "--type", "json",
    ])
    run.expectSameBehaviour()
    let trace = try run.onlyTrace()
    #expect(trace.state == .closed(.exit))
    #expect(trace.untracedChildren >= 1)
    try expectSwiftEvents(trace)
  }

  @Test("sourcekit-lsp starts, answers and shuts down") func languageServer() throws {
    func message(_ body: String) -> [UInt8] { Array("Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8) }
    let conversation =
      message(
        #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"processId":null,"rootUri":null,"capabilities":{}}}"#)
      + message(#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#)
      + message(#"{"jsonrpc":"2.0","id":2,"method":"shutdown","params":null}"#)
      + message(#"{"jsonrpc":"2.0","method":"exit","params":null}"#)
    let converse = try TestProgram("converse.c").path()
    func command(_ prefix: [String]) -> Command {
      var command = Command([converse] + prefix + [Self.program("sourcekit-lsp")])
      command.input = conversation
      return command
    }
    let directory = try TemporaryDirectory()
    let untraced = try command([]).run()
    var traced = try command(TracedRun.recordArguments(directory)).run()
    #expect(TracedRun.separateRecorderLines(&traced) == [])
    #expect(untraced.output == "answer to 1: a result\nanswer to 2: a result\nended with status 0\n")
    #expect(traced.end == untraced.end)
    #expect(traced.output == untraced.output)
    // A task writes the program's log, and the process may end before it does, traced or not. The lines contain the
    // time.
    #expect(
      traced.errorOutput.isEmpty || untraced.errorOutput.isEmpty
        || withoutDigits(traced.errorOutput) == withoutDigits(untraced.errorOutput))
    let trace = try #require(try TracedRun.traces(in: directory).first)
    #expect(trace.state != .open)
    try expectSwiftEvents(trace)
  }

  @Test("swift build builds a package with all its children traced", .secondTier) func swiftBuild() throws {
    let directory = try TemporaryDirectory()
    try package(in: directory)
    func arguments() -> [String] {
      [
        Self.program("swift"), "build", "--package-path", directory.path, "--scratch-path", directory.path + "/scratch",
        "--cache-path", directory.path + "/cache", "--manifest-cache", "none", "--jobs", "2",
      ]
    }
    let untraced = try Command(arguments()).run()
    #expect(untraced.end == .exit(0))
    try FileManager.default.removeItem(atPath: directory.path + "/scratch")

    let traces = try TemporaryDirectory()
    let command = Command(
      TracedRun.recordArguments(traces, options: ["--follow-children", "--arc", "off"]) + arguments())
    var traced = try command.run()
    let recorderLines = TracedRun.separateRecorderLines(&traced)
    #expect(traced.end == .exit(0), "\(traced.errorOutput)")
    #expect(traced.output.contains("Build complete!") == untraced.output.contains("Build complete!"))
    #expect(recorderLines == [])
    #expect(try Command([directory.path + "/scratch/debug/tiny"]).run().output == "42\n")

    let recorded = try TracedRun.traces(in: traces)
    let names = Set(recorded.map { $0.path.split(separator: "/").last!.split(separator: ".")[0] })
    // The traces have the names of the files that ran, not of links to those files.
    #expect(names.isSuperset(of: ["swift-package", "swift-frontend"]), "\(names)")
    for trace in recorded { #expect(trace.state != .open, "\(trace.path)") }
    let live = try traces.fileNames().filter { $0.hasSuffix(".live") }
    #expect(live == [])
  }
}

private func withoutDigits(_ text: String) -> String { text.filter { !$0.isNumber } }
