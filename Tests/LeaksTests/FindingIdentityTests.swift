// A finding's identity is its cause. It is equal in all runs, and does not depend on the order, number or addresses of
// the instances. Another cause has another identity.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct FindingIdentityTests {
  private typealias Heap = HeapBuilder

  private let functions: [UInt64: String] = [
    0x1000_1010: "open()", 0x1000_1020: "reload()", 0x1000_1030: "Screen.init()", 0x1000_1040: "fill()",
    0x1000_1050: "start()", 0x1000_3000: "waitForAnswer()",
    0x1000_3100: "waitForRetry()",
  ]

  private func declared() -> HeapBuilder {
    let heap = HeapBuilder()
    heap.type("App.Screen", fields: [Heap.field("model", 0)])
    heap.type("App.Model", fields: [Heap.field("screen", 0)])
    heap.type("App.Room", fields: [])
    heap.type("App.Visitor", fields: [Heap.field("room", 0, .unowned)])
    heap.type("App.Guard", fields: [Heap.field("room", 0, .unowned)])
    heap.type("App.Image", fields: [])
    return heap
  }

  /// Each function makes one instance of a cause.
  private static let causes: [@Sendable (HeapBuilder) -> Void] = [
    { heap in FindingIdentityTests.cycle(heap, from: 0x1000_1010, by: 0x1000_1030) },
    { heap in FindingIdentityTests.cycle(heap, from: 0x1000_1020, by: 0x1000_1030) },
    { heap in FindingIdentityTests.cycle(heap, from: 0x1000_1020, by: 0x1000_1020) },
    { heap in _ = heap.object("App.Image", stack: [0x1000_1010]) },
    { heap in _ = heap.object("App.Image", stack: [0x1000_1020]) },
    { heap in _ = heap.malloc(64, stack: [0x1000_1040]) },
    { heap in FindingIdentityTests.task(heap, waitingIn: 0x1000_3000) },
    { heap in FindingIdentityTests.task(heap, waitingIn: 0x1000_3100) },
  ]

  private static func cycle(_ heap: HeapBuilder, from site: UInt64, by maker: UInt64) {
    let screen = heap.object("App.Screen", stack: [site])
    let model = heap.object("App.Model", stack: [site, maker])
    heap.set(screen, 0, model)
    heap.set(model, 0, screen)
  }

  private static func task(_ heap: HeapBuilder, waitingIn function: UInt64) {
    let task = heap.malloc(512, stack: [0x1000_1050])
    heap.words[task.address] = HeapBuilder.taskMetadata
    heap.words[task.address + 0x38] = function
  }

  private func fingerprints(_ causes: [@Sendable (HeapBuilder) -> Void]) throws -> [String] {
    let heap = declared()
    for cause in causes { cause(heap) }
    return try heap.findings(functions).map(\.fingerprint).sorted()
  }

  @Test(arguments: 0..<24 as Range<UInt64>) func fingerprintIgnoresOrderAndNumberOfInstances(seed: UInt64)
    throws
  {
    var random = SeededRandom(seed: seed)
    let expected = try fingerprints(Self.causes)
    // Cycles that the same initialiser creates have one cause, wherever the initialiser is called.
    #expect(expected.count == Self.causes.count - 1 && Set(expected).count == expected.count)
    let instances = Self.causes.flatMap { cause in Array(repeating: cause, count: 1 + Int(random.next() % 5)) }
      .shuffled(using: &random)
    #expect(try fingerprints(instances) == expected)
  }

  @Test func fixedCauseRemovesOnlyItsOwnFingerprint() throws {
    let all = Set(try fingerprints(Self.causes))
    for index in Self.causes.indices.dropFirst(2) {
      var others = Self.causes
      others.remove(at: index)
      #expect(all.subtracting(try fingerprints(others)).count == 1, "cause \(index)")
    }
  }

  @Test(arguments: [false, true]) func fingerprintIgnoresTheOrderOfHoldersInMemory(isSwapped: Bool) throws {
    let heap = declared()
    for _ in 0..<3 {
      // The room's `deinit` has run, and both holders have unowned references to the room.
      let room = heap.object("App.Room", count: 1 << 32 | 2 << 1 | 1)
      let names = ["App.Guard", "App.Visitor"]
      for name in isSwapped ? names.reversed() : names {
        let holder = heap.object(name)
        heap.set(holder, 0, room)
        heap.global(holder)
      }
    }
    let findings = try heap.findings(functions)
    #expect(findings.map(\.verdict) == [.deinitialised])
    #expect(findings.first?.path.first?.type == "Guard" && findings.first?.instances == 3)
  }

  // MARK: Objects that outlive their scope

  /// Returns the finding about sessions that one field keeps. One in ten of the sessions is kept. Two functions make
  /// them.
  private func kept(_ first: Int, _ second: Int, requests: Int = 200) throws -> Finding {
    let server = RequestServer()
    for index in 0..<requests {
      let isSecond = index % 2 == 1
      server.heap.visit(server.outer)
      server.heap.time += 10_000
      let stack = isSecond ? server.outer + [0x1000_1400] : server.inner
      let session = server.heap.object("App.Session", stack: stack)
      server.heap.visit(stack)
      if index % 20 < (isSecond ? second : first) {
        server.put(session)
      } else {
        server.heap.free(session, stack: stack)
      }
      server.heap.visit(server.outer)
    }
    return try server.finding()
  }

  @Test func survivorsInOneCollectionAreOneCauseWhicheverFunctionMadeMost() throws {
    let (few, many) = (try kept(1, 2), try kept(1, 4, requests: 210))
    // The sessions shown in the two findings were made by different functions.
    #expect(few.path.last?.allocation?.function != many.path.last?.allocation?.function)
    #expect(few.instances != many.instances)
    #expect(few.fingerprint == many.fingerprint)
    #expect(FindingIdentity(few).parts == FindingIdentity(many).parts)
  }

  @Test func outlivingAndAccumulatingShareAFingerprint() throws {
    var finding = try kept(1, 2)
    let fingerprint = FindingIdentity(finding).fingerprint
    let survivors = try #require(finding.evidence.survivors)
    finding.evidence = .suspected(.init(kind: .accumulating, figures: nil), survivors)
    #expect(FindingIdentity(finding).fingerprint == fingerprint)
  }

  /// Returns the findings about registered pairs of a session and another object, which do not refer to each other.
  private func pairs(_ other: String, bodies: (Int) -> (session: Int, other: Int)) throws -> [Finding] {
    let server = RequestServer()
    server.heap.type("Foundation.Timer", fields: [HeapBuilder.field("first", 0), HeapBuilder.field("second", 1)])
    server.heap.type(other, fields: [HeapBuilder.field("body", 0)])
    for index in 0..<12 {
      server.heap.visit(server.outer)
      server.heap.time += 10_000
      let (session, second) = (
        server.heap.object("App.Session", size: 64, stack: server.inner), server.heap.object(other, stack: server.inner)
      )
      let timer = server.heap.object("Foundation.Timer", stack: server.inner)
      server.heap.set(timer, 0, session)
      server.heap.set(timer, 1, second)
      let sizes = bodies(index)
      server.heap.set(session, 1, server.heap.malloc(UInt64(sizes.session), stack: server.inner))
      server.heap.set(second, 0, server.heap.malloc(UInt64(sizes.other), stack: server.inner))
      server.put(timer)
      server.heap.visit(server.outer)
    }
    return try server.heap.findings(RequestServer.functions)
  }

  @Test func objectNamedForATimerIgnoresRetainedSizes() throws {
    let first = try pairs("App.Draft") { _ in (1000, 10) }
    let second = try pairs("App.Draft") { _ in (10, 1000) }
    #expect(first.map(\.fingerprint) == second.map(\.fingerprint))
    #expect(first.map { $0.path.last?.type } == ["Session"] && second.map { $0.path.last?.type } == ["Session"])
  }
}
