// The answers about fixes, for invented runs.

import Testing

@testable import LeakDetection
@testable import RunDiff
@testable import TraceSymbolication

@Suite struct FixVerificationTests {
  private typealias Build = (inout DigestBuilder) -> Void

  private static let way = ["show()", "open()", "main"]

  /// A run that makes some screens in `show()`, and leaks some of them.
  private static func run(
    made: UInt64, leaked: Int, way: [String] = way, functions: [String] = way, type: String = "Screen"
  ) -> RunDigest {
    var digest = RunDigest.make { run in
      if made > 0 { run.site("App.\(type)", way, blocks: made) }
      run.site("App.Other", ["other()", "main"], blocks: 50)
      if leaked > 0 {
        run.cycle(cycle(type, way), instances: leaked, retained: UInt64(leaked) * 128)
      }
    }
    digest.have(functions)
    return digest
  }

  private static func cycle(_ type: String, _ way: [String]) -> [(Finding.Step, [String])] {
    [DigestBuilder.step(type, way, "model"), DigestBuilder.step("Model", way, "screen")]
  }

  private func answers(_ old: RunDigest, _ new: [RunDigest]) throws -> [FixAnswer] {
    try RunComparison.verification(old: old, new: new).fixes.map(\.answer)
  }

  private func gap(_ old: RunDigest, _ new: RunDigest) throws -> ExerciseGap? {
    let report = try RunComparison.verification(old: old, new: [new])
    #expect(report.fixes.count == 1 && report.newFindings.isEmpty && !report.hasFailed)
    return report.fixes.first?.gap
  }

  @Test func absentFindingIsGoneOnlyIfItsSiteWasReached() throws {
    let old = Self.run(made: 20, leaked: 20)
    let gone = try RunComparison.verification(old: old, new: [Self.run(made: 15, leaked: 0)])
    #expect(gone.fixes.map(\.answer) == [.gone] && !gone.hasFailed && !gone.isUndecided)
    #expect(gone.fixes[0].runs == [.init(instances: 0, site: .reached(blocks: 15))] && gone.fixes[0].oldBlocks == 20)
    let missed = try RunComparison.verification(old: old, new: [Self.run(made: 0, leaked: 0)])
    #expect(missed.fixes.map(\.answer) == [.notExercised] && !missed.hasFailed && missed.isUndecided)
    #expect(missed.fixes[0].gap == .functionUnseen("show()"))
  }

  @Test func numbersDecideBetweenWorseSameAndFewer() throws {
    let old = Self.run(made: 20, leaked: 20)
    #expect(try answers(old, [Self.run(made: 40, leaked: 40)]) == [.worse])
    #expect(try answers(old, [Self.run(made: 20, leaked: 20)]) == [.same])
    #expect(try answers(old, [Self.run(made: 20, leaked: 4)]) == [.fewer])
  }

  @Test func findingOfSomeRunsIsFlaky() throws {
    let old = Self.run(made: 20, leaked: 20)
    let (clean, leaky) = (Self.run(made: 20, leaked: 0), Self.run(made: 20, leaked: 3))
    let report = try RunComparison.verification(old: old, new: [clean, leaky, clean, leaky, clean])
    #expect(report.fixes.map(\.answer) == [.flaky] && report.hasFailed)
    #expect(report.fixes[0].goneRuns == 3 && report.fixes[0].presentRuns == 2)
    #expect(try answers(old, [clean, clean, clean]) == [.gone])
  }

  @Test func runsThatMissTheSiteDoNotMakeAFindingFlaky() throws {
    let old = Self.run(made: 20, leaked: 20)
    let (missed, leaky) = (Self.run(made: 0, leaked: 0), Self.run(made: 20, leaked: 20))
    #expect(try answers(old, [missed, leaky, leaky]) == [.same])
    let report = try RunComparison.verification(old: old, new: [missed, Self.run(made: 9, leaked: 0), missed])
    #expect(report.fixes.map(\.answer) == [.gone] && report.fixes[0].goneRuns == 1)
  }

