// What came of the scopes, expectations and generations that a program states.

import Testing
import TraceTestSupport

@testable import TraceAnalysis

/// A program in the making that states things; each event is 8 ticks after the one before.
private struct Program {
  var trace = TraceBuilder()
  var time: UInt64 = 800
  private var nextExpectation: UInt64 = 0

  private func mark(_ kind: TraceMark.Kind, _ name: String, at time: UInt64, number: UInt64 = 0) -> TraceMark {
    var mark = TraceMark(kind, time: time)
    mark.number = number
    (mark.name, mark.file, mark.line) = (trace.marks.intern(name), trace.marks.intern("App/Main.swift"), 7)
    return mark
  }

  mutating func begin(_ name: String, _ number: UInt64, thread: UInt32 = 1, task: UInt64 = 0) {
    time += 8
    trace.mark(mark(.scopeBegin, name, at: time, number: number), thread: thread, task: task)
  }

  mutating func end(_ number: UInt64, grace: UInt64 = 0, thread: UInt32 = 1, task: UInt64 = 0) {
    time += 8
    var mark = mark(.scopeEnd, "", at: time, number: number)
    (mark.grace, mark.name, mark.file, mark.line) = (grace, 0, 0, 0)
    trace.mark(mark, thread: thread, task: task)
  }

  mutating func generation(_ name: String) {
    time += 8
    trace.mark(mark(.generation, name, at: time))
  }

  /// `within`: ticks from now.
  mutating func expect(_ address: UInt64, within: UInt64, _ name: String = "gone") {
    time += 8
    nextExpectation += 1
    var mark = mark(.expectation, name, at: time, number: nextExpectation)
    (mark.address, mark.deadline) = (address, time + within)
    trace.mark(mark)
  }

  /// A Swift object; with a size, memory for a task.
  mutating func make(_ address: UInt64, size: UInt64? = nil, thread: UInt32 = 1, task: UInt64 = 0) {
    time += 8
    trace.event(size == nil ? .object : .malloc, address, size: size ?? 32, type: size == nil ? 1 : 0, time: time, thread: thread, task: task)
  }

  mutating func free(_ address: UInt64, thread: UInt32 = 1, task: UInt64 = 0) {
    time += 8
    trace.event(.free, address, time: time, thread: thread, task: task)
  }

  /// As things stood at the end of the process, or at a snapshot that `reason` asked for at `time`.
  func statements(at time: UInt64? = nil, _ reason: SnapshotReason = .request) throws -> ProgramStatements {
    var trace = trace
    if let time { trace.snapshots = [(TraceSnapshot(reason: reason, time: time), [])] }
    let reader = try trace.reader()
    return AllocationAnalysis(reader, snapshot: reader.snapshots.first).statements
  }

  func scope(_ name: String = "work", at time: UInt64? = nil, _ reason: SnapshotReason = .request) throws -> ScopeOutcome {
    try #require(try statements(at: time, reason).scopes.first { $0.place.name == name })
  }

  func expectation(at time: UInt64? = nil, _ reason: SnapshotReason = .request) throws -> ExpectationOutcome {
    let outcomes = try statements(at: time, reason).expectations
    #expect(outcomes.count == 1)
    return try #require(outcomes.first)
  }
}

extension ScopeOutcome {
  fileprivate var left: [UInt64] { rest.map(\.block.address) }
}

@Suite struct ScopeOutcomeTests {
  @Test func objectsThatAScopeMadeAndThatDidNotEndAreLeft() throws {
    var program = Program()
    program.make(0x100)
    program.begin("work", 1)
    program.make(0x200)
    program.make(0x300)
    program.make(0x400, thread: 2)
    program.free(0x200)
    program.free(0x100)
    program.end(1)
    program.make(0x500)
    let scope = try program.scope()
    #expect(scope.left == [0x300] && scope.births == 2 && scope.executions == 1 && scope.open == 0 && scope.executionsWithRest == 1)
    #expect(scope.place == MarkPlace(name: "work", file: "App/Main.swift", line: 7))
    #expect(try Program().statements().isEmpty)
  }

