// Objects that only seem to outlive their scope.

import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct NonSurvivorTests {
  @Test func warmUpSurvivorsAreNotReported() throws {
    let server = RequestServer()
    server.requests(100) { $0 < 5 }
    #expect(try server.findings().isEmpty)
  }

  @Test(arguments: [50, 99])
  func singleBestOrLatestObjectIsNotReported(survivor: Int) throws {
    let server = RequestServer()
    server.requests(100) { $0 == survivor }
    #expect(try server.findings().isEmpty)
  }

  @Test func ringBufferIsNotReported() throws {
    let server = RequestServer()
    var ring: [HeapBuilder.Object] = []
    for _ in 0..<100 {
      server.heap.visit(server.outer)
      server.heap.time += 10_000
      ring.append(server.heap.object("App.Session", stack: server.inner))
      if ring.count > 10 { server.heap.free(ring.removeFirst(), stack: server.inner) }
      server.heap.visit(server.outer)
    }
    for session in ring { server.put(session) }
    #expect(try server.findings().isEmpty)
  }

  @Test func variablesWithOneObjectEachAreNotReported() throws {
    let server = RequestServer()
    for index in 0..<200 {
      let session = server.request(keep: index % 20 == 10)
      if index % 20 == 10 { server.heap.global(session) }
    }
    #expect(try server.findings().isEmpty)
  }

  @Test func poolMadeAtTheStartIsNotReported() throws {
    let server = RequestServer()
    for _ in 0..<50 { server.put(server.heap.object("App.Session", stack: server.outer + [0x1000_1400])) }
    for _ in 0..<200 { server.heap.visit(server.inner) }
    #expect(try server.findings().isEmpty)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func growingPopulationWhoseMembersEndAtAnyAgeIsNotReported(seed: UInt64) throws {
    let server = RequestServer(isCalledBack: false)
    var random = SeededRandom(seed: seed)
    var living: [HeapBuilder.Object] = []
    for round in 0..<900 {
      living.append(server.request(keep: true))
      // A third of the births are followed by a death. No age protects from it.
      if round % 3 == 2 {
        server.heap.free(
          living.remove(at: Int(random.next() % UInt64(living.count))), stack: server.inner)
      }
    }
    for session in living { server.put(session) }
    let outlived = try server.findings().count { $0.verdict == .outlived && !$0.isWeak }
    #expect(outlived == 0, "seed \(seed)")
  }

  @Test func levelingOffIsNotReported() throws {
    let server = RequestServer()
    server.levelOff()
    #expect(try server.findings().isEmpty)
  }

  @Test(arguments: [true, false])
  func latestObjectsOfManyThatEndAreNotReported(isCalledBack: Bool) throws {
    let server = RequestServer(isCalledBack: isCalledBack)
    server.requests(300) { $0 >= 240 }
    #expect(try server.findings().isEmpty)
  }

  @Test func objectsOfTheRunningRequestAreNotReported() throws {
    let server = RequestServer()
    func part(_ count: Int) -> [HeapBuilder.Object] {
      (0..<count).map { _ in
        server.heap.time += 100
        return server.heap.object("App.Session", stack: server.inner)
      }
    }
    for _ in 0..<20 {
      server.heap.visit(server.outer)
      server.heap.time += 100_000
      for session in part(20) { server.heap.free(session, stack: server.inner) }
    }
    server.heap.visit(server.outer)
    for session in part(20) { server.put(session) }
    #expect(try server.findings().isEmpty)
    // It is a finding when the request has ended, and others have come and gone.
    server.requests(20)
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 20)
  }

  @Test func collectionInALocalVariableIsNotReported() throws {
    let server = RequestServer()
    let local = server.heap.malloc(4096, stack: server.outer)
    for index in 0..<100 {
      let session = server.request(keep: index % 20 == 10)
      if index % 20 == 10 { server.put(session, in: local) }
    }
    let base: UInt64 = 0x7000_0000_0000
    server.heap.regions.append(MemoryRegion(range: base..<base + 0x10000, kind: .anonymous))
    server.heap.threads = [SnapshotThread(osThread: 1, stackPointer: base + 0x8000, threadPointer: base + 0xF000)]
    server.heap.words[base + 0x8100] = local.address
    #expect(try server.heap.findings(RequestServer.functions).isEmpty)
    // It is a finding if a global variable holds the collection as well.
    server.heap.global(local)
    #expect(try server.findings().count == 1)
  }

  @Test func listsAndTreesOfSiblingsAreNotReported() throws {
    for isList in [true, false] {
      let server = RequestServer()
      var nodes: [HeapBuilder.Object] = []
      // A function that builds a list makes few other objects than the list's nodes.
      for _ in 0..<100 {
        nodes.append(
          isList ? server.heap.object("App.Session", stack: server.inner) : server.request(keep: true))
      }
      server.heap.global(nodes[0])
      for index in 1..<100 {
        server.heap.set(nodes[isList ? index - 1 : (index - 1) / 2], isList ? 0 : (index - 1) % 2, nodes[index])
      }
      #expect(try server.findings().isEmpty)
    }
  }

  @Test func twoSurvivorsAreTooFew() throws {
    let server = RequestServer()
    server.requests(100) { $0 == 30 || $0 == 60 }
    #expect(try server.findings().isEmpty)
  }

  @Test func libraryObjectsAreNotReported() throws {
    let server = RequestServer()
    server.heap.type("Foundation.Session", fields: [])
    for index in 0..<100 {
      server.heap.visit(server.outer)
      server.heap.time += 10_000
      let session = server.heap.object("Foundation.Session", stack: server.inner)
      if index % 20 == 10 { server.put(session) } else { server.heap.free(session, stack: server.inner) }
    }
    #expect(try server.heap.findings(RequestServer.functions).isEmpty)
  }
}
