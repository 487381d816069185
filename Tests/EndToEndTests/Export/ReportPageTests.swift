// Pages in a browser.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder), .requires(.program("chromium")), .serialized) struct ReportPageTests {
  /// A page as the browser has it once its script has run.
  private func opened(_ file: String, _ fragment: String) throws -> String {
    let profile = try TemporaryDirectory()
    var arguments = [
      "chromium", "--headless=new", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    ]
    // The browser's own sandbox does not run as root.
    if geteuid() == 0 { arguments.append("--no-sandbox") }
    let outcome = try Command(
      arguments + [
        "--user-data-dir=\(profile.path)", "--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom",
        "file://\(file)#\(fragment)",
      ]
    ).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput.suffix(1000))")
    // Whatever the page complains of: errors of its script, and what its policy forbids.
    #expect(!outcome.errorOutput.contains("CONSOLE"), "\(outcome.errorOutput.suffix(1000))")
    return outcome.output
  }

  /// The text between an element's tags, for comparison.
  private func text(_ dom: String) -> String {
    let start = dom.range(of: "<main")?.lowerBound ?? dom.startIndex
    let end = dom.range(of: "</main>")?.lowerBound ?? dom.endIndex
    var text = ""
    var isTag = false
    for character in dom[start..<end] {
      if character == "<" { isTag = true }
      if !isTag { text.append(character) }
      if character == ">" {
        isTag = false
        text.append(" ")
      }
    }
    return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
      .split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private func recorded(_ variant: String, in directory: TemporaryDirectory) throws -> (trace: String, page: String) {
    let trace = "\(directory.path)/\(variant).trace"
    let program = TestProgram(
      named: "feed-client", sources: ["feed-client/shared", "feed-client/\(variant)"], flags: ["-swift-version", "5"])
    let recording = try Command(
      [BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", try program.path(), "10"]
    ).run()
    #expect(recording.end == .exit(0))
    let page = "\(directory.path)/\(variant).html"
    let report = try Command([BuildProducts.leaktrace, "report", trace, "-o", page]).run()
    #expect(report.end == .exit(0), "\(report.errorOutput)")
    return (trace, page)
  }

  private struct Document: Decodable {
    struct Finding: Decodable {
      var fingerprint: String
      var title: String
      var instances: UInt64
      var advice: [String]
    }
    struct Named: Decodable {
      var name: String
      var total: [String: UInt64]
    }
    struct Report: Decodable {
      var findings: [Finding]
      var types: [Named]
      var total: [String: UInt64]
    }
    var reports: [Report]
  }

  @Test("Every view shows what the JSON report says") func views() throws {
    let directory = try TemporaryDirectory()
    let (trace, page) = try recorded("leaky", in: directory)
    let json = try Command([BuildProducts.leaktrace, "analyze", "--format", "json", trace]).run().output
    let report = try #require(JSONDecoder().decode(Document.self, from: Data(json.utf8)).reports.first)
    #expect(report.findings.count == 4)

    let overview = text(try opened(page, "overview"))
    for finding in report.findings {
      #expect(overview.contains("\(finding.title) \(finding.instances) instances"), "\(overview.prefix(2000))")
    }
    let blocks = report.total["liveBlocks"] ?? 0
    #expect(overview.replacing(",", with: "").contains(" in \(blocks) blocks Live at the peak"))
    #expect(overview.contains("Live bytes, at most"))

    for finding in report.findings {
      let view = text(try opened(page, "findings/\(finding.fingerprint)"))
      #expect(view.contains("Fix \(finding.advice[0])"), "\(view.prefix(2000))")
      #expect(view.contains("leaktrace why "))
      #expect(view.contains("(the reference to let go)"))
      // The sources are there: the lines about the place that the advice names.
      #expect(view.contains("Source /") && view.contains("ViewModel.swift:"))
    }

    let flame = text(try opened(page, "flame/allocated-blocks")).replacing(",", with: "")
    #expect(flame.contains("allocated blocks: \(report.total["allocatedBlocks"] ?? 0)"), "\(flame.prefix(500))")
    #expect(flame.contains("Navigator.open(_:_:)"))

    let types = text(try opened(page, "types")).replacing(",", with: "")
    for type in report.types.prefix(5) {
      #expect(types.contains(type.name.replacing(",", with: "")), "\(type.name)")
      #expect(types.contains(" \(type.total["liveBlocks"] ?? 0) "))
    }
  }

  @Test("A clean run has a page that says so") func clean() throws {
    let directory = try TemporaryDirectory()
    let page = try recorded("clean", in: directory).page
    let overview = text(try opened(page, "overview"))
    #expect(overview.contains("No leaks were found."))
    #expect(!overview.contains("Proven") && !overview.contains("Suspected"))
  }

  @Test("Mistakes get an error that says what to do") func mistakes() throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/a.trace"
    #expect(
      try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", "ls", "/"]).run().end == .exit(0))
    for (arguments, status, words) in [
      ([trace, "-o", trace], 64, "would overwrite the trace"), ([trace], 64, "--output"),
      ([trace, "-o", "/dev/full"], 5, "cannot write /dev/full"),
      (["/nonexistent", "-o", "/dev/null"], 3, "No such file or directory"),
    ] as [([String], Int32, String)] {
      let outcome = try Command([BuildProducts.leaktrace, "report"] + arguments).run()
      #expect(
        outcome.end == .exit(status) && outcome.errorOutput.contains(words), "\(arguments) \(outcome.errorOutput)")
    }
  }
}
