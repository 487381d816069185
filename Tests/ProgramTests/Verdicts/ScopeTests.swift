// Programs with objects that outlive their scope while a reference still leads to them, and programs that keep objects
// on purpose.

import Foundation
import TestRequirements
import Testing

@Suite(.serialized, .requires(.recorder)) struct ScopeTests {
  /// Uses no verdicts on scopes: this tests the programs themselves.
  @Test(
    "A fault keeps the expected number of objects, and its correct twin only the intended ones",
    arguments: CorpusVariant.testedOwn)
  func lifetimes(variant: CorpusVariant) throws {
    for run in try ScopeRun.all(variant) {
      let report = try run.report.get()
      for finding in run.program.leak ?? [] {
        let live = report.liveBlocks(ofType: "scopes.\(finding.type)")
        #expect(
          live == (run.mode == .leak ? finding.live ?? finding.count : finding.liveInTwin ?? 0),
          "\(run.name): \(live) \(finding.type) are live")
      }
    }
  }

  @Test(
    "Only survivors of their scope are reported, with counts and holders",
    arguments: CorpusVariant.testedOwn)
  func verdicts(variant: CorpusVariant) throws {
    for run in try ScopeRun.all(variant) {
      let reported = try run.report.get().findings
      let findings = try #require(reported)
      #expect(
        Self.agrees(findings, run.expected), "\(run.name): expected \(run.expected), found \(findings.map(Self.text))")
    }
  }

  @Test(
    "Timers and delayed work are holders even with a stripped libdispatch",
    arguments: TestTier.arguments(["dispatch-timer"], of: ["dispatch-timer", "dispatch-queue-work", "polling-sources"]))
  func strippedDispatch(name: String) throws {
    let program = try #require(try ScopeCase.all().first { $0.name == name })
    let directory = try TemporaryDirectory()
    let library = BuildProducts.parent(of: BuildProducts.toolchain) + "/lib/swift/linux/libdispatch.so"
    let stripping = try Command([
      BuildProducts.toolchain + "/llvm-objcopy", "--strip-all", library, directory.path + "/libdispatch.so",
    ]).run()
    try #require(stripping.end == .exit(0), "\(stripping.errorOutput)")
    let report = try ScopeRun.run(
      [try CorpusProgram.scopes.path(.dynamicOptimised), name, "leak"],
      environment: ["LD_LIBRARY_PATH": directory.path])
    let expected = try #require(program.leak)
    let findings = try #require(report.findings)
    #expect(findings.map(\.instances) == expected.map(\.count), "\(findings.map(Self.text))")
  }

  @Test(
    "Programs that keep all their data to the end have no finding",
    arguments: TestTier.arguments([["-O"]], of: [["-Onone"], ["-O"], ["-O", "-g"]]))
  func everyday(flags: [String]) throws {
    let program = try TestProgram("everyday.swift", flags: flags).path()
    for way in ["tree", "graph", "words", "bank", "simulation", "life", "json", "filter", "window"] {
      let reported = try ScopeRun.run([program, way]).findings
      let findings = try #require(reported)
      #expect(findings.isEmpty, "\(way): \(findings.map(Self.text))")
    }
  }

  /// Whether there is one finding for each expected one, with the same verdict, type and count, and with one of the
  /// expected holders.
  static func agrees(_ findings: [ReportedFinding], _ expected: [ScopeCase.Finding]) -> Bool {
    var left = findings
    for wanted in expected {
      let index = left.firstIndex { found in
        let type = found.outliving == nil ? found.path.first?.type : found.path.last?.type
        guard found.verdict == wanted.verdict, type == wanted.type, found.instances == wanted.count,
          found.library == wanted.library ?? false
        else {
          return false
        }
        guard let holder = wanted.holder else { return true }
        return ([holder] + (wanted.otherHolders ?? [])).contains { found.outliving?.holder.contains($0) ?? false }
      }
      guard let index else { return false }
      left.remove(at: index)
    }
    return left.isEmpty
  }

  static func text(_ finding: ReportedFinding) -> String {
    "\(finding.verdict) \(finding.instances) × \(finding.path.last?.type ?? "?"), held by \(finding.outliving?.holder ?? "-")"
  }
}
