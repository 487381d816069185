// `leaktrace report` without -o.

import Foundation
import TestRequirements
import Testing

@Suite(.requires(.recorder)) struct DefaultPageTests {
  private func report(_ arguments: [String], in directory: TemporaryDirectory) throws -> Command.Outcome {
    var command = Command([BuildProducts.leaktrace, "report"] + arguments)
    command.directory = directory.path
    return try command.run()
  }

  private func isPage(_ path: String) throws -> Bool {
    try String(contentsOfFile: path, encoding: .utf8).hasPrefix("<!DOCTYPE html>")
  }

  @Test func pageIsNamedAfterTheTraceAndItsPathIsPrinted() throws {
    let feed = try RecordedFeed.shared()
    let directory = try TemporaryDirectory()
    // An earlier page with the same name is replaced.
    for _ in 1...2 {
      let outcome = try report([feed.trace], in: directory)
      #expect(outcome.end == .exit(0) && outcome.output == "feed.html\n" && outcome.errorOutput == "")
      #expect(try directory.fileNames() == ["feed.html"] && isPage(directory.path + "/feed.html"))
    }
    // A page that another command wrote is replaced, too.
    #expect(
      try Command([
        BuildProducts.leaktrace, "analyze", feed.trace, "--write", "html=\(directory.path)/feed.html",
      ]).run().end == .exit(0))
    #expect(try report([feed.trace], in: directory).output == "feed.html\n")
    // With -o nothing is printed.
    let named = try report([feed.trace, "-o", "named.html"], in: directory)
    #expect(named.end == .exit(0) && named.output == "")
    #expect(try directory.fileNames() == ["feed.html", "named.html"])
  }

  @Test func otherFilesAreNotOverwritten() throws {
    let feed = try RecordedFeed.shared()
    let directory = try TemporaryDirectory()
    let page = "<!DOCTYPE html>\n<html><head><title>feed</title></head></html>\n"
    let own = try directory.write(page, to: "feed.html")
    try FileManager.default.createDirectory(atPath: directory.path + "/feed-2.html", withIntermediateDirectories: false)
    let target = try directory.write("", to: "elsewhere")
    symlink(target, directory.path + "/feed-3.html")
    for _ in 1...2 {
      let outcome = try report([feed.trace], in: directory)
      #expect(outcome.end == .exit(0) && outcome.output == "feed-4.html\n" && outcome.errorOutput == "")
    }
    #expect(try String(contentsOfFile: own, encoding: .utf8) == page)
    #expect(try String(contentsOfFile: target, encoding: .utf8) == "")
    #expect(try directory.fileNames() == ["elsewhere", "feed-2.html", "feed-3.html", "feed-4.html", "feed.html"])
    #expect(try isPage(directory.path + "/feed-4.html"))
  }

  @Test func pageIsNamedAfterADirectoryOrAnyTraceName() throws {
    let feed = try RecordedFeed.shared()
    let directory = try TemporaryDirectory()
    let traces = directory.path + "/runs"
    try FileManager.default.createDirectory(atPath: traces, withIntermediateDirectories: false)
    for (name, page) in [
      ("leaktrace.app.42.trace", "leaktrace.app.42.html"), ("-x.trace", "x.html"), ("a.html", "a.html.html"),
    ] {
      try FileManager.default.copyItem(atPath: feed.trace, toPath: "\(traces)/\(name)")
      #expect(try report(["runs/\(name)"], in: directory).output == page + "\n")
    }
    #expect(try report(["runs/"], in: directory).output == "runs.html\n")
    let failed = try report(["missing.trace"], in: directory)
    #expect(failed.end == .exit(3) && failed.output == "")
    #expect(
      try directory.fileNames() == ["a.html.html", "leaktrace.app.42.html", "runs", "runs.html", "x.html"])
  }

  @Test func unwritableDirectoryIsReported() throws {
    let feed = try RecordedFeed.shared()
    var command = Command([BuildProducts.leaktrace, "report", feed.trace])
    // Not even root can write there.
    command.directory = "/proc"
    let outcome = try command.run()
    #expect(outcome.end == .exit(5) && outcome.output == "" && outcome.errorOutput.contains("cannot write feed.html"))
    // With its extension, the name is too long for a file.
    let directory = try TemporaryDirectory()
    let name = String(repeating: "x", count: 252)
    try FileManager.default.copyItem(atPath: feed.trace, toPath: "\(directory.path)/\(name)")
    let long = try report([name], in: directory)
    #expect(long.end == .exit(5) && long.errorOutput.contains("cannot write \(name).html: File name too long"))
  }
}
