import Foundation
import TestRequirements
import Testing
import TraceTestSupport

@testable import AllocationReports
@testable import LeakDetection
@testable import LeakGates
@testable import PageReports
@testable import TraceExports
@testable import TraceReading

struct ReportPageTests {
  private static let nonce = String(repeating: "0a", count: 16)

  /// Returns a page about a trace with a type of this name.
  fileprivate func page(_ name: String) throws -> String {
    var trace = TraceBuilder()
    trace.definitions = [.process(ProcessRecord(executable: "/bin/\(name)", flags: 1))]
    trace.image("/bin/app", 0x40_0000..<0x50_0000, bias: 0x40_0000)
    var naming = TableNaming()
    naming.add(0x40_0010, name, file: "/src/\(name)", line: 3)
    trace.event(
      .object, 0x10_0000, size: 200, type: trace.type("App.\(name)"), stack: trace.stack([0x40_0010]), time: 100)
    trace.closing = TraceClosing(reason: .exit, waitStatus: 0, time: 200, eventCount: 1)
    let reader = try trace.reader()
    let analysis = AllocationAnalysis(reader)
    let profile = StackProfile(analysis, path: "a", leaked: nil, frameLimit: .max, naming: naming)
    let report = AllocationReport(
      [ReportTrace(path: "a.trace", analysis: analysis)], selection: ReportSelection(), naming: naming)
    var page = ReportPage(toolVersion: "1")
    page.add(
      ProcessPage(
        report: report, leaks: LeakReport(unavailable: "there is no heap image"), profile: profile,
        timeline: RunTimeline(reader, analysis), outline: nil, tasks: nil))
    return page.html(nonce: Self.nonce)
  }

  @Test func traceTextCannotBecomeMarkup() throws {
    let plain = try page("Image")
    let hostile = try page("</script><script>alert(1)</script><!--<img src=x>&amp;\u{2028}\u{202E}{{title}}{{{data}}}")
    for mark in ["<script", "</script", "<!--", "<img"] {
      #expect(hostile.components(separatedBy: mark).count == plain.components(separatedBy: mark).count, "\(mark)")
    }
    // Characters that reverse the direction of text are escaped, as in a terminal.
    #expect(!hostile.contains("\u{2028}") && !hostile.contains("\u{202E}"))
    #expect(hostile.contains(#"\\u{2028}\\u{202e}"#))
  }

  @Test func pageDataMatchTheInput() throws {
    let name = "A<b>\"&'\\ é"
    let html = try page(name)
    let start = try #require(html.range(of: "id=\"data\">"))
    let end = try #require(html.range(of: "</script>", range: start.upperBound..<html.endIndex))
    struct Contents: Decodable {
      struct Document: Decodable {
        struct Report: Decodable {
          struct Named: Decodable { var name: String }
          var types: [Named]
        }
        var reports: [Report]
      }
      struct Process: Decodable { var document: Document }
      var processes: [Process]
    }
    let contents = try JSONDecoder().decode(
      Contents.self, from: Data(html[start.upperBound..<end.lowerBound].utf8))
    #expect(contents.processes[0].document.reports[0].types.map(\.name) == ["App.\(name)"])
  }

  @Test func pageLoadsNothingAndRunsOnlyItsOwnScript() throws {
    let html = try page("Image")
    #expect(
      html.contains(
        "default-src 'none'; script-src 'nonce-\(Self.nonce)'; style-src 'nonce-\(Self.nonce)'; base-uri 'none'"))
    for reference in ["http://", "https://", "src=", "@import", "url("] {
      let own = html.replacing("http://www.w3.org/2000/svg", with: "")
      #expect(!own.contains(reference), "\(reference)")
    }
    #expect(!html.contains("innerHTML") && !html.contains("eval("))
  }

  @Test func eachPageHasItsOwnNonce() {
    let nonces = Set((0..<100).map { _ in ReportPage.nonce() })
    #expect(nonces.count == 100 && nonces.allSatisfy { $0.count == 32 })
  }
}

/// Opens the same page in a browser, which runs every script that the page permits.
@Suite(.requires(.program("chromium"))) struct HostilePageTests {
  @Test func scriptsInATraceDoNotRun() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let name =
      "</script><script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
      + "\u{1B}[31m\u{202E}" + String(repeating: "Long", count: 2_500)
    try Data(ReportPageTests().page(name).utf8).write(to: folder.appendingPathComponent("a.html"))
    for view in ["overview", "findings", "flame", "types", "heap", "threads"] {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments =
        ["chromium", "--headless=new", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        + (geteuid() == 0 ? ["--no-sandbox"] : []) + [
          "--user-data-dir=\(folder.path)/profile", "--enable-logging=stderr", "--dump-dom",
          "file://\(folder.path)/a.html#\(view)",
        ]
      let (output, errors) = (Pipe(), folder.appendingPathComponent("errors"))
      _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
      process.standardOutput = output
      process.standardError = try FileHandle(forWritingTo: errors)
      try process.run()
      let dom = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      let complaints = try String(contentsOf: errors, encoding: .utf8)
      #expect(!complaints.contains("CONSOLE"), "\(view): \(complaints.suffix(1000))")
      // The page's own script has run to its end, and no text of the trace has become an element.
      #expect(dom.contains("aria-current=\"page\"") && dom.contains("<footer id=\"footer\">leaktrace 1: a.trace"))
      #expect(!dom.contains("<title>run") && !dom.contains("<img"), "\(view)")
    }
  }
}
