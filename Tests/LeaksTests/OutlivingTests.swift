// Objects that something holds and that should have been gone, in small heaps made by hand.

import Testing
import TraceTestSupport

@testable import TraceAnalysis

/// A program that handles one request after the other, each in a call of its own.
private final class Server {
  let heap = HeapBuilder()
  /// Memory of a collection, which a global holds.
  let store: HeapBuilder.Object
  private var used: [UInt64: UInt64] = [:]

  static let callout: UInt64 = 0x1000_1100
  static let serve: UInt64 = 0x1000_1200
  static let handle: UInt64 = 0x1000_1300
  static let functions: [UInt64: String] = [
    0x1000_1010: "main()", callout: "system _dispatch_client_callout", serve: "Server.serve()", handle: "Server.handle(_:)",
    0x1000_1400: "Server.prepare()",
  ]

  /// From the outermost frame to the function that serves: a queue calls it, or a loop in it.
  let outer: [UInt64]
  var inner: [UInt64] { outer + [Self.handle] }

  init(isCalledBack: Bool = true) {
    outer = (isCalledBack ? [Self.callout] : [0x1000_1010]) + [Self.serve]
    heap.type("App.Session", fields: [HeapBuilder.field("next", 0), HeapBuilder.field("body", 1)])
    heap.type("App.Registry", fields: [HeapBuilder.field("sessions", 0)])
    store = heap.malloc(1 << 15, stack: [0x1000_1010])
    heap.global(store)
  }

  /// Stores a reference in the next free word of a block.
  func put(_ object: HeapBuilder.Object, in block: HeapBuilder.Object? = nil) {
    let block = block ?? store
    heap.words[block.address + 16 + 8 * used[block.address, default: 0]] = object.address
    used[block.address, default: 0] += 1
  }

  /// A request that makes a session and ends it unless `keep` says that something else has it.
  @discardableResult
  func request(keep: Bool, thread: UInt32 = 1) -> HeapBuilder.Object {
    heap.visit(outer, thread: thread)
    heap.time += 10_000
    let session = heap.object("App.Session", stack: inner, thread: thread)
    heap.visit(inner, thread: thread)
    if !keep { heap.free(session, stack: inner, thread: thread) }
    heap.visit(outer, thread: thread)
    return session
  }

  /// `count` requests, of which those that `keep` chooses leave their session in the store.
  @discardableResult
  func requests(_ count: Int, keep: (Int) -> Bool = { _ in false }) -> [HeapBuilder.Object] {
    (0..<count).compactMap { index in
      let session = request(keep: keep(index))
      if !keep(index) { return nil }
      put(session)
      return session
    }
  }

  /// Without what is said of other types.
  func findings(of type: String = "App.Session") throws -> [Finding] {
    try heap.findings(Self.functions).filter { $0.path.last?.qualifiedType == type }
  }

  func finding(of type: String = "App.Session") throws -> Finding {
    let findings = try findings(of: type)
    #expect(findings.count == 1)
    return try #require(findings.first)
  }
}

