import Testing

@testable import LeakDetection
@testable import RunDiff

@Suite struct FindingDiffTests {
  private typealias Build = (inout DigestBuilder) -> Void

  private func findings(_ old: Build, _ new: Build) throws -> DiffSection<FindingChange> {
    try #require(try RunComparison.report(old: [.make(old)], new: [.make(new)]).findings)
  }

  private func pair(_ a: String, _ b: String, in functions: [String], fields: (String, String) = ("child", "parent"))
    -> [(Finding.Step, [String])]
  {
    [DigestBuilder.step(a, functions, fields.0), DigestBuilder.step(b, functions, fields.1)]
  }

  @Test func leakOnOneSideIsNewOrGone() throws {
    let changes = try findings(
      { $0.cycle(pair("Screen", "Model", in: ["show()", "main"])) },
      { $0.lost(DigestBuilder.step("Buffer", ["read()", "main"], nil)) })
    #expect(changes.summary == ["gone retainCycle Screen", "new lost Buffer"])
  }

  /// If lost memory has no type, chance decides whether it is sampled, and how many blocks a sample represents.
  @Test func differenceOfFewSamplesIsNotAChange() throws {
    func lost(_ instances: Int, _ sampled: Int) -> Build {
      { $0.lostMemory(["read()", "main"], instances: instances, sampled: sampled) }
    }
    #expect(try findings({ _ in }, lost(5000, 11)).summary == [])
    #expect(try findings({ _ in }, lost(5000, 12)).summary == ["new lost malloc"])
    #expect(try findings(lost(5000, 12), { _ in }).summary == ["gone lost malloc"])
    #expect(try findings(lost(9, 9), lost(5000, 40)).summary == [])
    #expect(try findings(lost(5000, 40), lost(30, 7)).summary == [])
    // All blocks were sampled.
    #expect(try findings({ _ in }, lost(3, 3)).summary == ["new lost malloc"])
    #expect(try findings(lost(3, 3), lost(30, 30)).summary == ["worse lost malloc"])
  }

  @Test func cyclesMatchFromAnyStart() throws {
    let steps = pair("Screen", "Model", in: ["show()", "main"])
    let changes = try findings({ $0.cycle(steps) }, { $0.cycle([steps[1], steps[0]]) })
    #expect(changes.changes.isEmpty && changes.unchanged == 1 && changes.moved == 0)
  }

  @Test func moreInstancesAreWorseAndFewerAreBetter() throws {
    let steps = pair("Screen", "Model", in: ["show()", "main"])
    let more = try findings(
      { $0.cycle(steps, instances: 10, retained: 1280) }, { $0.cycle(steps, instances: 20, retained: 2560) })
    #expect(more.summary == ["worse retainCycle Screen"])
    #expect(more.changes[0].figures.filter { $0.direction == .worse }.map(\.figure) == [.instances, .retainedBytes])
    let fewer = try findings(
      { $0.cycle(steps, instances: 20, retained: 2560) }, { $0.cycle(steps, instances: 10, retained: 1280) })
    #expect(fewer.summary == ["better retainCycle Screen"])
  }

  @Test(arguments: [("Aardvark", "Zebra"), ("Zebra", "Aardvark")])
  func cycleMatchesAfterATypeRename(old: String, new: String) throws {
    // A cycle's first object in the report depends on the type's name.
    func run(_ name: String) -> RunDigest {
      .make { run in
        run.site("App.\(name)", ["show()", "main"], blocks: 20)
        run.cycle(pair(name, "Model", in: ["show()", "main"]))
      }
    }
    let changes = try #require(try RunComparison.report(old: [run(old)], new: [run(new)]).findings)
    #expect(changes.changes.isEmpty && changes.unchanged == 1 && changes.moved == 1)
  }

