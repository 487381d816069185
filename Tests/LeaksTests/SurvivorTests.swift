// Objects that are held longer than they should be, in small heaps made by hand.

import Testing
import TraceTestSupport

@testable import LeakDetection

@Suite struct SurvivorTests {
  @Test(arguments: [true, false])
  func fewSurvivorsOfACollectionOutliveTheirSiblings(isCalledBack: Bool) throws {
    let server = RequestServer(isCalledBack: isCalledBack)
    server.requests(100) { $0 % 20 == 10 }
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 5 && !finding.isLibrary)
    #expect(finding.retainedBytes.rawValue == 5 * 48 && finding.retainedBlocks == 5)
    #expect(finding.path.map(\.kind) == [.malloc, .object])
    let survivors = try #require(finding.evidence.survivors)
    let (retention, siblings) = (survivors.retention, survivors.siblings)
    #expect(siblings.births == 100 && siblings.deaths == 95)
    #expect(retention.registration == nil && finding.evidence.statement == nil && retention.origin.kind == .global)
    // The store is the suspect, because it holds many sessions. Each session has its own reference from the store.
    #expect(retention.suspect == 1)
    #expect(siblings.scope?.function == "Server.handle(_:)" && siblings.scopeShare == 100)
    let ages = try #require(retention.ages)
    #expect(ages.youngest < ages.oldest)
    #expect(try #require(siblings.lifetime) < 3e-6)
    #expect(!finding.advice.isEmpty && !finding.fingerprint.isEmpty)
  }

  @Test func fieldThatLeadsToManyObjectsIsTheSuspect() throws {
    let server = RequestServer()
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
    let retention = try #require(finding.evidence.retention)
    #expect(retention.suspect == 2 && retention.holder.contains("sessions"))
  }

  @Test func objectsHeldBySurvivorsCountWithThemWithoutAFindingOfTheirOwn() throws {
    let server = RequestServer()
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

  /// Returns the findings for requests that leave every twentieth session in a log's array or in the store.
  private func findingsOfTwoCollections(_ isLogged: (Int) -> Bool) throws -> [Finding] {
    let server = RequestServer()
    let entries = entries(of: server)
    for index in 0..<400 {
      let session = server.request(keep: index % 20 == 10)
      if index % 20 == 10 { server.put(session, in: isLogged(index) ? entries : server.store) }
    }
    return try server.findings().sorted { $0.instances > $1.instances }
  }

  @Test func survivorsInTwoKindsOfCollectionAreTwoFindings() throws {
    let findings = try findingsOfTwoCollections { $0 % 100 < 60 }
    #expect(findings.allSatisfy { $0.verdict == .outlived && !$0.isWeak })
    #expect(findings.map(\.instances) == [12, 8])
    #expect(Set(findings.map(\.fingerprint)).count == 2)
  }

  @Test func survivorsMadeAfterThoseOfAnotherHolderAreWeak() throws {
    let findings = try findingsOfTwoCollections { $0 < 240 }
    #expect(findings.map(\.instances) == [12, 8])
    #expect(findings.map(\.isWeak) == [false, true])
  }

  @Test func survivorsOfOneClassInOneCollectionAreOneFinding() throws {
    let server = RequestServer()
    // The other sessions outnumber the survivors. Each was made by its own function, and all before the survivors, so
    // the object in the middle is another one.
    for index in 0..<30 {
      server.put(server.heap.object("App.Session", stack: server.outer + [0x1000_2000 + 16 * UInt64(index)]))
    }
    server.requests(200) { $0 % 20 == 10 }
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 40)
    #expect(finding.retainedBytes.rawValue == 40 * 48 && finding.retainedBlocks == 40)
  }

  /// A list of thirty sessions is a weak suspicion, unless closures that captured the sessions are in the list.
  @Test(arguments: [true, false])
  func listOfCallbacksNeedsFewerSurvivorsThanAListOfResults(isCaptured: Bool) throws {
    let server = RequestServer(isCalledBack: false)
    server.heap.type("closure", kind: .closureContext, fields: [HeapBuilder.field("", 0)])
    let registry = server.heap.object("App.Registry", stack: [0x1000_1010])
    let sessions = server.heap.malloc(4096, stack: [0x1000_1010])
    server.heap.global(registry)
    server.heap.set(registry, 0, sessions)
    for _ in 0..<30 {
      let session = server.request(keep: true)
      guard isCaptured else {
        server.put(session, in: sessions)
        continue
      }
      let closure = server.heap.object("closure", stack: server.inner)
      server.heap.set(closure, 0, session)
      server.put(closure, in: sessions)
    }
    let finding = try server.finding()
    #expect(finding.verdict == .accumulating && finding.instances == 30 && finding.isWeak == !isCaptured)
  }

  @Test(arguments: [true, false])
  func objectsThatStopEndingAccumulateFromThenOn(isCalledBack: Bool) throws {
    let server = RequestServer(isCalledBack: isCalledBack)
    server.requests(300) { $0 >= 90 }
    let finding = try server.finding()
    #expect(finding.verdict == .accumulating && finding.instances == 210 && !finding.isWeak)
    let siblings = try #require(finding.evidence.survivors).siblings
    #expect(siblings.births == 300 && siblings.deaths == 90)
  }

  @Test(arguments: [true, false])
  func objectsThatNeverEndAccumulate(isCalledBack: Bool) throws {
    let server = RequestServer(isCalledBack: isCalledBack)
    server.requests(300) { _ in true }
    let finding = try server.finding()
    #expect(finding.verdict == .accumulating && finding.instances == 300)
    let survivors = try #require(finding.evidence.survivors)
    #expect(survivors.siblings.births == 300 && survivors.siblings.deaths == 0)
    #expect(survivors.siblings.scope == nil && survivors.siblings.lifetime == nil)
    #expect(
      survivors.quarters.count == 4 && survivors.quarters.last == 300
        && survivors.quarters == survivors.quarters.sorted())
    #expect(finding.retainedBlocks == 300)
  }

  @Test func collectionUsedAfterItsLoopIsAWeakSuspicion() throws {
    let server = RequestServer(isCalledBack: false)
    let sessions = server.requests(300) { _ in true }
    for session in sessions { server.heap.retain(session) }
    #expect(try server.findings().map(\.isWeak) == [true])
  }

  @Test func objectsMadeOnManyThreadsAccumulateWithoutACallback() throws {
    let server = RequestServer(isCalledBack: false)
    for index in 0..<12 { server.put(server.request(keep: true, thread: UInt32(index % 6 + 1))) }
    let finding = try server.finding()
    #expect(finding.verdict == .accumulating && finding.instances == 12)
    let one = RequestServer(isCalledBack: false)
    one.requests(12) { _ in true }
    #expect(try one.findings().isEmpty)
  }

  @Test func survivorHeldByItsYoungerSiblingIsReported() throws {
    let server = RequestServer()
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

  /// Makes `count` sessions, each held by a node that `register` makes.
  private func registered(
    _ count: Int, of server: RequestServer, _ register: (HeapBuilder.Object) -> HeapBuilder.Object
  ) {
    for _ in 0..<count {
      server.heap.visit(server.outer)
      server.heap.time += 10_000
      let session = server.heap.object("App.Session", stack: server.inner)
      server.put(register(session))
      server.heap.visit(server.outer)
    }
  }

  @Test(
    arguments: [
      ("Foundation.Timer", .timer), ("Foundation.NSNotificationReceiver", .observer),
      ("Dispatch.DispatchSourceTimer", .dispatchSource),
      ("Dispatch.DispatchWorkItem", .dispatchWork), ("NIOCore.RepeatedTask", .eventLoop),
      ("FoundationNetworking.URLSession", .urlSession),
    ] as [(String, Finding.Registration)])
  func objectsKeptByARegistrationAreReportedWithIt(type: String, kind: Finding.Registration) throws {
    let server = RequestServer()
    server.heap.type(type, fields: [HeapBuilder.field("target", 0)])
    registered(4, of: server) { session in
      let node = server.heap.object(type, stack: server.inner)
      server.heap.set(node, 0, session)
      return node
    }
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 4 && finding.evidence.retention?.registration == kind)
    let suspect = try #require(finding.evidence.retention).suspect
    #expect(finding.path.last?.type == "Session" && finding.path[suspect - 1].qualifiedType == type)
  }

  /// This is like repeated tasks that have been due once: the event loop holds them, and they hold the objects that
  /// they run.
  @Test func repeatedTasksOfTwoEventLoopsAreOneFinding() throws {
    let server = RequestServer()
    let heap = server.heap
    heap.type("NIOPosix.SelectableEventLoop", fields: [HeapBuilder.field("_scheduledTasks", 0)])
    heap.type("Swift._ContiguousArrayStorage<NIOPosix.ScheduledTask>", fields: nil)
    heap.type("NIOCore.RepeatedTask", fields: [HeapBuilder.field("task", 0)])
    heap.type("NIOCore.EventLoopFuture", fields: [])
    let lists = (0..<2).map { _ in
      let loop = heap.object("NIOPosix.SelectableEventLoop", stack: [0x1000_1010])
      let list = heap.object("Swift._ContiguousArrayStorage<NIOPosix.ScheduledTask>", size: 4096, stack: [0x1000_1010])
      heap.global(loop)
      heap.set(loop, 0, list)
      return list
    }
    for index in 0..<61 {
      let session = server.request(keep: true)
      let task = heap.object("NIOCore.RepeatedTask", stack: server.inner)
      heap.set(task, 0, session)
      server.put(task, in: lists[index % 2])
      // There is one future fewer than sessions, so the future in the middle belongs to the other loop.
      if index > 0 { server.put(heap.object("NIOCore.EventLoopFuture", stack: server.inner), in: lists[index % 2]) }
      heap.visit(server.outer)
    }
    let findings = try heap.findings(RequestServer.functions)
    let finding = try #require(findings.first)
    #expect(
      findings.count == 1 && finding.verdict == .outlived && finding.instances == 61
        && finding.path.last?.qualifiedType == "App.Session")
    #expect(finding.evidence.retention?.registration == .eventLoop)
  }

  @Test func repeatedTasksWithoutObjectsAreReported() throws {
    let server = RequestServer()
    server.heap.type("NIOPosix.SelectableEventLoop", fields: [HeapBuilder.field("_scheduledTasks", 0)])
    server.heap.type("NIOCore.RepeatedTask", fields: [])
    let loop = server.heap.object("NIOPosix.SelectableEventLoop", stack: [0x1000_1010])
    server.heap.global(loop)
    server.heap.set(loop, 0, server.store)
    for _ in 0..<20 {
      server.request(keep: false)
      server.put(server.heap.object("NIOCore.RepeatedTask", stack: server.inner))
      server.heap.visit(server.outer)
    }
    #expect(try server.finding(of: "NIOCore.RepeatedTask").instances == 20)
  }

  @Test func growthIsMeasuredByWorkNotTime() throws {
    func growth(isSlow: (Int) -> Bool) throws -> [Int]? {
      let server = RequestServer()
      for index in 0..<400 {
        if isSlow(index) { server.heap.time += 1_000_000_000 }
        let session = server.request(keep: index % 2 == 0)
        if index % 2 == 0 { server.put(session) }
      }
      return try server.finding().evidence.growth
    }
    let steady = try growth { _ in false }
    #expect(steady?.count == 4 && (steady?.first ?? 0) < 70)
    #expect(try growth { $0 < 4 } == steady && growth { $0 > 390 } == steady)
  }

  /// A server whose tasks each keep a session.
  private func server(withTasks count: Int) -> RequestServer {
    let server = RequestServer()
    registered(count, of: server) { session in
      let task = server.heap.malloc(512, stack: server.inner)
      server.heap.words[task.address] = HeapBuilder.taskMetadata
      server.heap.words[task.address + 0x100] = session.address
      return task
    }
    return server
  }

  @Test func fewTasksWithoutAnEndedOneAreWorkInProgress() throws {
    #expect(try server(withTasks: 7).heap.findings(RequestServer.functions).isEmpty)
  }

  @Test func objectsKeptByATaskAreReportedWithIt() throws {
    let server = server(withTasks: 8)
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 8 && finding.evidence.retention?.registration == .task)
    #expect(finding.path.map(\.kind) == [.malloc, .task, .object])
    // The tasks are reported only through the objects that they keep.
    #expect(try server.heap.findings(RequestServer.functions).count == 1)
  }

  /// Registers sessions with a timer each. `owner`: the type of an object between the timer and the session.
  private func timers(_ count: Int, of server: RequestServer, owner: (Int) -> String?) {
    server.heap.type("Foundation.Timer", fields: [HeapBuilder.field("target", 0)])
    var index = 0
    registered(count, of: server) { session in
      let timer = server.heap.object("Foundation.Timer", stack: server.inner)
      var target = session
      if let type = owner(index) {
        target = server.heap.object(type, stack: server.outer + [0x1000_1400])
        server.heap.set(target, 0, session)
      }
      server.heap.set(timer, 0, target)
      index += 1
      return timer
    }
  }

  @Test func objectsOfDifferentTypesThatRegisterThemselvesAreNotReported() throws {
    let server = RequestServer()
    let types = ["App.Importer", "App.Indexer", "App.Mailer", "App.Archive"]
    for type in types { server.heap.type(type, fields: [HeapBuilder.field("session", 0)]) }
    timers(4, of: server) { types[$0] }
    #expect(try server.heap.findings(RequestServer.functions).isEmpty)
    let other = RequestServer()
    other.heap.type("App.Importer", fields: [HeapBuilder.field("session", 0)])
    timers(4, of: other) { _ in "App.Importer" }
    #expect(try other.heap.findings(RequestServer.functions).count == 1)
  }

  @Test(arguments: [false, true]) func registeredObjectsAreReportedOnlyIfOlderThanOthersOfTheirType(
    isOlder: Bool
  ) throws {
    let server = RequestServer()
    let work = isOlder ? 5 : 400
    // This session was made elsewhere, and lives for some time.
    let other = server.heap.object("App.Session", stack: server.outer + [0x1000_1400])
    for _ in 0..<work { server.heap.visit(server.inner) }
    if isOlder { server.heap.free(other, stack: server.outer) }
    timers(5, of: server) { _ in nil }
    for _ in 0..<100 { server.heap.visit(server.inner) }
    if !isOlder { server.heap.free(other, stack: server.outer) }
    #expect(try server.findings().count == (isOlder ? 1 : 0))
  }

  @Test func twoRegistrationsAreTooFew() throws {
    let server = RequestServer()
    server.heap.type("Foundation.Timer", fields: [HeapBuilder.field("target", 0)])
    registered(2, of: server) { session in
      let timer = server.heap.object("Foundation.Timer", stack: server.inner)
      server.heap.set(timer, 0, session)
      return timer
    }
    #expect(try server.heap.findings(RequestServer.functions).isEmpty)
  }

  @Test func singleReferencesFromOrdinaryObjectsAreNotARegistration() throws {
    let server = RequestServer()
    server.heap.type("App.Slot", fields: [HeapBuilder.field("target", 0)])
    registered(4, of: server) { session in
      let slot = server.heap.object("App.Slot", stack: server.inner)
      server.heap.set(slot, 0, session)
      return slot
    }
    #expect(try server.heap.findings(RequestServer.functions).isEmpty)
  }

  /// Makes a log with an array of sessions, which a variable holds. Returns the array.
  private func entries(of server: RequestServer) -> HeapBuilder.Object {
    server.heap.type("App.Log", fields: [HeapBuilder.field("entries", 0)])
    server.heap.type("Swift._ContiguousArrayStorage<App.Session>", fields: nil)
    let log = server.heap.object("App.Log", stack: [0x1000_1010])
    let entries = server.heap.object("Swift._ContiguousArrayStorage<App.Session>", size: 4096, stack: [0x1000_1010])
    server.heap.global(log)
    server.heap.set(log, 0, entries)
    return entries
  }

  /// Returns the finding for sessions in an array that only grows. `reads`: whether the program iterates over the array
  /// after each request.
  private func collected(_ reads: (Int) -> Bool, inTheEnd: Bool, usesElements: Bool = false) throws -> Finding {
    let server = RequestServer()
    let entries = entries(of: server)
    var sessions: [HeapBuilder.Object] = []
    for index in 0..<300 {
      sessions.append(server.request(keep: true))
      server.put(sessions[index], in: entries)
      if reads(index) { server.heap.retain(entries) }
    }
    if inTheEnd {
      for _ in 0..<40 { server.heap.visit(server.outer) }
      server.heap.retain(entries)
    }
    if usesElements { for session in sessions { server.heap.retain(session) } }
    return try server.finding()
  }

  @Test func collectionReadOnceAtTheEndIsAWeakSuspicion() throws {
    #expect(try collected({ _ in false }, inTheEnd: false).isWeak == false)
    #expect(try collected({ _ in false }, inTheEnd: true).isWeak)
    #expect(try collected({ _ in true }, inTheEnd: true).isWeak == false)
  }

  @Test func occasionalPassOverACollectionDoesNotUseItsElements() throws {
    #expect(try collected({ _ in true }, inTheEnd: true, usesElements: true).isWeak)
    #expect(try collected({ $0 == 8 }, inTheEnd: true, usesElements: true).isWeak == false)
  }

  /// Returns the findings for one array whose elements two lines make. `ends`: whether one element of the first line
  /// ends for each new element of the second line.
  private func findingsOfWindow(_ ends: Bool) throws -> [Finding] {
    let server = RequestServer()
    let entries = entries(of: server)
    let first = (0..<100).map { _ in server.heap.object("App.Session", stack: [0x1000_1010, 0x1000_1400]) }
    let second = (0..<60).map { index in
      if ends { server.heap.free(first[index], stack: server.inner) }
      return server.request(keep: true)
    }
    for session in first[(ends ? 60 : 0)...] + second { server.put(session, in: entries) }
    return try server.findings()
  }

  @Test func slidingWindowKeepsItsSize() throws {
    #expect(try findingsOfWindow(true).isEmpty)
    #expect(try findingsOfWindow(false).contains { $0.verdict == .accumulating && !$0.isWeak })
  }
}
