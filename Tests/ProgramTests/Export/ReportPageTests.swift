// Report pages, opened in a browser.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder), .requires(.program("chromium")), .serialized) struct ReportPageTests {
  /// Returns the page's document after its script has run.
  ///
  /// The browser writes the document at the load event, and the page's script runs before that event. A budget of
  /// virtual time would set a limit instead, which a busy machine can reach before the page is there.
  private func opened(_ file: String, _ fragment: String) throws -> String {
    let profile = try TemporaryDirectory()
    var arguments = [
      "chromium", "--headless=new", "--disable-gpu", "--disable-background-networking", "--no-first-run",
    ]
    // The browser's own sandbox does not run as root.
    if geteuid() == 0 { arguments.append("--no-sandbox") }
    let outcome = try Command(
      arguments + [
        "--user-data-dir=\(profile.path)", "--enable-logging=stderr", "--dump-dom", "file://\(file)#\(fragment)",
      ]
    ).run()
    #expect(outcome.end == .exit(0), "\(outcome.errorOutput.suffix(1000))")
    // The browser logs the page's errors here: errors of its script, and violations of its policy.
    #expect(!outcome.errorOutput.contains("CONSOLE"), "\(outcome.errorOutput.suffix(1000))")
    return outcome.output
  }

  /// Returns the text between the tags of the main element, for comparison.
  private func text(_ dom: String) -> String {
    let start = dom.range(of: "<main")?.lowerBound ?? dom.startIndex
    let end = dom.range(of: "</main>")?.lowerBound ?? dom.endIndex
    var text = ""
    var isTag = false
    for character in dom[start..<end].replacing("<wbr>", with: "") {
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
    return (trace, try page(of: [trace], in: directory))
  }

  private func page(of traces: [String], in directory: TemporaryDirectory) throws -> String {
    let page = "\(directory.path)/page.html"
    let report = try Command([BuildProducts.leaktrace, "report"] + traces + ["-o", page]).run()
    #expect(report.end == .exit(0), "\(report.errorOutput)")
    return page
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

  @Test("Every view shows the figures of the JSON report") func views() throws {
    let directory = try TemporaryDirectory()
    let (trace, page) = try recorded("leaky", in: directory)
    let json = try Command([BuildProducts.leaktrace, "analyze", "--format", "json", trace]).run().output
    let report = try #require(JSONDecoder().decode(Document.self, from: Data(json.utf8)).reports.first)
    #expect(report.findings.count == 4)

    let overviewPage = try opened(page, "overview")
    let overview = text(overviewPage)
    for finding in report.findings {
      #expect(overview.contains("\(finding.title) \(finding.instances) instances"), "\(overview.prefix(2000))")
      #expect(overview.contains("retained \(finding.advice[0])"), "a card shows the fix")
    }
    // The curve's axes have values: live bytes on the left, and resident bytes on the right.
    #expect(overviewPage.contains(#/class="tick">.*?<text[^>]*text-anchor="end"[^>]*>\d+ [KM]iB</#))
    #expect(overviewPage.contains(#/<text[^>]*class="second"[^>]*>[\d.]+ [KM]iB</#))
    let blocks = report.total["liveBlocks"] ?? 0
    #expect(overview.replacing(",", with: "").contains(" in \(blocks) blocks Live at the peak"))
    #expect(overview.contains("Live bytes, at most"))
    #expect(overview.contains("freed, and kept by the allocator"))

    for finding in report.findings {
      let view = text(try opened(page, "findings/\(finding.fingerprint)"))
      #expect(view.contains("Fix \(finding.advice[0])"), "\(view.prefix(2000))")
      #expect(view.contains("leaktrace why "))
      #expect(view.contains("(the reference to let go)"))
      // The page contains the source lines around the place that the advice names.
      #expect(view.contains("Source /") && view.contains("ViewModel.swift:"))
      #expect(view.contains("Open in VS Code Copy"))
    }

    let flame = text(try opened(page, "flame/allocated-blocks")).replacing(",", with: "")
    #expect(flame.contains("allocated blocks: \(report.total["allocatedBlocks"] ?? 0)"), "\(flame.prefix(500))")
    #expect(flame.contains("Navigator.open(_:_:)"))
    #expect(flame.contains("the program’s own code packages and the platform what is allocated"))

    let types = text(try opened(page, "types")).replacing(",", with: "")
    for type in report.types.prefix(5) {
      #expect(types.contains(type.name.replacing(",", with: "")), "\(type.name)")
      #expect(types.contains(" \(type.total["liveBlocks"] ?? 0) "))
    }

    // The image gives its own figures: nothing holds the objects that the leaked screens keep alive.
    let heap = text(try opened(page, "heap/TimelineViewModel")).replacing(",", with: "")
    #expect(heap.contains("held by nothing"), "\(heap.prefix(1000))")
    #expect(heap.contains("Who holds TimelineViewModel"), "\(heap.prefix(1000))")
    let threads = text(try opened(page, "threads"))
    #expect(
      threads.contains("the main thread") && threads.contains("Tasks in the heap image"), "\(threads.prefix(500))")
  }

  @Test("A page about several processes shows each of them", .secondTier) func severalProcesses() throws {
    let directory = try TemporaryDirectory()
    let (leaky, clean) = (try recorded("leaky", in: directory).trace, try recorded("clean", in: directory).trace)
    let page = try page(of: [clean, leaky], in: directory)
    // The process with findings is shown first. A number in the URL's fragment selects another process.
    let first = text(try opened(page, "overview"))
    #expect(first.contains("Proven"), "\(first.prefix(2000))")
    let second = text(try opened(page, "1:overview"))
    #expect(second.contains("Leaks: none found"), "\(second.prefix(2000))")
    let dom = try opened(page, "2:types")
    #expect(dom.contains("aria-label=\"Process\"") && dom.contains("#2:findings"))
  }

  @Test("The page of a comparison shows the changes", .secondTier) func comparison() throws {
    let directory = try TemporaryDirectory()
    let (leaky, clean) = (try recorded("leaky", in: directory).trace, try recorded("clean", in: directory).trace)
    let page = directory.path + "/diff.html"
    let outcome = try Command(
      [BuildProducts.leaktrace, "diff", clean, leaky, "--format", "json", "--write", "html=\(page)"]
    ).run()
    #expect(outcome.end == .exit(1), "\(outcome.errorOutput)")
    struct Document: Decodable {
      struct Finding: Decodable {
        var title: String
        var advice: [String]
      }
      struct Change: Decodable {
        var kind: String
        var new: Finding?
      }
      struct Section: Decodable { var changes: [Change] }
      struct Total: Decodable {
        struct Spread: Decodable { var median: Double }
        var figure: String
        var old: Spread
        var new: Spread
      }
      var findings: Section
      var totals: [Total]
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
    let new = document.findings.changes.filter { $0.kind == "new" }
    #expect(new.count == 4)
    let overview = text(try opened(page, "overview")).replacing(",", with: "")
    for change in new { #expect(overview.contains(change.new?.title.replacing(",", with: "") ?? "?"), "\(overview)") }
    let blocks = try #require(document.totals.first { $0.figure == "allocatedBlocks" })
    #expect(overview.contains("Allocations \(UInt64(blocks.old.median)) \(UInt64(blocks.new.median)) "), "\(overview)")
    #expect(overview.contains("new-leaks"))
    for index in new.indices {
      #expect(text(try opened(page, "findings/\(index)")).contains("Fix \(new[index].new?.advice.first ?? "?")"))
    }
    let flame = text(try opened(page, "flame/allocated-blocks")).replacing(",", with: "")
    #expect(
      flame.contains("allocated, blocks: ".replacing(",", with: "") + "\(UInt64(blocks.old.median)) → "),
      "\(flame.prefix(500))")
    #expect(text(try opened(page, "allocations")).contains("Allocation sites"))
  }

  @Test("The page of a light recording shows its estimates with their errors", .secondTier) func lightRecording()
    throws
  {
    struct Document: Decodable {
      struct Site: Decodable {
        struct Sums: Decodable {
          var blocks: UInt64
          var samples: UInt64
        }
        var live: Sums
      }
      struct Report: Decodable { var estimatedSites: [Site] }
      var reports: [Report]
    }
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/light.trace"
    let recording = try Command([
      BuildProducts.leaktrace, "record", "--quiet", "--light", "--sample-first", "0", "--sample", "16KiB", "-o", trace,
      "--",
      try TestProgram("light-variants.swift").path(),
    ]).run()
    #expect(recording.end == .exit(0), "\(recording.errorOutput)")
    let json = try Command([BuildProducts.leaktrace, "analyze", "--format", "json", trace]).run().output
    let first = try #require(
      JSONDecoder().decode(Document.self, from: Data(json.utf8)).reports.first?.estimatedSites.first)
    let page = try page(of: [trace], in: directory)
    let sites = text(try opened(page, "sites")).replacing(",", with: "")
    #expect(sites.contains("Session.init(_:)") && sites.contains("called by") && sites.contains("openSessions()"))
    #expect(sites.contains(" \(first.live.blocks) \(first.live.samples) samples "), "\(sites.prefix(2000))")
    #expect(sites.contains(" ± "))
    // Sites without live blocks are listed as well.
    #expect(sites.contains("summarize(_:)") && sites.contains("no sample"))
    // A full recording has no such view.
    let full = try self.page(of: [try recorded("clean", in: directory).trace], in: directory)
    #expect(!text(try opened(full, "sites")).contains("Estimated sites"))
  }

  @Test("Other commands write the page as one of their formats", .secondTier) func otherCommands() throws {
    let directory = try TemporaryDirectory()
    let trace = try recorded("leaky", in: directory).trace
    let page = directory.path + "/analyze.html"
    let written = try Command([BuildProducts.leaktrace, "analyze", trace, "--write", "html=\(page)"]).run()
    #expect(written.end == .exit(0) && written.output.contains("RETAIN CYCLE"), "\(written.errorOutput)")
    #expect(text(try opened(page, "overview")).contains("Proven"))
    let printed = try Command([BuildProducts.leaktrace, "analyze", trace, "--format", "html"]).run()
    #expect(printed.end == .exit(0) && printed.output.hasPrefix("<!DOCTYPE html>"))
    let program = TestProgram(
      named: "feed-client", sources: ["feed-client/shared", "feed-client/leaky"], flags: ["-swift-version", "5"])
    let checked = try Command(
      [BuildProducts.leaktrace, "check", "--write", "html=\(page)", "--", try program.path(), "10"]
    ).run()
    #expect(checked.end == .exit(1), "\(checked.errorOutput)")
    #expect(text(try opened(page, "overview")).contains("Proven"))
  }

  @Test("The page of a clean run reports no leaks") func clean() throws {
    let directory = try TemporaryDirectory()
    let page = try recorded("clean", in: directory).page
    let overview = text(try opened(page, "overview"))
    #expect(overview.contains("Leaks: none found"))
    #expect(!overview.contains("Proven") && !overview.contains("Suspected"))
  }

  @Test("A page lists grown collections, and starts with them if it has no finding") func grown() throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/growing.trace"
    let program = try TestProgram("growing.swift", flags: ["-O"]).path()
    // The program ends itself with a signal.
    _ = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", program, "few-children"]).run()
    let overview = text(try opened(try page(of: [trace], in: directory), "overview"))
    #expect(overview.contains("Leaks: none found, but task group in"), "\(overview.prefix(600))")
    #expect(overview.contains("Grew during the run") && overview.contains("finished child task"))
  }

  @Test("Wrong options give an error with advice") func mistakes() throws {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/a.trace"
    #expect(
      try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", "ls", "/"]).run().end == .exit(0))
    for (arguments, status, words) in [
      ([trace, "-o", trace], 64, "would overwrite the trace"),
      ([directory.path, "-o", trace], 64, "is one of the traces"), (["-o", "/dev/null"], 64, "Give a trace"),
      ([trace, "-o", "/dev/full"], 5, "cannot write /dev/full"),
      (["/nonexistent", "-o", "/dev/null"], 3, "No such file or directory"),
    ] as [([String], Int32, String)] {
      let outcome = try Command([BuildProducts.leaktrace, "report"] + arguments).run()
      #expect(
        outcome.end == .exit(status) && outcome.errorOutput.contains(words), "\(arguments) \(outcome.errorOutput)")
    }
  }
}