  @Test func onlySwiftObjectsAreAScopes() throws {
    var program = Program()
    program.begin("work", 1)
    program.make(0x100, size: 64)
    program.make(0x200)
    program.end(1)
    let scope = try program.scope()
    #expect(scope.left == [0x200] && scope.births == 1)
  }

  @Test func executionsOfAPlaceAreCountedTogether() throws {
    var program = Program()
    for n in 0..<5 as Range<UInt64> {
      program.begin("work", n + 1)
      program.make(0x100 * (n + 1))
      program.make(0x10_000)
      program.free(0x10_000)
      if n % 2 == 0 { program.free(0x100 * (n + 1)) }
      program.end(n + 1)
    }
    program.begin("work", 6)
    program.make(0x900)
    let scope = try program.scope()
    #expect(scope.executions == 6 && scope.open == 1 && scope.executionsWithRest == 2 && scope.births == 11)
    #expect(scope.rest.map(\.execution) == [1, 3] && scope.left == [0x200, 0x400])
  }

  @Test func nestedScopesBothHaveWhatTheInnerOneMade() throws {
    var program = Program()
    program.begin("outer", 1)
    program.make(0x100)
    program.begin("inner", 2)
    program.make(0x200)
    program.make(0x300)
    program.end(2)
    program.free(0x300)
    program.make(0x400)
    program.end(1)
    #expect(try program.scope("inner").left == [0x200, 0x300])
    #expect(try program.scope("outer").left == [0x100, 0x200, 0x400])
    #expect(try program.scope("outer").births == 4)
  }

  @Test func scopesThatOverlapEndEachForItself() throws {
    var program = Program()
    program.begin("a", 1)
    program.begin("b", 2)
    program.make(0x100)
    program.end(1)
    program.make(0x200)
    program.begin("c", 3)
    program.make(0x300)
    program.end(2)
    program.make(0x400)
    program.end(3)
    program.make(0x500)
    #expect(try program.scope("a").left == [0x100])
    #expect(try program.scope("b").left == [0x100, 0x200, 0x300])
    #expect(try program.scope("c").left == [0x300, 0x400])
  }

  @Test func scopesOfThreadsAreApartAndMayEndElsewhere() throws {
    var program = Program()
    program.begin("a", 1, thread: 1)
    program.begin("b", 2, thread: 2)
    program.make(0x100, thread: 1)
    program.make(0x200, thread: 2)
    program.end(1, thread: 2)
    program.make(0x300, thread: 1)
    program.make(0x400, thread: 2)
    program.end(2, thread: 3)
    program.make(0x500, thread: 2)
    #expect(try program.scope("a").left == [0x100])
    #expect(try program.scope("b").left == [0x200, 0x400])
  }

  @Test func aTasksScopeGoesWithItToOtherThreads() throws {
    var program = Program()
    program.make(0x100, task: 0x7000)
    program.begin("work", 1, task: 0x7000)
    program.make(0x200, thread: 2, task: 0x7000)
    program.make(0x300)
    program.make(0x400, thread: 2, task: 0x8000)
    program.make(0x500, task: 0x7000)
    program.end(1, thread: 3, task: 0x7000)
    program.make(0x600, thread: 2, task: 0x7000)
    #expect(try program.scope().left == [0x200, 0x500])
  }