@Suite struct OutlivingTests {
  @Test(arguments: [true, false])
  func fewThatStayInACollectionWhileTheirSiblingsEndHaveOutlivedTheirScope(isCalledBack: Bool) throws {
    let server = Server(isCalledBack: isCalledBack)
    server.requests(100) { $0 % 20 == 10 }
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 5 && !finding.isLibrary)
    #expect(finding.retainedBytes.rawValue == 5 * 48 && finding.retainedBlocks == 5)
    #expect(finding.path.map(\.kind) == [.malloc, .object])
    let outliving = try #require(finding.outliving)
    #expect(outliving.births == 100 && outliving.deaths == 95)
    #expect(outliving.registration == nil && outliving.statement == nil && outliving.origin.kind == .global)
    // The store is what leads to many; the reference that leaves it is each one's own.
    #expect(outliving.suspect == 1)
    #expect(outliving.scope?.function == "Server.handle(_:)" && outliving.scopeShare == 100)
    #expect(try #require(outliving.youngest) < #require(outliving.oldest))
    #expect(try #require(outliving.siblingLifetime) < 3e-6)
    #expect(!finding.advice.isEmpty && !finding.fingerprint.isEmpty)
  }

  @Test func theFieldThatLeadsToManyIsTheSuspect() throws {
    let server = Server()
    let registry = server.heap.object("App.Registry", stack: [0x1000_1010])
    let sessions = server.heap.malloc(4096, stack: [0x1000_1010])
    server.heap.global(registry)
    server.heap.set(registry, 0, sessions)
    for index in 0..<60 {
      let session = server.request(keep: index % 12 == 6)
      if index % 12 == 6 { server.put(session, in: sessions) }
    }
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 5)
    #expect(finding.path.map(\.type).first == "Registry" && finding.path.first?.reference?.name == "sessions")
    #expect(finding.outliving?.suspect == 2 && finding.outliving?.holder.contains("sessions") == true)
  }

  @Test func whatHangsFromSurvivorsIsCountedInThemAndNoFindingOfItsOwn() throws {
    let server = Server()
    server.heap.type("App.Body", fields: [])
    for index in 0..<100 {
      server.heap.visit(server.outer)
      server.heap.time += 10_000
      let session = server.heap.object("App.Session", stack: server.inner)
      let body = server.heap.object("App.Body", size: 1000, stack: server.inner)
      server.heap.set(session, 1, body)
      if index % 20 == 10 {
        server.put(session)
      } else {
        server.heap.free(body, stack: server.inner)
        server.heap.free(session, stack: server.inner)
      }
    }
    server.heap.visit(server.outer)
    let finding = try server.finding()
    #expect(finding.instances == 5 && finding.retainedBlocks == 10 && finding.retainedBytes.rawValue == 5 * 1048)
    #expect(try server.findings(of: "App.Body").isEmpty)
  }

  @Test func survivorsInTwoKindsOfCollectionAreTwoFindings() throws {
    let server = Server()
    server.heap.type("App.Log", fields: [HeapBuilder.field("entries", 0)])
    server.heap.type("Swift._ContiguousArrayStorage<App.Session>", fields: nil)
    let log = server.heap.object("App.Log", stack: [0x1000_1010])
    let entries = server.heap.object("Swift._ContiguousArrayStorage<App.Session>", size: 4096, stack: [0x1000_1010])
    server.heap.global(log)
    server.heap.set(log, 0, entries)
    for index in 0..<200 {
      let session = server.request(keep: index % 20 == 10)
      if index % 20 == 10 { server.put(session, in: index < 120 ? entries : server.store) }
    }
    let findings = try server.findings()
    #expect(findings.count == 2 && findings.allSatisfy { $0.verdict == .outlived })
    #expect(Set(findings.map(\.instances)) == [6, 4])
    #expect(Set(findings.map(\.fingerprint)).count == 2)
  }

  @Test(arguments: [true, false])
  func whatNeverEndsAndGoesOnBeingMadeAccumulates(isCalledBack: Bool) throws {
    let server = Server(isCalledBack: isCalledBack)
    server.requests(300) { _ in true }
    let finding = try server.finding()
    #expect(finding.verdict == .accumulating && finding.instances == 300)
    let outliving = try #require(finding.outliving)
    #expect(outliving.births == 300 && outliving.deaths == 0 && outliving.scope == nil && outliving.siblingLifetime == nil)
    #expect(outliving.growth.count == 4 && outliving.growth.last == 300 && outliving.growth == outliving.growth.sorted())
    #expect(finding.retainedBlocks == 300)
  }

  @Test func whatALoopCollectsAndUsesAfterwardsDoesNotAccumulate() throws {
    let server = Server(isCalledBack: false)
    let sessions = server.requests(300) { _ in true }
    for session in sessions { server.heap.retain(session) }
    #expect(try server.findings().isEmpty)
  }

  @Test func whatIsMadeOnManyThreadsAccumulatesWithoutACallback() throws {
    let server = Server(isCalledBack: false)
    for index in 0..<12 { server.put(server.request(keep: true, thread: UInt32(index % 6 + 1))) }
    let finding = try server.finding()
    #expect(finding.verdict == .accumulating && finding.instances == 12)
    let one = Server(isCalledBack: false)
    one.requests(12) { _ in true }
    #expect(try one.findings().isEmpty)
  }

  @Test func oneThatItsYoungerSiblingHoldsIsTold() throws {
    let server = Server()
    var kept: [HeapBuilder.Object] = []
    for index in 0..<40 {
      let session = server.request(keep: index == 10 || index == 11)
      if index == 10 || index == 11 { kept.append(session) }
    }
    server.heap.set(kept[1], 0, kept[0])
    server.heap.global(kept[1])
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 1)
    #expect(finding.path.map(\.type) == ["Session", "Session"] && finding.path.first?.reference?.name == "next")
    #expect(finding.path.last?.address.rawValue == kept[0].address)
  }

  // MARK: Registrations

  /// `count` sessions, each held by a node of its own that `register` makes.
  private func registered(_ count: Int, of server: Server, _ register: (HeapBuilder.Object) -> HeapBuilder.Object) {
    for _ in 0..<count {
      server.heap.visit(server.outer)
      server.heap.time += 10_000
      let session = server.heap.object("App.Session", stack: server.inner)
      server.put(register(session))
      server.heap.visit(server.outer)
    }
  }

  @Test(arguments: [
    ("Foundation.Timer", .timer), ("Foundation.NSNotificationReceiver", .observer), ("Dispatch.DispatchSourceTimer", .dispatchSource),
    ("Dispatch.DispatchWorkItem", .dispatchWork), ("NIOCore.RepeatedTask", .eventLoop), ("FoundationNetworking.URLSession", .urlSession),
  ] as [(String, Finding.Registration)])
  func objectsThatARegistrationKeepsAreToldWithIt(type: String, kind: Finding.Registration) throws {
    let server = Server()
    server.heap.type(type, fields: [HeapBuilder.field("target", 0)])
    registered(4, of: server) { session in
      let node = server.heap.object(type, stack: server.inner)
      server.heap.set(node, 0, session)
      return node
    }
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 4 && finding.outliving?.registration == kind)
    #expect(finding.path.last?.type == "Session" && finding.path[finding.outliving!.suspect - 1].qualifiedType == type)
  }

  @Test func objectsThatATaskKeepsAreToldWithIt() throws {
    let server = Server()
    registered(4, of: server) { session in
      let task = server.heap.malloc(512, stack: server.inner)
      server.heap.words[task.address] = HeapBuilder.taskMetadata
      server.heap.words[task.address + 0x100] = session.address
      return task
    }
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 4 && finding.outliving?.registration == .task)
    #expect(finding.path.map(\.kind) == [.malloc, .task, .object])
    // The tasks are told of by what they keep.
    #expect(try server.heap.findings(Server.functions).count == 1)
  }

  @Test func twoRegistrationsAreTooFew() throws {
    let server = Server()
    server.heap.type("Foundation.Timer", fields: [HeapBuilder.field("target", 0)])
    registered(2, of: server) { session in
      let timer = server.heap.object("Foundation.Timer", stack: server.inner)
      server.heap.set(timer, 0, session)
      return timer
    }
    #expect(try server.heap.findings(Server.functions).isEmpty)
  }

  @Test func fewInAnOrdinaryObjectEachAreNotRegistered() throws {
    let server = Server()
    server.heap.type("App.Slot", fields: [HeapBuilder.field("target", 0)])
    registered(4, of: server) { session in
      let slot = server.heap.object("App.Slot", stack: server.inner)
      server.heap.set(slot, 0, session)
      return slot
    }
    #expect(try server.heap.findings(Server.functions).isEmpty)
  }

  // MARK: What is no leak

  @Test func survivorsOfTheWarmUpAreNoFinding() throws {
    let server = Server()
    server.requests(100) { $0 < 5 }
    #expect(try server.findings().isEmpty)
  }

  @Test(arguments: [50, 99])
  func theBestSoFarAndTheLatestAreNoFinding(survivor: Int) throws {
    let server = Server()
    server.requests(100) { $0 == survivor }
    #expect(try server.findings().isEmpty)
  }

  @Test func aRingBufferIsNoFinding() throws {
    let server = Server()
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

  @Test func aPoolMadeAtTheStartIsNoFinding() throws {
    let server = Server()
    for _ in 0..<50 { server.put(server.heap.object("App.Session", stack: server.outer + [0x1000_1400])) }
    for _ in 0..<200 { server.heap.visit(server.inner) }
    #expect(try server.findings().isEmpty)
  }

  @Test func whatLevelsOffIsNoFinding() throws {
    let server = Server()
    server.requests(60) { _ in true }
    for _ in 0..<600 {
      server.heap.time += 10_000
      server.heap.visit(server.inner)
      server.heap.visit(server.outer)
    }
    #expect(try server.findings().isEmpty)
  }

  @Test func whatTheRunningRequestHasMadeIsNoFinding() throws {
    let server = Server()
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
    // It is one when the request is over, and others have come and gone.
    server.requests(20)
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 20)
  }

  @Test func aCollectionThatALocalVariableHoldsIsNoFinding() throws {
    let server = Server()
    let local = server.heap.malloc(4096, stack: server.outer)
    for index in 0..<100 {
      let session = server.request(keep: index % 20 == 10)
      if index % 20 == 10 { server.put(session, in: local) }
    }
    let base: UInt64 = 0x7000_0000_0000
    server.heap.regions.append(MemoryRegion(range: base..<base + 0x10000, kind: .anonymous))
    server.heap.threads = [SnapshotThread(osThread: 1, stackPointer: base + 0x8000, threadPointer: base + 0xF000)]
    server.heap.words[base + 0x8100] = local.address
    #expect(try server.heap.findings(Server.functions).isEmpty)
    // It is, if a global variable holds it as well.
    server.heap.global(local)
    #expect(try server.findings().count == 1)
  }

  @Test func listsAndTreesOfSiblingsAreNoFinding() throws {
    for isList in [true, false] {
      let server = Server()
      var nodes: [HeapBuilder.Object] = []
      for _ in 0..<100 { nodes.append(server.request(keep: true)) }
      server.heap.global(nodes[0])
      for index in 1..<100 { server.heap.set(nodes[isList ? index - 1 : (index - 1) / 2], isList ? 0 : (index - 1) % 2, nodes[index]) }
      #expect(try server.findings().isEmpty)
    }
  }

  @Test func twoSurvivorsAreTooFew() throws {
    let server = Server()
    server.requests(100) { $0 == 30 || $0 == 60 }
    #expect(try server.findings().isEmpty)
  }

  @Test func objectsOfLibrariesAreNotToldOf() throws {
    let server = Server()
    server.heap.type("Foundation.Session", fields: [])
    for index in 0..<100 {
      server.heap.visit(server.outer)
      server.heap.time += 10_000
      let session = server.heap.object("Foundation.Session", stack: server.inner)
      if index % 20 == 10 { server.put(session) } else { server.heap.free(session, stack: server.inner) }
    }
    #expect(try server.heap.findings(Server.functions).isEmpty)
  }
}

