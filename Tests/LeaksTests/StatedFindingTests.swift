// Findings about objects that should be freed according to the program's own statements, and names in findings.

import Testing
import TraceTestSupport

@testable import LeakDetection
@testable import TraceReading
@testable import TraceSymbolication

@Suite struct StatedFindingTests {
  private func mark(
    _ heap: HeapBuilder, _ kind: TraceMark.Kind, number: UInt64, _ change: (inout TraceMark) -> Void = { _ in }
  ) {
    heap.time += 8
    var mark = TraceMark(kind, time: heap.time)
    mark.number = number
    if kind != .scopeEnd {
      (mark.name, mark.file, mark.line) = (
        heap.trace.marks.intern("order"), heap.trace.marks.intern("App/Shop.swift"), 3
      )
    }
    change(&mark)
    heap.trace.mark(mark)
  }

  /// Runs a scope `count` times. Executions selected by `keep` leave a session in the server's store.
  private func scopes(_ server: RequestServer, _ count: Int, keep: (Int) -> Bool) {
    for index in 0..<count {
      mark(server.heap, .scopeBegin, number: UInt64(index + 1))
      let session = server.heap.object("App.Session", stack: server.inner)
      if keep(index) { server.put(session) } else { server.heap.free(session, stack: server.inner) }
      mark(server.heap, .scopeEnd, number: UInt64(index + 1))
    }
  }

  @Test func everyObjectLeftByAStatedScopeIsReported() throws {
    let server = RequestServer()
    scopes(server, 5) { $0 == 3 }
    let finding = try server.finding()
    #expect(finding.verdict == .outlived && finding.instances == 1)
    let place = MarkPlace(name: "order", file: "App/Shop.swift", line: 3)
    #expect(
      finding.evidence.statement == .scope(.init(place: place, executions: 5, executionsWithRest: 1, grace: 0)))
  }

  @Test func objectsLeftByTheFirstOfManyExecutionsAreNotReported() throws {
    let many = RequestServer()
    scopes(many, 5) { $0 == 0 }
    #expect(try many.findings().isEmpty)
    let few = RequestServer()
    scopes(few, 2) { $0 == 0 }
    #expect(try few.findings().count == 1)
  }

  @Test func initialValueOfAStaticVariableDoesNotBelongToTheScope() throws {
    let once: UInt64 = 0x1000_1600
    for (caller, isReported) in [("swift_once", false), ("Cache.fill()", true)] {
      let server = RequestServer()
      mark(server.heap, .scopeBegin, number: 1)
      server.put(server.heap.object("App.Session", stack: server.inner + [once, 0x1000_1700]))
      mark(server.heap, .scopeEnd, number: 1)
      let analysis = try server.heap.analysis(RequestServer.functions.merging([once: caller]) { $1 })
      #expect(analysis.findings().isEmpty == !isReported)
      #expect(analysis.model.statements.scopes.map(\.executionsWithRest) == [isReported ? 1 : 0])
    }
  }

  @Test func unmetExpectationsAreReported() throws {
    let server = RequestServer()
    for index in 0..<4 {
      let session = server.heap.object("App.Session", stack: server.inner)
      mark(server.heap, .expectation, number: UInt64(index + 1)) {
        ($0.address, $0.deadline) = (session.address, $0.time + 80)
      }
      // One expectation is met in time, one late, one object still exists, and one expectation is not due yet.
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
    guard case .expectation(let expectation)? = finding.evidence.statement else {
      Issue.record("not stated")
      return
    }
    #expect(expectation.met == 1 && expectation.late == 1 && expectation.violated == 2)
    #expect(expectation.longestDelay != nil)
  }

  @Test func objectsBelongToTheGenerationTheyWereMadeIn() throws {
    let server = RequestServer()
    server.put(server.heap.object("App.Session"))
    for number in 1...2 {
      mark(server.heap, .generation, number: 0)
      for _ in 0..<number { server.put(server.heap.object("App.Session")) }
      server.put(server.heap.malloc(64))
      server.heap.free(server.heap.object("App.Session"))
    }
    let generations = try server.heap.analysis(RequestServer.functions).model.generations
    #expect(generations.map(\.objects) == [1, 1, 2] && generations.map(\.bytes.rawValue) == [48, 48, 96])
    #expect(generations.map { $0.start?.place.name } == [nil, "order", "order"])
    #expect(generations.last?.shares == [.init(type: "Session", objects: 2, bytes: ByteCount(96))])
    #expect(try RequestServer().heap.analysis().model.generations.isEmpty)
  }

  @Test func statedFindingIsNotAlsoSuspected() throws {
    let server = RequestServer()
    scopes(server, 300) { _ in true }
    let finding = try server.finding()
    #expect(finding.evidence.statement != nil && finding.instances == 300)
  }
}

@Suite struct FindingNameTests {
  private static let discriminator = String(repeating: "48EF", count: 8)

  @Test(arguments: [
    ("static App.(entries in _D)", "static App.entries"), ("(Cache in _D).all", "Cache.all"),
    ("(a in _D).(b in _D)", "a.b"),
    ("static RequestServer.connections", "static RequestServer.connections"), ("f(in: _D)", "f(in: _D)"),
    ("(x in _48EF)", "(x in _48EF)"),
    ("(x in _DG)", "(x in _DG)"),
    ("closure #1 in (f in _D)(a: (Int, Int)) -> ()", "closure #1 in f(a: (Int, Int)) -> ()"), ("", ""), ("(", "("),
    ("((a in _D), b)", "(a, b)"), ("(x in _D", "(x in _D"),
  ])
  func privateNamesLoseTheirFileDiscriminator(name: String, expected: String) {
    func spelled(_ text: String) -> String { text.replacing("_D", with: "_" + Self.discriminator) }
    #expect(DeclarationName.withoutDiscriminators(spelled(name)) == spelled(expected))
  }
}