  @Test func closureMatchesAfterAFunctionRename() throws {
    func run(_ function: String, instances: Int) -> RunDigest {
      .make { run in
        run.site("App.Model", [function, "main"], blocks: 20)
        var steps = pair("Screen", "Model", in: [function, "main"])
        steps[1].0.kind = .closure
        steps[1].0.function = DigestBuilder.frame("closure #1 in \(function)")
        run.cycle(steps, instances: instances)
      }
    }
    let changes = try #require(
      try RunComparison.report(old: [run("openWallet()", instances: 8)], new: [run("openPurse()", instances: 24)])
        .findings
    ).changes
    #expect(changes.map(\.kind) == [.worse])
    guard case .renamed? = changes.first?.match else {
      Issue.record("matched by \(String(describing: changes.first?.match))")
      return
    }
  }

  @Test func cycleMatchesAfterAFieldRenameUnlessTheOldFieldRemains() throws {
    func cycle(_ field: String, _ fields: [String]) -> [(Finding.Step, [String])] {
      [
        DigestBuilder.step("Screen", ["show()", "main"], field, fields: fields),
        DigestBuilder.step("Model", ["show()", "main"], "screen", fields: ["screen"]),
      ]
    }
    let renamed = try findings(
      { $0.cycle(cycle("action", ["action", "model"])) }, { $0.cycle(cycle("onPress", ["model", "onPress"])) })
    #expect(renamed.changes.isEmpty && renamed.moved == 1)
    let mended = try findings(
      { $0.cycle(cycle("onDone", ["onDone", "onProgress"])) },
      { $0.cycle(cycle("onProgress", ["onDone", "onProgress"])) })
    #expect(Set(mended.changes.map(\.kind)) == [.new, .gone])
    let unknown = try findings({ $0.cycle(cycle("onDone", [])) }, { $0.cycle(cycle("onProgress", [])) })
    #expect(Set(unknown.changes.map(\.kind)) == [.new, .gone])
  }

  @Test func leaksOfDifferentTypesDoNotMatch() throws {
    let changes = try findings(
      { $0.cycle(pair("Feed", "Model", in: ["show()", "main"])) },
      { $0.cycle(pair("Search", "Model", in: ["show()", "main"])) })
    #expect(Set(changes.changes.map(\.kind)) == [.new, .gone])
  }

  @Test func allocationMovedIntoANewFunctionIsMatchedBySimilarity() throws {
    let changes = try findings(
      { $0.cycle(pair("Screen", "Model", in: ["show()", "open()", "main"])) },
      { $0.cycle(pair("Screen", "Model", in: ["build()", "show()", "open()", "main"]), instances: 9, retained: 900) })
    #expect(changes.summary == ["worse retainCycle Screen"])
    #expect(changes.changes[0].match == .likeness(["Screen was allocated in show()", "Model was allocated in show()"]))
  }

  @Test func fixedLeakAndNewLeakOfTheSameTypeAreTwoChanges() throws {
    // Both functions allocate screens on both sides.
    func base(_ run: inout DigestBuilder) {
      run.site("App.Screen", ["showProfile()", "main"], blocks: 10)
      run.site("App.Screen", ["showSettings()", "main"], blocks: 10)
    }
    let changes = try findings(
      { run in
        base(&run)
        run.cycle(pair("Screen", "Model", in: ["showProfile()", "main"]))
      },
      { run in
        base(&run)
        run.cycle(pair("Screen", "Model", in: ["showSettings()", "main"]))
      })
    #expect(Set(changes.changes.map(\.kind)) == [.new, .gone] && changes.changes.count == 2)
  }

  @Test func leakInANewFunctionIsNewIfTheOldFunctionRemains() throws {
    let way = ["run()", "loop()", "start()", "main"]
    let changes = try findings(
      { run in
        run.site("App.Screen", ["show()"] + way, blocks: 10)
        run.cycle(pair("Screen", "Model", in: ["show()"] + way))
      },
      { run in
        run.site("App.Screen", ["show()"] + way, blocks: 10)
        run.cycle(pair("Screen", "Model", in: ["present()"] + way))
      })
    #expect(Set(changes.changes.map(\.kind)) == [.new, .gone])
  }

  @Test func uncalledFunctionRemainsIfItsSymbolRemains() throws {
    func run(_ function: String, has functions: [UInt32]) -> RunDigest {
      var digest = RunDigest.make { run in
        run.site("App.Job", [function, "main"], blocks: 20)
        run.site("App.Log", [function, "main"], blocks: 40)
        run.cycle(pair("Job", "Log", in: [function, "main"]))
      }
      digest.functions = functions
      for index in digest.frames.indices {
        digest.frames[index].symbol =
          digest.frames[index].function == "export()" ? 1 : digest.frames[index].function == "load()" ? 2 : 0
      }
      return digest
    }
    let renamed = try RunComparison.report(old: [run("load()", has: [2])], new: [run("export()", has: [1])])
    #expect(
      renamed.findings?.changes.isEmpty == true && renamed.renames == [DiffRename(old: "load()", new: "export()")])
    let other = try RunComparison.report(old: [run("load()", has: [1, 2])], new: [run("export()", has: [1, 2])])
    #expect(Set(other.findings?.changes.map(\.kind) ?? []) == [.new, .gone] && other.renames.isEmpty)
  }

  @Test func cyclesThroughDifferentFieldsAreDifferent() throws {
    func both(_ run: inout DigestBuilder, leaking: (String, String)) {
      // The names of all fields are known on both sides.
      run.cycle(pair("Panel", "Handler", in: ["make()", "main"], fields: ("onOpen", "owner")))
      run.cycle(pair("Panel", "Handler", in: ["make()", "main"], fields: ("onClose", "target")))
      run.cycle(pair("Screen", "Model", in: ["show()", "main"], fields: leaking))
    }
    let changes = try findings(
      { both(&$0, leaking: ("onOpen", "owner")) }, { both(&$0, leaking: ("onClose", "target")) })
    #expect(Set(changes.changes.map(\.kind)) == [.new, .gone] && changes.changes.count == 2)
  }

  @Test func findingInSomeRunsOfBothSidesIsNotAChange() throws {
    let with = RunDigest.make { $0.cycle(pair("Screen", "Model", in: ["show()"])) }
    let without = RunDigest.make { _ in }
    let report = try RunComparison.report(old: [with, without, without], new: [without, with, with])
    let section = try #require(report.findings)
    #expect(section.changes.isEmpty && section.unchanged == 1 && section.unsteady == 1)
    #expect(report.judged.map(\.standing) == [.known(reason: "")])
  }

  @Test func findingInAllRunsOfOneSideOnlyIsAChange() throws {
    let old = (0..<3).map { _ in RunDigest.make { _ in } }
    let new = [10, 30, 50].map { count in
      RunDigest.make { $0.cycle(pair("Screen", "Model", in: ["show()"]), instances: count) }
    }
    #expect(try RunComparison.report(old: old, new: new).findings?.summary == ["new retainCycle Screen"])
    #expect(try RunComparison.report(old: new, new: old).findings?.summary == ["gone retainCycle Screen"])
  }

  @Test func runWithoutAHeapImageIsNamedAndLeaksAreNotCompared() throws {
    var blind = RunDigest.make { _ in }
    blind.findings = nil
    blind.findingsUnavailable = "killed"
    let report = try RunComparison.report(old: [blind], new: [.make { $0.cycle(pair("A", "B", in: ["f()"])) }])
    #expect(report.findings == nil && report.judged.isEmpty && report.findingsUnavailable == "/tmp/run.trace: killed")
  }
}
