// Lasting objects that hold survivors, and objects that the program makes to keep others.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct LastingOwnerTests {
  private let server = RequestServer()
  private var heap: HeapBuilder { server.heap }
  private static let sessions = "Swift._ContiguousArrayStorage<App.Session>"
  private static let registries = "Swift._ContiguousArrayStorage<App.Registry>"

  init() {
    heap.type(Self.sessions, fields: nil)
    heap.type(Self.registries, fields: nil)
    heap.type("App.Version", fields: [HeapBuilder.field("session", 0)])
  }

  /// Makes registries with collections of their own. A table has all of them.
  private func registries(_ count: Int) -> [HeapBuilder.Object] {
    let table = heap.object(Self.registries, size: 4096)
    heap.global(table)
    return (0..<count).map { _ in
      let registry = heap.object("App.Registry", stack: [0x1000_1010])
      server.put(registry, in: table)
      let sessions = heap.object(Self.sessions, size: 1024)
      heap.set(registry, 0, sessions)
      return sessions
    }
  }

  /// Some of the registries have one or two forgotten sessions, and one has many. `haveEnded`: other registries ended.
  @Test(arguments: [true, false]) func survivorsOfLastingObjectsAreOneFinding(haveEnded: Bool) throws {
    if haveEnded { heap.free(heap.object("App.Registry", stack: [0x1000_1010])) }
    let lists = registries(8)
    for index in 0..<240 {
      let session = server.request(keep: index % 12 == 6)
      if index % 12 == 6 { server.put(session, in: lists[index % 5 == 0 ? 0 : index / 12 % 8]) }
    }
    let findings = try server.findings().filter { $0.verdict == .outlived }
    let holders = try findings.map { try #require($0.evidence.retention).holder }
    #expect((findings.count == 1) != haveEnded)
    #expect(findings.reduce(0) { $0 + $1.instances } == 20)
    #expect(haveEnded || holders.allSatisfy { $0.contains("sessions") })
    let marks = try findings.map { $0.path[try #require($0.evidence.retention).suspect].type }
    #expect(haveEnded == marks.contains { $0.contains("Registry") })
  }

  /// Each list has two forgotten sessions and two new ones, so none has enough old sessions by itself.
  @Test func shortListsOfLastingObjectsAreJudgedTogether() throws {
    let lists = registries(8)
    for index in 0..<400 {
      let isKept = index % 20 == 6 && index < 320 || index >= 384
      let session = server.request(keep: isKept)
      if isKept { server.put(session, in: lists[(index < 320 ? index / 20 : index) % 8]) }
    }
    #expect(try server.findings().contains { $0.verdict == .outlived && $0.instances >= 16 })
  }

  /// A version keeps a session. `haveEnded`: some versions ended.
  @Test(arguments: [true, false]) func objectsMadeToKeepOthersWeakenASuspicion(haveEnded: Bool) throws {
    for index in 0..<120 {
      let isKept = index % 10 == 6
      let session = server.request(keep: isKept)
      guard isKept else { continue }
      let version = heap.object("App.Version", stack: server.inner)
      heap.set(version, 0, session)
      if haveEnded, index == 6 {
        heap.free(version, stack: server.inner)
        heap.free(session, stack: server.inner)
      } else {
        server.put(version)
      }
    }
    let account = try #require(server.accounts().first { $0.type.contains("Session") })
    #expect(account.entries.contains { $0.rule == .madeToKeep && $0.effect == .weakens } != haveEnded)
  }

  /// Operations wait in a queue of Foundation, which leads to the first and the last one. `isQueue`: the fields of the
  /// list have the names that Foundation uses.
  @Test(arguments: [true, false]) func elementsOfALibrarysListAreNoChain(isQueue: Bool) throws {
    let (next, previous) = isQueue ? ("__nextOperation", "__previousOperation") : ("follower", "leader")
    heap.type(
      "App.Upload", fields: [HeapBuilder.field(next, 0, .unmanaged), HeapBuilder.field(previous, 1, .unmanaged)])
    heap.type("Foundation.OperationQueue", fields: [HeapBuilder.field("first", 0), HeapBuilder.field("last", 1)])
    let queue = heap.object("Foundation.OperationQueue", stack: [0x1000_1010])
    heap.global(queue)
    var uploads: [HeapBuilder.Object] = []
    for index in 0..<180 {
      heap.visit(server.outer)
      heap.time += 10_000
      let upload = heap.object("App.Upload", stack: server.inner)
      heap.visit(server.inner)
      // Every other upload is done at once.
      if index % 2 == 0 {
        heap.free(upload, stack: server.inner)
        continue
      }
      if let last = uploads.last {
        heap.set(last, 0, upload)
        heap.set(upload, 1, last)
      }
      uploads.append(upload)
    }
    heap.set(queue, 0, uploads[0])
    heap.set(queue, 1, uploads[89])
    let found = try server.findings(of: "App.Upload").filter { !$0.isWeak }
    #expect(found.map(\.instances) == (isQueue ? [90] : []))
  }

  /// Callbacks made 20 sessions. A loop that makes as many may collect results.
  @Test(arguments: [true, false]) func objectsOfCallbacksMayBeFewer(isCalledBack: Bool) throws {
    let server = RequestServer(isCalledBack: isCalledBack)
    server.requests(20) { _ in true }
    #expect(try server.findings().filter { !$0.isWeak }.map(\.instances) == (isCalledBack ? [20] : []))
  }
}
