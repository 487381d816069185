// Programs in which objects outlive their scope while something still leads to them, and programs that keep objects on purpose.

import Foundation
import Testing

@Suite(.serialized, .enabled(if: BuildProducts.preloadLibraryExists)) struct ScopeTests {
  /// Needs no verdicts on scopes: it is the programs that are tested here.
  @Test("Objects live on in the expected number with the fault, and without it only those that are meant to", arguments: CorpusVariant.allCases)
  func lifetimes(variant: CorpusVariant) throws {
    let executable = try CorpusProgram.scopes.path(variant)
    for program in try ScopeCase.all() {
      for finding in program.leak ?? [] {
        let faulty = try run(executable, program.name, .leak).liveBlocks(ofType: "scopes.\(finding.type)")
        #expect(faulty == finding.live ?? finding.count, "\(program.name) leak: \(faulty) \(finding.type) are live")
        let correct = try run(executable, program.name, .clean).liveBlocks(ofType: "scopes.\(finding.type)")
        #expect(correct == finding.liveInTwin ?? 0, "\(program.name) clean: \(correct) \(finding.type) are live")
      }
    }
  }

  @Test("What something leads to is not said to be leaked", arguments: CorpusVariant.allCases) func reachable(variant: CorpusVariant) throws {
    let executable = try CorpusProgram.scopes.path(variant)
    for program in try ScopeCase.all() {
      for mode in program.leak == nil ? [CorpusRun.Mode.clean] : [.leak, .clean] {
        let report = try run(executable, program.name, mode)
        let expected = ((mode == .leak ? program.leak : program.clean) ?? []).filter { !Self.isOfScopes($0.verdict) }
        let found = try #require(report.findings).filter { !Self.isOfScopes($0.verdict) }
        #expect(
          found.map { [$0.verdict, $0.path.first?.type ?? "", "\($0.instances)", "\($0.library)"] }
            == expected.map { [$0.verdict, $0.type, "\($0.count)", "\($0.library ?? false)"] },
          "\(program.name) \(mode)")
      }
    }
  }

  private static func isOfScopes(_ verdict: String) -> Bool { ["outlived", "accumulating"].contains(verdict) }

  private func run(_ executable: String, _ name: String, _ mode: CorpusRun.Mode) throws -> VerdictReport {
    let directory = try TemporaryDirectory()
    let trace = directory.path + "/scopes.trace"
    var command = Command([BuildProducts.leaktrace, "record", "--quiet", "-o", trace, "--", executable, name, mode.rawValue])
    command.timeLimit = 60
    let recording = try command.run()
    guard recording.end == .exit(0) else { throw CommandFailure("record: \(recording.end) \(recording.errorOutput)") }
    command.arguments = [BuildProducts.leaktrace, "analyze", "--format", "json", "--limit", "1", trace]
    let analysis = try command.run()
    guard analysis.end == .exit(0) else { throw CommandFailure("analyze: \(analysis.end) \(analysis.errorOutput)") }
    return try VerdictReport.read(analysis.output)
  }
}