  @Test func tasksWhoseBlockWasMadeInAScopeBelongToItUntilItEnds() throws {
    var program = Program()
    program.make(0x1000, size: 256)
    program.begin("outer", 1)
    program.make(0x2000, size: 256)
    program.begin("inner", 2)
    program.make(0x3000, size: 256)
    // Of the block from before, of the outer scope's and of the inner scope's; and of a task that the latter made.
    program.make(0x100, thread: 2, task: 0x1060)
    program.make(0x200, thread: 2, task: 0x2060)
    program.make(0x300, thread: 3, task: 0x3060)
    program.make(0x4000, size: 256, thread: 3, task: 0x3060)
    program.make(0x400, thread: 4, task: 0x4060)
    program.end(2)
    program.make(0x500, thread: 4, task: 0x4060)
    program.end(1)
    program.make(0x600, thread: 4, task: 0x4060)
    #expect(try program.scope("inner").left == [0x300, 0x400])
    #expect(try program.scope("outer").left == [0x200, 0x300, 0x400, 0x500])
  }

  @Test func aTaskThatBeginsAScopeOfItsOwnIsStillInTheOneItWasMadeIn() throws {
    var program = Program()
    program.begin("outer", 1)
    program.make(0x2000, size: 256)
    program.begin("own", 2, thread: 2, task: 0x2060)
    program.make(0x100, thread: 2, task: 0x2060)
    program.end(2, thread: 2, task: 0x2060)
    program.make(0x200, thread: 2, task: 0x2060)
    program.end(1)
    #expect(try program.scope("own").left == [0x100])
    #expect(try program.scope("outer").left == [0x100, 0x200])
  }

  @Test func aTaskInThePlaceOfAnotherIsOfTheScopeItWasMadeIn() throws {
    var program = Program()
    for n in 1...3 as ClosedRange<UInt64> {
      program.begin("\(n)", n)
      program.make(0x2000, size: 256)
      program.make(0x100 * n, thread: 2, task: 0x2060)
      program.free(0x2000)
      program.end(n)
    }
    #expect(try (1...3).map { try program.scope("\($0)").left } == [[0x100], [0x200], [0x300]])
  }

  @Test func whatDiesWithinTheGraceIsNotLeft() throws {
    var program = Program()
    program.begin("work", 1)
    program.make(0x100)
    program.make(0x200)
    program.end(1, grace: 80)
    let end = program.time
    program.time = end + 72
    program.free(0x100)
    program.free(0x200)
    #expect(try program.scope().left == [0x200])
    #expect(try program.scope().grace == 80)
    // Not over yet at a snapshot, but at one that is the end of the process.
    #expect(try program.scope(at: end + 40).left == [] && program.scope(at: end + 40).executionsWithRest == 0)
    #expect(try program.scope(at: end + 40, .exit).left == [0x100, 0x200])
    #expect(try program.scope(at: end + 81).left == [0x200])
  }

  @Test func shortGracesAfterLongOnesAreOverBeforeThem() throws {
    var program = Program()
    program.begin("long", 1)
    program.make(0x100)
    program.end(1, grace: 10_000)
    program.begin("short", 2)
    program.make(0x200)
    program.end(2, grace: 16)
    program.begin("endless", 3)
    program.make(0x300)
    program.end(3, grace: .max)
    program.time += 800
    program.free(0x100)
    program.free(0x200)
    #expect(try program.scope("short").left == [0x200])
    #expect(try program.scope("long").left == [])
    #expect(try program.scope("endless").left == [0x300])
    #expect(try program.scope("endless", at: 1 << 40).left == [])
  }

  @Test func onlyTheFirstEndCountsAndUnknownEndsDoNot() throws {
    var program = Program()
    program.end(9)
    program.begin("work", 1)
    program.make(0x100)
    program.end(1)
    program.end(1, grace: 1 << 30)
    program.end(5)
    program.free(0x100)
    let scope = try program.scope()
    #expect(scope.left == [0x100] && scope.open == 0 && scope.grace == 0 && scope.executionsWithRest == 1)
    #expect(try program.statements().scopes.count == 1)
  }

  @Test func aBlockAtTheAddressOfOneThatDiedIsNotTheScopes() throws {
    var program = Program()
    program.begin("work", 1)
    program.make(0x100)
    program.free(0x100)
    program.end(1, grace: 8000)
    program.make(0x100)
    #expect(try program.scope().left == [])
  }

