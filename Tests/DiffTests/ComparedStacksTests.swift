import Testing

@testable import RunDiff
@testable import TraceReading

struct ComparedStacksTests {
  private func stacks(_ old: [RunDigest], _ new: [RunDigest], _ unit: DiffReport.Unit = .run) throws -> ComparedStacks {
    ComparedStacks(old: old, new: new, try RunComparison.report(old: old, new: new, unit: unit))
  }

  private func lines(_ stacks: ComparedStacks) -> Set<String> {
    Set(
      stacks.entries.map { entry in
        let names = entry.frames.map { stacks.frames[$0].function } + [entry.type]
        return "\(names.joined(separator: "/")) \(entry.old.allocatedBlocks) \(entry.new.allocatedBlocks)"
      })
  }

  @Test func equalStacksAreMerged() throws {
    let old = RunDigest.make {
      $0.site("App.A", ["make()", "main"], blocks: 10)
      $0.site("App.B", ["make()", "main"], blocks: 5)
    }
    let new = RunDigest.make {
      $0.site("App.A", ["make()", "main"], blocks: 30)
      $0.site("App.C", ["other()", "main"], blocks: 7)
    }
    let found = try stacks([old], [new])
    #expect(lines(found) == ["main/make()/App.A 10 30", "main/make()/App.B 5 0", "main/other()/App.C 0 7"])
    #expect(found.work.old == 1 && found.work.new == 1)
  }

  @Test func renamedTypeMatches() throws {
    func run(_ name: String) -> RunDigest {
      RunDigest.make { builder in
        for index in 0..<8 {
          builder.site("App.\(name)", ["\(name).load\(index)()", "main"], blocks: 10 + UInt64(index))
        }
      }
    }
    let found = try stacks([run("Loader")], [run("Fetcher")])
    #expect(found.entries.count == 8)
    #expect(found.entries.allSatisfy { $0.old.allocatedBlocks == $0.new.allocatedBlocks && $0.type == "App.Fetcher" })
  }

  @Test func figuresScaleWithTheNewRunsWork() throws {
    func run(_ events: UInt64, _ blocks: UInt64) -> RunDigest {
      var run = RunDigest.make { $0.site("App.A", ["make()", "main"], blocks: blocks) }
      run.eventCount = events
      return run
    }
    let found = try stacks([run(1_000, 10), run(1_000, 10)], [run(4_000, 40)], .events)
    let entry = try #require(found.entries.first)
    // The two runs have 20 blocks in total, for half of the work.
    #expect(Double(entry.old.allocatedBlocks) / found.work.old == 40)
    #expect(Double(entry.new.allocatedBlocks) / found.work.new == 40)
  }
}
