import Testing

@testable import RunDiff

@Suite struct SiteDiffTests {
  private func report(_ old: (inout DigestBuilder) -> Void, _ new: (inout DigestBuilder) -> Void) throws -> DiffReport {
    try RunComparison.report(old: [.make(old)], new: [.make(new)])
  }

  @Test func equalRunsHaveNoChange() throws {
    let build: (inout DigestBuilder) -> Void = { run in
      for index in 0..<40 {
        run.site(
          "App.Type\(index % 7)", ["Maker\(index).make()", "main"], blocks: UInt64(index * index), retains: 100_000)
      }
    }
    let report = try report(build, build)
    #expect(report.sites.changes.isEmpty && report.sites.unchanged == 40)
    #expect(report.types.changes.isEmpty && report.types.unchanged == 7)
    #expect(report.totals.allSatisfy { $0.direction == .same })
    #expect(report.renames.isEmpty)
  }

  @Test func closureNumbersDoNotSeparateSites() throws {
    let report = try report(
      { $0.site("App.Node", ["closure #1 in Graph.build()", "main"], blocks: 500) },
      { $0.site("App.Node", ["closure #2 in Graph.build()", "main"], blocks: 500) })
    #expect(report.sites.unchanged == 1 && report.sites.moved == 0 && report.sites.changes.isEmpty)
  }

  @Test func moreRetainsForTheSameObjectsAreWorse() throws {
    let report = try report(
      { $0.site("App.Node", ["Graph.build()"], blocks: 500, retains: 10_000) },
      { $0.site("App.Node", ["Graph.build()"], blocks: 500, retains: 15_000) })
    #expect(report.sites.summary == ["worse App.Node retains,releases"])
    #expect(report.types.summary == ["worse App.Node retains,releases"])
    #expect(report.totals.filter { $0.direction == .worse }.map(\.figure) == [.retains, .releases])
  }

  @Test func renamedTypeIsNeitherGoneNorNew() throws {
    let report = try report(
      { run in
        run.site("App.Node", ["Node.init(id:)", "Graph.build()", "main"], blocks: 500)
        run.site("Swift._ContiguousArrayStorage<App.Node>", ["Graph.build()", "main"], blocks: 60)
        run.site("App.Edge", ["Graph.build()", "main"], blocks: 900)
      },
      { run in
        run.site("App.Vertex", ["Vertex.init(id:)", "Graph.build()", "main"], blocks: 500)
        run.site("Swift._ContiguousArrayStorage<App.Vertex>", ["Graph.build()", "main"], blocks: 60)
        run.site("App.Edge", ["Graph.build()", "main"], blocks: 900)
      })
    #expect(report.sites.changes.isEmpty && report.sites.unchanged == 3 && report.sites.moved == 2)
    #expect(report.types.changes.isEmpty && report.types.moved == 2)
    #expect(report.renames == [DiffRename(old: "Node", new: "Vertex")])
  }