  @Test func whatComesAfterTheSnapshotIsNoPartOfIt() throws {
    var program = Program()
    program.begin("work", 1)
    program.make(0x100)
    program.end(1)
    let time = program.time + 4
    program.free(0x100)
    program.begin("work", 2)
    program.begin("other", 3)
    let statements = try program.statements(at: time)
    #expect(statements.scopes.map(\.executions) == [1])
    #expect(statements.scopes.map(\.left) == [[0x100]] && statements.scopes[0].births == 1)
    #expect(try program.statements(at: time, .signal).scopes.map(\.left) == [[0x100]])
  }

  @Test(arguments: 0..<60)
  func scopesOfRandomProgramsAreThoseOfAnOracle(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var program = Program()
    struct Scope {
      var strand: UInt64
      var made: Set<UInt64> = []
      var births = 0
      var left: Set<UInt64>?
    }
    var scopes: [Scope] = []
    var live: Set<UInt64> = []
    // Strands are three threads and three tasks, which run on any of them.
    func place(_ strand: UInt64) -> (thread: UInt32, task: UInt64) {
      strand < 3 ? (UInt32(strand) + 1, 0) : (UInt32.random(in: 1...3, using: &random), 0x70_0000 + strand * 0x1000)
    }
    for step in 0..<400 as Range<UInt64> {
      let strand = random.next() % 6
      let (thread, task) = place(strand)
      switch random.next() % 8 {
      case 0:
        program.begin("\(scopes.count)", UInt64(scopes.count + 1), thread: thread, task: task)
        scopes.append(Scope(strand: strand))
      case 1:
        guard let open = scopes.indices.filter({ scopes[$0].left == nil }).randomElement(using: &random) else { continue }
        program.end(UInt64(open + 1), thread: thread, task: task)
        scopes[open].left = scopes[open].made.intersection(live)
      case 2, 3:
        guard let address = live.sorted().randomElement(using: &random) else { continue }
        program.free(address, thread: thread, task: task)
        live.remove(address)
      default:
        let address = 0x1_0000 + step * 16
        program.make(address, thread: thread, task: task)
        live.insert(address)
        for index in scopes.indices where scopes[index].strand == strand && scopes[index].left == nil {
          scopes[index].made.insert(address)
          scopes[index].births += 1
        }
      }
    }
    let statements = try program.statements()
    #expect(statements.scopes.count == scopes.count)
    for (index, scope) in scopes.enumerated() {
      let found = try #require(statements.scopes.first { $0.place.name == "\(index)" })
      #expect(Set(found.left) == scope.left ?? [] && found.births == UInt64(scope.births) && found.open == (scope.left == nil ? 1 : 0))
    }
  }
}

@Suite struct ExpectationOutcomeTests {
  @Test func whatGoesByItsDeadlineMeetsIt() throws {
    var program = Program()
    program.make(0x100)
    program.expect(0x100, within: 8)
    program.free(0x100)
    let outcome = try program.expectation()
    #expect(outcome.met == 1 && outcome.late == 0 && outcome.violated == 0 && outcome.undecided == 0 && outcome.unknown == 0 && outcome.rest.isEmpty)
    #expect(outcome.place == MarkPlace(name: "gone", file: "App/Main.swift", line: 7))
  }

  @Test func whatGoesAfterItIsLateByTheLongestDelay() throws {
    var program = Program()
    for (address, delay) in [(0x100, 80), (0x200, 800), (0x300, 40)] as [(UInt64, UInt64)] {
      program.make(address)
      program.expect(address, within: 80)
      program.time += 80 + delay - 8
      program.free(address)
    }
    let outcome = try program.expectation()
    #expect(outcome.late == 3 && outcome.met == 0 && outcome.longestDelay == 800)
    #expect(outcome.rest.map(\.block.address) == [0x100, 0x200, 0x300] && outcome.rest.map(\.number) == [1, 2, 3])
    #expect(outcome.rest.allSatisfy { $0.end != nil && $0.end! > $0.deadline })
  }