@Suite struct StatedFindingTests {
  private func mark(_ heap: HeapBuilder, _ kind: TraceMark.Kind, number: UInt64, _ change: (inout TraceMark) -> Void = { _ in }) {
    heap.time += 8
    var mark = TraceMark(kind, time: heap.time)
    mark.number = number
    if kind != .scopeEnd { (mark.name, mark.file, mark.line) = (heap.trace.marks.intern("order"), heap.trace.marks.intern("App/Shop.swift"), 3) }
    change(&mark)
    heap.trace.mark(mark)
  }

  /// Executions of a scope, of which some leave a session in the server's store.
  private func scopes(_ server: Server, _ count: Int, keep: (Int) -> Bool) {
    for index in 0..<count {
      mark(server.heap, .scopeBegin, number: UInt64(index + 1))
      let session = server.heap.object("App.Session", stack: server.inner)
      if keep(index) { server.put(session) } else { server.heap.free(session, stack: server.inner) }
      mark(server.heap, .scopeEnd, number: UInt64(index + 1))
    }
  }

  @Test func whatAStatedScopeLeavesIsAFindingHoweverFew() throws {
    let server = Server()
    scopes(server, 5) { $0 == 3 }
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 1)
    guard case .scope(let place, let executions, let withRest, let grace)? = finding.outliving?.statement else {
      Issue.record("not stated")
      return
    }
    #expect(place == MarkPlace(name: "order", file: "App/Shop.swift", line: 3) && executions == 5 && withRest == 1 && grace == 0)
  }

  @Test func whatTheFirstOfManyExecutionsLeavesIsNone() throws {
    let many = Server()
    scopes(many, 5) { $0 == 0 }
    #expect(try many.findings().isEmpty)
    let few = Server()
    scopes(few, 2) { $0 == 0 }
    #expect(try few.findings().count == 1)
  }

  @Test func expectationsThatAreNotMetAreFindings() throws {
    let server = Server()
    for index in 0..<4 {
      let session = server.heap.object("App.Session", stack: server.inner)
      mark(server.heap, .expectation, number: UInt64(index + 1)) { ($0.address, $0.deadline) = (session.address, $0.time + 80) }
      // One in time, one late, one there still, and one not due yet.
      if index == 0 { server.heap.free(session, stack: server.inner) }
      if index == 2 { server.put(session) }
      server.heap.time += 800
      if index == 1 { server.heap.free(session, stack: server.inner) }
      if index == 3 { server.put(session) }
    }
    let last = server.heap.object("App.Session", stack: server.inner)
    mark(server.heap, .expectation, number: 9) { ($0.address, $0.deadline) = (last.address, $0.time + 1 << 30) }
    server.put(last)
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 2)
    guard case .expectation(_, let met, let late, let violated, let delay)? = finding.outliving?.statement else {
      Issue.record("not stated")
      return
    }
    #expect(met == 1 && late == 1 && violated == 2 && delay != nil)
  }

  @Test func objectsStandInTheGenerationTheyWereMadeIn() throws {
    let server = Server()
    server.put(server.heap.object("App.Session"))
    for number in 1...2 {
      mark(server.heap, .generation, number: 0)
      for _ in 0..<number { server.put(server.heap.object("App.Session")) }
      server.put(server.heap.malloc(64))
      server.heap.free(server.heap.object("App.Session"))
    }
    let generations = try server.heap.analysis(Server.functions).generations
    #expect(generations.map(\.objects) == [1, 1, 2] && generations.map(\.bytes.rawValue) == [48, 48, 96])
    #expect(generations.map { $0.start?.place.name } == [nil, "order", "order"])
    #expect(generations.last?.shares == [.init(type: "Session", objects: 2, bytes: ByteCount(96))])
    #expect(try Server().heap.analysis().generations.isEmpty)
  }

  @Test func whatIsStatedIsNotConcludedAsWell() throws {
    let server = Server()
    scopes(server, 300) { _ in true }
    let finding = try server.finding()
    #expect(finding.outliving?.statement != nil && finding.instances == 300)
  }
}

@Suite struct FindingNameTests {
  private static let discriminator = String(repeating: "48EF", count: 8)

  @Test(arguments: [
    ("static App.(entries in _D)", "static App.entries"), ("(Cache in _D).all", "Cache.all"), ("(a in _D).(b in _D)", "a.b"),
    ("static Server.connections", "static Server.connections"), ("f(in: _D)", "f(in: _D)"), ("(x in _48EF)", "(x in _48EF)"),
    ("(x in _DG)", "(x in _DG)"), ("closure #1 in (f in _D)(a: (Int, Int)) -> ()", "closure #1 in f(a: (Int, Int)) -> ()"), ("", ""), ("(", "("),
    ("((a in _D), b)", "(a, b)"), ("(x in _D", "(x in _D"),
  ])
  func privateNamesLoseWhatTellsTheirFiles(name: String, expected: String) {
    func spelled(_ text: String) -> String { text.replacing("_DG", with: "_" + Self.discriminator + "G").replacing("_D", with: "_" + Self.discriminator) }
    #expect(FindingNaming.withoutDiscriminators(spelled(name)) == spelled(expected))
  }
}
