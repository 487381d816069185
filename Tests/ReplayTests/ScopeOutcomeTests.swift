// The outcomes of scopes that a program states.

import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct ScopeOutcomeTests {
  @Test func liveObjectsMadeInAScopeAreLeft() throws {
    var program = StatingProgram()
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
    #expect(
      scope.left == [0x300] && scope.births == 2 && scope.executions == 1 && scope.open == 0
        && scope.executionsWithRest == 1)
    #expect(scope.place == MarkPlace(name: "work", file: "App/Main.swift", line: 7))
    #expect(try StatingProgram().statements().isEmpty)
  }

  @Test func onlySwiftObjectsBelongToAScope() throws {
    var program = StatingProgram()
    program.begin("work", 1)
    program.make(0x100, size: 64)
    program.make(0x200)
    program.end(1)
    let scope = try program.scope()
    #expect(scope.left == [0x200] && scope.births == 1)
  }

  @Test func objectsWithUnlimitedGraceAreNotLeft() throws {
    var program = StatingProgram()
    program.begin("test", 1)
    program.make(0x100)
    program.end(1, grace: .max)
    #expect(try program.statements().isEmpty)
    program.begin("work", 2)
    program.make(0x200)
    program.end(2)
    #expect(try program.scope().left == [0x200])
  }

  @Test func executionsOfAPlaceAreCountedTogether() throws {
    var program = StatingProgram()
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
    #expect(scope.rest.map(\.run) == [1, 3] && scope.left == [0x200, 0x400])
  }

  @Test func nestedScopesBothContainTheInnerObjects() throws {
    var program = StatingProgram()
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

  @Test func nestedScopesAreFollowedUpToALimit() throws {
    var program = StatingProgram()
    for number in 1...100_000 as ClosedRange<UInt64> { program.begin("deeper", number) }
    program.make(0x100)
    for number in (1...100_000 as ClosedRange<UInt64>).reversed() { program.end(number) }
    let scope = try program.scope("deeper")
    #expect(scope.executions == 64 && scope.open == 0 && scope.births == 64 && scope.executionsWithRest == 64)
  }

  @Test func scopesAreJudgedInTheOrderTheirGracesEnd() throws {
    var program = StatingProgram()
    for number in 1...2000 as ClosedRange<UInt64> {
      program.begin("work", number)
      program.make(0x1000 * number)
      program.end(number, grace: 10_000_000 - number * 1000)
    }
    let scope = try program.scope()
    #expect(scope.executionsWithRest == 2000 && scope.left.first == 0x1000 * 2000 && scope.left.last == 0x1000)
  }

  @Test func tooManyAllocationsInManyScopesDiscardTheScopes() throws {
    var program = StatingProgram()
    for number in 1...3 as ClosedRange<UInt64> { program.begin("work", number) }
    for number in 1...100 as ClosedRange<UInt64> { program.make(0x1000 * number) }
    var limits = ReadingLimits(fileSize: 0)
    limits.scopeSteps = 100
    let reader = try TraceReader(bytes: try program.trace.bytes(), limits: limits)
    #expect(AllocationAnalysis(reader).statements.scopes.isEmpty)
    #expect(try program.scope().births == 300)
  }

  @Test func overlappingScopesEndIndependently() throws {
    var program = StatingProgram()
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

  @Test func threadScopesAreSeparateAndMayEndOnAnotherThread() throws {
    var program = StatingProgram()
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

  @Test func taskScopeFollowsItsTaskToOtherThreads() throws {
    var program = StatingProgram()
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

  @Test func taskWhoseBlockWasMadeInAScopeBelongsToItUntilTheEnd() throws {
    var program = StatingProgram()
    program.make(0x1000, size: 256)
    program.begin("outer", 1)
    program.make(0x2000, size: 256)
    program.begin("inner", 2)
    program.make(0x3000, size: 256)
    // The objects' tasks are in the block from before, in the outer scope's block, and in the inner scope's block. The
    // last object's task is in a block that the third task made.
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

  @Test func taskWithItsOwnScopeStaysInTheScopeItWasMadeIn() throws {
    var program = StatingProgram()
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

  @Test func taskThatReplacesAnotherBelongsToTheScopeItWasMadeIn() throws {
    var program = StatingProgram()
    for n in 1...3 as ClosedRange<UInt64> {
      program.begin("\(n)", n)
      program.make(0x2000, size: 256)
      program.make(0x100 * n, thread: 2, task: 0x2060)
      program.free(0x2000)
      program.end(n)
    }
    #expect(try (1...3).map { try program.scope("\($0)").left } == [[0x100], [0x200], [0x300]])
  }

  @Test func objectsFreedWithinTheGraceAreNotLeft() throws {
    var program = StatingProgram()
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
    // The scope's grace has not passed at a snapshot, unless the snapshot is taken at the end of the process.
    #expect(try program.scope(at: end + 40).left == [] && program.scope(at: end + 40).executionsWithRest == 0)
    #expect(try program.scope(at: end + 40, .exit).left == [0x100, 0x200])
    #expect(try program.scope(at: end + 81).left == [0x200])
  }

  @Test func shortGraceAfterALongOneEndsFirst() throws {
    var program = StatingProgram()
    program.begin("long", 1)
    program.make(0x100)
    program.end(1, grace: 10_000)
    program.begin("short", 2)
    program.make(0x200)
    program.end(2, grace: 16)
    program.begin("endless", 3)
    program.make(0x300)
    program.end(3, grace: .max - 1)
    program.time += 800
    program.free(0x100)
    program.free(0x200)
    #expect(try program.scope("short").left == [0x200])
    #expect(try program.scope("long").left == [])
    #expect(try program.scope("endless").left == [0x300])
    #expect(try program.scope("endless", at: 1 << 40).left == [])
  }

  @Test func onlyTheFirstKnownEndCounts() throws {
    var program = StatingProgram()
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

  @Test func blockAtAFreedAddressDoesNotBelongToTheScope() throws {
    var program = StatingProgram()
    program.begin("work", 1)
    program.make(0x100)
    program.free(0x100)
    program.end(1, grace: 8000)
    program.make(0x100)
    #expect(try program.scope().left == [])
  }

  @Test func eventsAfterTheSnapshotAreIgnored() throws {
    var program = StatingProgram()
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
  func scopesOfRandomProgramsMatchAnOracle(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var program = StatingProgram()
    struct Scope {
      var execution: UInt64
      var made: Set<UInt64> = []
      var births = 0
      var left: Set<UInt64>?
    }
    var scopes: [Scope] = []
    var live: Set<UInt64> = []
    // The executions are three threads, and three tasks, which run on any of the threads.
    func place(_ execution: UInt64) -> (thread: UInt32, task: UInt64) {
      execution < 3
        ? (UInt32(execution) + 1, 0) : (UInt32.random(in: 1...3, using: &random), 0x70_0000 + execution * 0x1000)
    }
    for step in 0..<400 as Range<UInt64> {
      let execution = random.next() % 6
      let (thread, task) = place(execution)
      switch random.next() % 8 {
      case 0:
        program.begin("\(scopes.count)", UInt64(scopes.count + 1), thread: thread, task: task)
        scopes.append(Scope(execution: execution))
      case 1:
        guard let open = scopes.indices.filter({ scopes[$0].left == nil }).randomElement(using: &random) else {
          continue
        }
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
        for index in scopes.indices where scopes[index].execution == execution && scopes[index].left == nil {
          scopes[index].made.insert(address)
          scopes[index].births += 1
        }
      }
    }
    let statements = try program.statements()
    #expect(statements.scopes.count == scopes.count)
    for (index, scope) in scopes.enumerated() {
      let found = try #require(statements.scopes.first { $0.place.name == "\(index)" })
      #expect(
        Set(found.left) == scope.left ?? [] && found.births == UInt64(scope.births)
          && found.open == (scope.left == nil ? 1 : 0))
    }
  }
}