  @Test func findingOfOneNewRunIsNew() throws {
    let clean = Self.run(made: 20, leaked: 0)
    let report = try RunComparison.verification(old: clean, new: [clean, Self.run(made: 20, leaked: 1), clean])
    #expect(report.fixes.isEmpty && report.newFindings.map(\.runs) == [1] && report.hasFailed)
  }

  @Test func functionThatMadeOtherObjectsProvesNothing() throws {
    func build(_ made: UInt64, _ leaked: Int) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("App.Label", Self.way, blocks: 7)
        if made > 0 { run.site("App.Screen", Self.way, blocks: made) }
        if leaked > 0 { run.cycle(Self.cycle("Screen", Self.way), instances: leaked) }
      }
      digest.have(Self.way)
      return digest
    }
    #expect(
      try gap(build(20, 20), build(0, 0)) == .notAllocated(type: "Screen", function: "show()"))
  }

  @Test func memoryWithoutATypeMatchesItsAllocatingFunction() throws {
    let way = ["read()", "main"]
    func build(_ operations: [String], lost: Int) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("App.Note", way, blocks: 9)
        for operation in operations { run.site(operation, way, blocks: 5) }
        if lost > 0 { run.lostMemory(way, instances: lost, sampled: lost) }
      }
      digest.have(way)
      return digest
    }
    let old = build(["malloc", "calloc"], lost: 5)
    #expect(try gap(old, build(["calloc"], lost: 0)) == .notAllocated(type: "malloc", function: "read()"))
    #expect(try answers(old, [build(["malloc", "calloc"], lost: 0)]) == [.gone])
  }

  @Test func objectsFromOtherCallersProveNothing() throws {
    let old = Self.run(made: 20, leaked: 20)
    // The new build still has the caller `open()`.
    let other = Self.run(made: 5, leaked: 0, way: ["show()", "preview()", "main"], functions: Self.way + ["preview()"])
    #expect(try gap(old, other) == .otherCallers(function: "show()", missing: "open()"))
    // The new build has no `open()`, so `present()` has replaced it.
    let replaced = Self.run(made: 5, leaked: 0, way: ["show()", "present()", "main"], functions: ["show()", "main"])
    #expect(try answers(old, [replaced]) == [.gone])
    // Another caller in between makes no difference.
    let inserted = Self.run(made: 5, leaked: 0, way: ["show()", "animate()", "open()", "main"])
    #expect(try answers(old, [inserted]) == [.gone])
  }

  @Test func buildWithoutSymbolsDoesNotShowThatACallerIsGone() throws {
    func build(_ leaked: Int, _ functions: [String]) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("App.Screen", ["show()", "preview()", "main"], blocks: 5)
        if leaked > 0 {
          run.site("App.Screen", Self.way, blocks: 20)
          run.cycle(Self.cycle("Screen", Self.way), instances: leaked)
        }
      }
      digest.have(functions)
      return digest
    }
    let old = build(20, Self.way)
    #expect(try gap(old, build(0, [])) == .otherCallers(function: "show()", missing: "open()"))
    // With symbols, the build shows that `open()` is gone.
    #expect(try answers(old, [build(0, ["show()", "preview()", "main"])]) == [.gone])
  }

  @Test func removedFunctionIsNotKnown() throws {
    let new = Self.run(made: 0, leaked: 0, functions: ["open()", "main"])
    #expect(try gap(Self.run(made: 20, leaked: 20), new) == .functionRemoved("show()"))
    #expect(try answers(Self.run(made: 20, leaked: 20), [new]) == [.notKnown])
  }

  @Test func renamedTypeIsFollowed() throws {
    let old = Self.run(made: 20, leaked: 20)
    let gone = Self.run(made: 20, leaked: 0, type: "Window")
    #expect(try answers(old, [gone]) == [.gone])
    let report = try RunComparison.verification(old: old, new: [Self.run(made: 20, leaked: 20, type: "Window")])
    #expect(
      report.fixes.map(\.answer) == [.same] && report.renames == [DiffRename(old: "Screen", new: "Window")])
  }

  @Test func everyPlaceOfACauseMustBeReached() throws {
    func lost(_ places: [String], made: [String]) -> RunDigest {
      var digest = RunDigest.make { run in
        for place in made { run.site("App.Buffer", [place, "main"], blocks: 10) }
        for place in places { run.lost(DigestBuilder.step("Buffer", [place, "main"], nil), instances: 10) }
      }
      // Two places of one cause have one fingerprint.
      for index in (digest.findings ?? []).indices { digest.findings?[index].finding.fingerprint = "cause" }
      digest.have(["read()", "write()", "main"])
      return digest
    }
    let old = lost(["read()", "write()"], made: ["read()", "write()"])
    #expect(try answers(old, [lost([], made: ["read()", "write()"])]) == [.gone])
    #expect(try answers(old, [lost([], made: ["read()"])]) == [.notExercised])
    #expect(try answers(old, [lost(["read()"], made: ["read()"])]) == [.fewer])
  }

  @Test func samplesOfALightRecordingShowThatTheSiteWasReached() throws {
    func light(_ build: Build) -> RunDigest {
      var digest = RunDigest.make(build)
      (digest.isLight, digest.listsHolders) = (true, true)
      return digest
    }
    var old = light { run in
      run.estimate(Self.way, live: (4096, 100), allocated: (9000, 100))
      run.cycle(Self.cycle("Screen", Self.way))
    }
    old.have(Self.way)
    let sampled = light { $0.estimate(Self.way, live: (0, 0), allocated: (9000, 100)) }
    #expect(try answers(old, [sampled]) == [.gone])
    let other = light { $0.estimate(["other()", "main"], live: (0, 0), allocated: (9000, 100)) }
    #expect(try gap(old, other) == .notSampled)
    #expect(try answers(old, [other]) == [.notKnown])
    // A full recording knows all allocations.
    #expect(try answers(old, [Self.run(made: 0, leaked: 0)]) == [.notExercised])
    #expect(try answers(old, [Self.run(made: 3, leaked: 0)]) == [.gone])
  }

  @Test func inspectionShowsNoAllocations() throws {
    var new = RunDigest.make { _ in }
    new.inspected = InspectedMoment(processStart: 1, age: 2)
    #expect(try gap(Self.run(made: 20, leaked: 20), new) == .inspection)
  }

  @Test func runWithoutFindingsDoesNotCount() throws {
    var unjudged = Self.run(made: 20, leaked: 0)
    (unjudged.findings, unjudged.findingsUnavailable) = (nil, "the trace is damaged")
    let old = Self.run(made: 20, leaked: 20)
    let report = try RunComparison.verification(old: old, new: [unjudged, Self.run(made: 20, leaked: 0)])
    #expect(report.unjudged.map(\.reason) == ["the trace is damaged"])
    #expect(report.fixes.map(\.answer) == [.gone] && report.new.runs.count == 1)
    let nothing = try RunComparison.verification(old: unjudged, new: [old])
    #expect(nothing.fixes.isEmpty && nothing.newFindings.isEmpty && nothing.unjudged.count == 1)
  }

  @Test func onlyAskedFindingsAreAnswered() throws {
    let old = RunDigest.make { run in
      run.cycle(Self.cycle("Screen", Self.way))
      run.lost(DigestBuilder.step("Buffer", ["read()", "main"], nil))
    }
    let fingerprint = try #require(old.findings?.last?.finding.fingerprint)
    let report = try RunComparison.verification(old: old, new: [old], findings: [fingerprint])
    #expect(report.fixes.map(\.old.fingerprint) == [fingerprint] && report.newFindings.isEmpty)
  }
}

extension RunDigest {
  /// Gives the build these functions, whether they allocate or not.
  fileprivate mutating func have(_ names: [String]) {
    for name in names {
      let symbol = SymbolHash.of(name.utf8)
      functions.append(symbol)
      for index in frames.indices where frames[index].stableName == name { frames[index].symbol = symbol }
    }
    functions = Set(functions).sorted()
    for index in frames.indices where frames[index].symbol == 0 {
      frames[index].symbol = SymbolHash.of(frames[index].stableName.utf8)
    }
  }
}