  @Test func whatIsThereAtAPassedDeadlineViolatesItAndElseItIsUndecided() throws {
    var program = Program()
    program.make(0x100)
    program.make(0x200)
    program.expect(0x200, within: 8000)
    program.expect(0x100, within: 80)
    let time = program.time
    program.time += 800
    program.free(0x300)
    let end = try program.expectation()
    #expect(end.violated == 1 && end.undecided == 1 && end.rest.map(\.block.address) == [0x100] && end.rest[0].end == nil)
    #expect(try program.expectation(at: time + 40).undecided == 2)
    #expect(try program.expectation(at: time + 40, .exit).undecided == 2)
    #expect(try program.expectation(at: time + 80).violated == 1)
    #expect(try program.expectation(at: time + 8000).violated == 2)
  }

  @Test func objectsThatWereNotSeenBeingMadeAreUnknown() throws {
    var program = Program()
    program.expect(0x100, within: 8)
    program.make(0x200)
    program.free(0x200)
    program.expect(0x200, within: 8)
    // Inside of a block is not the block.
    program.make(0x300, size: 64)
    program.expect(0x310, within: 8)
    let outcome = try program.expectation()
    #expect(outcome.unknown == 3 && outcome.violated == 0 && outcome.met == 0 && outcome.rest.isEmpty)
  }

  @Test func aNewBlockAtTheAddressIsNotTakenForTheObject() throws {
    var program = Program()
    program.make(0x100)
    program.expect(0x100, within: 80)
    program.free(0x100)
    program.make(0x100)
    program.time += 8000
    program.free(0x100)
    let outcome = try program.expectation()
    #expect(outcome.met == 1 && outcome.late == 0 && outcome.violated == 0)
  }

  @Test func aReallocatedBlockIsAnotherOne() throws {
    var program = Program()
    program.make(0x100)
    program.expect(0x100, within: 80)
    program.trace.event(.reallocFree, 0x100, time: program.time + 8)
    program.trace.event(.realloc, 0x100, size: 64, time: program.time + 16)
    program.time += 8000
    program.make(0x200)
    let outcome = try program.expectation()
    #expect(outcome.met == 1 && outcome.violated == 0)
  }

  @Test func severalExpectationsOfOneObjectAreEachDecided() throws {
    var program = Program()
    program.make(0x100)
    program.expect(0x100, within: 80)
    program.expect(0x100, within: 8000)
    program.time += 800
    program.free(0x100)
    let outcome = try program.expectation()
    #expect(outcome.met == 1 && outcome.late == 1 && outcome.rest.map(\.number) == [1])
  }

  @Test func endsAfterTheSnapshotAreNoneOfItsBusiness() throws {
    var program = Program()
    program.make(0x100)
    program.expect(0x100, within: 80)
    let time = program.time + 800
    program.time = time + 8
    program.free(0x100)
    program.expect(0x100, within: 8, "later")
    let outcome = try program.expectation(at: time)
    #expect(outcome.violated == 1 && outcome.late == 0 && outcome.rest[0].end == nil)
    #expect(try program.statements().expectations.map(\.late) == [1, 0])
  }

  @Test func placesAreToldApartByNameAndGenerationsStandInOrder() throws {
    var program = Program()
    program.make(0x100)
    program.expect(0x100, within: 8, "a")
    program.expect(0x100, within: 8, "b")
    program.generation("first")
    program.generation("second")
    let time = program.time
    program.generation("first")
    let statements = try program.statements()
    #expect(statements.expectations.map(\.place.name) == ["a", "b"] && !statements.isEmpty)
    #expect(statements.generations.map(\.place.name) == ["first", "second", "first"])
    #expect(statements.generations.map(\.time) == [time - 8, time, time + 8])
    #expect(try program.statements(at: time).generations.count == 2)
  }
}