  @Test func simultaneousRenamesAreSeparated() throws {
    let report = try report(
      { run in
        run.site("App.A", ["A.init()", "setUp()", "main"], blocks: 100)
        run.site("App.B", ["B.init()", "setUp()", "main"], blocks: 5000)
      },
      { run in
        run.site("App.X", ["X.init()", "setUp()", "main"], blocks: 100)
        run.site("App.Y", ["Y.init()", "setUp()", "main"], blocks: 5000)
      })
    #expect(report.sites.changes.isEmpty && report.sites.moved == 2)
    #expect(
      report.renames.contains(DiffRename(old: "A", new: "X")) && report.renames.contains(DiffRename(old: "B", new: "Y"))
    )
  }

  @Test func existingTypeIsNotARename() throws {
    let report = try report(
      { run in
        run.site("App.Old", ["first()", "main"], blocks: 500)
        run.site("App.Old", ["second()", "main"], blocks: 500)
      },
      { run in
        run.site("App.Old", ["first()", "main"], blocks: 500)
        run.site("App.New", ["second()", "main"], blocks: 500)
      })
    #expect(report.renames.isEmpty)
    #expect(
      report.types.summary.contains { $0.hasPrefix("new App.New") }
        && report.types.summary.contains { $0.hasPrefix("better App.Old") })
  }

  @Test func splitFunctionIsMatchedBySimilarityAndReportedAsSuch() throws {
    let report = try report(
      { $0.site("App.Node", ["Graph.build()", "load()", "main"], blocks: 500) },
      { $0.site("App.Node", ["Graph.addNode()", "Graph.build()", "load()", "main"], blocks: 900) })
    let change = try #require(report.sites.changes.first)
    #expect(report.sites.changes.count == 1 && change.kind == .worse)
    #expect(change.match == .likeness(["now through Graph.addNode()"]))
  }

  @Test func sitesThatShareOnlyTheOutermostFunctionDoNotMatch() throws {
    let report = try report(
      { run in
        run.site("App.Node", ["first()", "main"], blocks: 500)
        run.site("App.Edge", ["second()", "main"], blocks: 5)
      },
      { run in
        run.site("App.Edge", ["first()", "main"], blocks: 5)
        run.site("App.Node", ["second()", "main"], blocks: 100)
      })
    #expect(report.sites.summary.count == 2)
    #expect(Set(report.sites.changes.map(\.kind)) == [.new, .gone])
  }

  @Test func largestShareOfTheTotalComesFirst() throws {
    let report = try report(
      { run in
        run.site("App.Big", ["f()"], blocks: 100_000)
        run.site("App.Small", ["g()"], blocks: 1_000)
      },
      { run in
        run.site("App.Big", ["f()"], blocks: 200_000)
        run.site("App.Small", ["g()"], blocks: 10_000)
      })
    #expect(report.sites.changes.map(\.name) == ["App.Big", "App.Small"])
  }

  @Test func objectsThatDieInsteadOfLeakingAreNotWorse() throws {
    func run(live: UInt64, releases: UInt64, temporary: UInt64) -> RunDigest {
      var digest = RunDigest.make { $0.site("App.A", ["f()"], blocks: 1000, retains: 5000, live: live) }
      digest.sites[0].total.releases = releases
      digest.sites[0].total.temporaryBlocks = temporary
      digest.total = digest.sites[0].total
      return digest
    }
    let report = try RunComparison.report(
      old: [run(live: 1000, releases: 5000, temporary: 0)], new: [run(live: 0, releases: 6000, temporary: 900)])
    #expect(report.sites.summary == ["better App.A liveBytes,liveBlocks"])
  }

  @Test(
    arguments: [
      ("App.Node", "App.Vertex", true), ("App.Screen.Model", "App.Model", true), ("Shop.Node", "Store.Node", true),
      ("Shop.Node", "Store.Vertex", false),
      ("App.Node", "Swift._DictionaryStorage<Swift.String, App.Node>", false),
      ("Swift._SetStorage<App.Node>", "Swift._SetStorage<App.Vertex>", true),
      ("Swift._SetStorage<App.Node>", "Swift._ContiguousArrayStorage<App.Node>", false),
      ("Graph.build()", "Graph.make(of:)", true),
      ("Graph.build()", "App.Graph", false), ("closure  in Graph.build()", "Graph.build()", false),
      ("closure  in Graph.build()", "closure  in Graph.make()", true),
      ("Node.init(id:)", "Node.make(id:)", false), ("Node.init(id:)", "Vertex.init()", true),
      ("Node.next.getter", "Node.after.getter", true),
      ("isOpen(_:)", "Node.next.getter", false), ("onTap", "onPress", true),
      ("Foundation.Data", "Foundation.NSData", false),
    ] as [(String, String, Bool)])
  func renameKeepsTheKindOfName(old: String, new: String, isPlausible: Bool) {
    #expect(DiffRename(old: old, new: new).isPlausible == isPlausible)
  }

  @Test func platformFunctionsAreNotRenamed() throws {
    func run(_ function: String) -> RunDigest {
      var digest = RunDigest.make { $0.site("malloc", [function, "start_thread"], blocks: 100) }
      for index in digest.frames.indices { digest.frames[index].isPlatform = true }
      return digest
    }
    let report = try RunComparison.report(
      old: [run("_dispatch_async_redirect_invoke")], new: [run("_dispatch_lane_invoke")])
    #expect(report.renames.isEmpty)
  }

  @Test func peakShareCountsOnlyIfThePeakChanged() throws {
    let same = try report(
      { run in
        run.site("App.A", ["f()"], blocks: 1000, peak: 1000)
        run.site("App.B", ["g()"], blocks: 1000, peak: 0)
      },
      { run in
        run.site("App.A", ["f()"], blocks: 1000, peak: 0)
        run.site("App.B", ["g()"], blocks: 1000, peak: 1000)
      })
    #expect(same.sites.changes.isEmpty)
    let higher = try report(
      { $0.site("App.A", ["f()"], blocks: 1000, peak: 500) }, { $0.site("App.A", ["f()"], blocks: 1000, peak: 1000) })
    #expect(higher.sites.summary == ["worse App.A peakBytes"])
  }

  @Test func manySitesWithOneMaskMatchInBoundedTime() throws {
    // All names differ, and nothing shows which sites correspond to each other.
    let old = RunDigest.make { run in
      for index in 0..<3000 { run.site("App.Same", ["old\(index)()", "main"], blocks: 20) }
    }
    let new = RunDigest.make { run in
      for index in 0..<3000 { run.site("App.Same", ["new\(index)()", "main"], blocks: 20) }
    }
    let report = try RunComparison.report(old: [old], new: [new])
    #expect(report.types.changes.isEmpty && report.renames.isEmpty)
  }
}
