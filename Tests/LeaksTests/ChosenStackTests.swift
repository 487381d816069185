// Passes over the events that look up stacks only for chosen addresses.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading

@Suite struct ChosenStackTests {
  @Test func lookupOfChosenStacksMatchesLookupOfAllStacks() throws {
    let server = RequestServer()
    for index in 0..<200 {
      let session = server.request(keep: index % 20 == 10)
      if index % 20 == 10 { server.heap.retain(session, stack: server.inner) }
      let other = server.heap.object("App.Registry", stack: server.outer + [0x1000_1400])
      server.heap.retain(other, stack: server.outer + [0x1000_1500 + 16 * UInt64(index)])
    }
    let reader = try server.heap.reader()
    let analysis = AllocationAnalysis(reader, snapshot: reader.snapshots.last)
    let sites = Set(
      analysis.sites.indices.filter { analysis.definitions.types[analysis.sites[$0].type]?.name == "App.Session" }
        .map { SiteID(UInt32($0)) })
    #expect(!sites.isEmpty)
    let chosen = RetainHistory.collect(blocks: [], sites: sites, until: .max, in: reader).shapes
    let all = RetainHistory.collect(.sites(sites), until: .max, in: reader).shapes
    #expect(chosen.mapValues(\.blocks) == all.mapValues(\.blocks) && chosen.count == 2)
  }

  @Test func lookupOfChosenStacksOmitsOtherStacks() throws {
    let server = RequestServer()
    let session = server.request(keep: true)
    for index in 0..<1_000 { server.heap.retain(server.store, stack: [0x1000_1010, 0x1000_2000 + 16 * UInt64(index)]) }
    let reader = try server.heap.reader()
    let analysis = AllocationAnalysis(reader, snapshot: reader.snapshots.last)
    let block = try #require(analysis.blocksAtSnapshot.first { $0.address == session.address })
    let before = analysis.definitions.stacks.nodeCount
    #expect(RetainHistory.histories(of: [block], until: .max, in: reader).count == 1)
    #expect(analysis.definitions.stacks.nodeCount < before + 100)
  }
}
