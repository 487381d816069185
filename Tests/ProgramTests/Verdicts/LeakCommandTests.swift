// The commands that report leaks, run as users type them.

import Foundation
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder), .serialized) struct LeakCommandTests {
  /// Records a program of the corpus, and returns the path of its trace.
  private func trace(
    _ name: String, _ mode: String, _ variant: CorpusVariant = .dynamicOptimised, in directory: TemporaryDirectory
  ) throws -> String {
    let path = directory.path + "/\(name).trace"
    let executable = try CorpusProgram.corpus.path(variant)
    let outcome = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--", executable, name, mode])
      .run()
    #expect(outcome.end == .exit(0))
    return path
  }

  private func leaktrace(_ arguments: String...) throws -> Command.Outcome {
    try Command([BuildProducts.leaktrace] + arguments).run()
  }

  @Test(
    "a finding shows types, fields, closure, lines and advice in any width", arguments: [40, 60, 100, 200])
  func text(width: Int) throws {
    let directory = try TemporaryDirectory()
    let path = try trace("profile-screen", "leak", .dynamicUnoptimised, in: directory)
    let outcome = try leaktrace("analyze", "--limit", "1", "--width", "\(width)", path)
    #expect(outcome.end == .exit(0))
    let words = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for part in [
      "Leaks: 1 proven", "RETAIN CYCLE ProfileViewController ⇄ ProfileViewModel", "10 instances",
      ".viewModel strong ──▶ ProfileViewModel",
      "captures self ──▶ ProfileViewController", "(back to the start)",
      "Capture self weakly in the closure at ProfileScreen.swift:",
    ] { #expect(words.contains(part), "\(part) is not in\n\(outcome.output)") }
    // Paths in the head of the report may be longer than any width.
    let leaks = outcome.output.split(separator: "\n").drop { !$0.hasPrefix("Leaks:") }.prefix {
      !$0.hasPrefix("Allocation sites")
    }
    #expect(leaks.count > 5)
    #expect(leaks.allSatisfy { $0.count <= width })
  }

  @Test("suppressions hide findings and report the number") func suppressions() throws {
    let directory = try TemporaryDirectory()
    let path = try trace("profile-screen", "leak", in: directory)
    let file = try directory.write("# known\nleak:^ProfileViewModel$\nleak:Nowhere\n", to: "known.supp")
    let outcome = try leaktrace("analyze", "--limit", "1", "--width", "120", "--suppressions", file, path)
    #expect(outcome.end == .exit(0))
    #expect(outcome.output.contains("Leaks: none found"))
    #expect(outcome.output.contains("hidden by suppressions: 1 finding"))
    #expect(outcome.output.contains("leak:Nowhere  hid nothing"))
    #expect(!outcome.output.contains("RETAIN CYCLE"))
    let wrong = try directory.write("thread:x\n", to: "wrong.supp")
    let refused = try leaktrace("analyze", "--suppressions", wrong, path)
    #expect(refused.end == .exit(64))
    #expect(refused.errorOutput.contains("wrong.supp:1"))
  }

  @Test(
    "A function that never returns still holds its locals",
    arguments: TestTier.arguments([["-O"]], of: [["-Onone"], ["-O"], ["-O", "-static-stdlib"]]))
  func unreturning(flags: [String]) throws {
    let directory = try TemporaryDirectory()
    let program = try TestProgram("unreturning.swift", flags: flags).path()
    for (mode, lost) in [("clean", 0), ("leak", 6)] {
      let path = directory.path + "/\(mode).trace"
      #expect(
        try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--", program, mode]).run().end
          == .exit(0))
      let report = try leaktrace("analyze", "--limit", "1", "--width", "120", path).output
      #expect(report.contains("Leaks: none found") == (lost == 0), "\(mode): \(report)")
      // Without optimisation, a word of the object's address is left on the stack.
      if flags.contains("-O") {
        let answer = try leaktrace("why", "--width", "120", path, "Gauge").output
        #expect(answer.contains("nothing: the function that made it never returns"), "\(answer)")
      }
      if lost > 0 {
        #expect(
          report.contains("LOST  Reading") && report.contains("6 instances") && report.contains("Leaks: 1 proven"),
          "\(report)")
      }
    }
  }

  @Test(
    "Memory from the program's own malloc wrappers is named by their callers",
    arguments: [[], ["-O2"]] as [[String]]) func wrappers(flags: [String]) throws
  {
    let directory = try TemporaryDirectory()
    let program = try TestProgram("wrapped-allocations.c", flags: flags).path()
    for (mode, places) in [("clean", []), ("leak", ["copy_title", "make_totals", "make_index"])] {
      let path = directory.path + "/\(mode).trace"
      #expect(
        try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--", program, mode]).run().end
          == .exit(0))
      let report = try leaktrace("analyze", "--limit", "1", "--width", "120", path).output
      #expect(report.contains("Leaks: none found") == places.isEmpty, "\(mode): \(report)")
      if places.isEmpty { continue }
      #expect(report.contains("Leaks: 3 proven"), "\(report)")
      for place in places { #expect(report.contains("allocated in \(place)"), "\(place): \(report)") }
    }
  }

  @Test("why names the variable that holds an object, and the fields on the path") func why() throws {
    let directory = try TemporaryDirectory()
    let path = try trace("dangling-surface", "clean", in: directory)
    let outcome = try leaktrace("why", "--width", "160", path, "RenderSurface")
    #expect(outcome.end == .exit(0))
    #expect(outcome.output.contains("RenderSurface: 3 live objects, held in 1 way"))
    #expect(
      outcome.output.contains("static DanglingSurface.(passes in")
        || outcome.output.contains("static DanglingSurface.passes"))
    #expect(outcome.output.contains("[]  strong ──▶ RenderPass"))
    #expect(outcome.output.contains(".keptSurface  strong ──▶ RenderSurface"))
    #expect(try leaktrace("why", path, "NoSuchType").end == .exit(2))
    #expect(try leaktrace("why", path, "0xZZ").end == .exit(64))
  }

  @Test("a missing heap image is reported") func missingImage() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/none.trace"
    let executable = try CorpusProgram.corpus.path(.dynamicOptimised)
    _ = try Command([
      BuildProducts.leaktrace, "record", "--quiet", "--no-snapshots", "-o", path, "--", executable, "profile-screen",
      "leak",
    ]).run()
    let outcome = try leaktrace("analyze", "--limit", "1", path)
    #expect(outcome.end == .exit(0))
    #expect(outcome.output.contains("Leaks: not checked"))
    #expect(try leaktrace("why", path, "ProfileViewModel").end == .exit(3))
    #expect(try leaktrace("analyze", "--snapshot", "7", path).end == .exit(3))
  }

  @Test("a failed heap image is reported with its reason") func failedImage() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/limited.trace"
    let program = try TestProgram("little-address-space.c").path()
    #expect(
      try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--", program]).run().end == .exit(0))
    #expect(try TraceReader(path: path).failedSnapshots.map(\.error) == [ENOMEM])
    let outcome = try leaktrace("analyze", "--limit", "1", "--width", "200", path)
    #expect(
      outcome.end == .exit(0) && outcome.output.contains("there was no memory for it")
        && outcome.output.contains("ulimit -v"))
    #expect(!outcome.output.contains("killed"))
    let checked = try leaktrace("check", "--", program)
    #expect(checked.end == .exit(3) && checked.errorOutput.contains("there was no memory for it"))
  }

  @Test(
    "the toolchain's own tools have no finding",
    arguments: [["swift-format", "format"], ["swift-format", "lint"]])
  func toolchain(arguments: [String]) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/tool.trace"
    let command =
      ["\(BuildProducts.toolchain)/\(arguments[0])"] + arguments.dropFirst() + [
        BuildProducts.packageRoot + "/Tests/Programs/plain.swift"
      ]
    _ = try Command([BuildProducts.leaktrace, "record", "--quiet", "-o", path, "--"] + command).run()
    let outcome = try leaktrace("analyze", "--limit", "1", path)
    #expect(outcome.end == .exit(0))
    #expect(outcome.output.contains("Leaks: none found"), "\(outcome.output)")
    #expect(!outcome.output.contains("In libraries"))
  }
}
