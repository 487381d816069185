// The outcomes of expectations and generations that a program states.

import Testing
import TraceTestSupport

@testable import TraceReading

@Suite struct ExpectationOutcomeTests {
  @Test func freeBeforeTheDeadlineMeetsTheExpectation() throws {
    var program = StatingProgram()
    program.make(0x100)
    program.expect(0x100, within: 8)
    program.free(0x100)
    let outcome = try program.expectation()
    #expect(
      outcome.met == 1 && outcome.late == 0 && outcome.violated == 0 && outcome.undecided == 0 && outcome.unknown == 0
        && outcome.rest.isEmpty)
    #expect(outcome.place == MarkPlace(name: "gone", file: "App/Main.swift", line: 7))
  }

  @Test func freeAfterTheDeadlineIsLateByTheLongestDelay() throws {
    var program = StatingProgram()
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

  @Test func liveObjectViolatesAPassedDeadlineAndIsUndecidedBefore() throws {
    var program = StatingProgram()
    program.make(0x100)
    program.make(0x200)
    program.expect(0x200, within: 8000)
    program.expect(0x100, within: 80)
    let time = program.time
    program.time += 800
    program.free(0x300)
    let end = try program.expectation()
    #expect(
      end.violated == 1 && end.undecided == 1 && end.rest.map(\.block.address) == [0x100] && end.rest[0].end == nil)
    #expect(try program.expectation(at: time + 40).undecided == 2)
    #expect(try program.expectation(at: time + 40, .exit).undecided == 2)
    #expect(try program.expectation(at: time + 80).violated == 1)
    #expect(try program.expectation(at: time + 8000).violated == 2)
  }

  @Test func objectsWithoutRecordedAllocationsAreUnknown() throws {
    var program = StatingProgram()
    program.expect(0x100, within: 8)
    program.make(0x200)
    program.free(0x200)
    program.expect(0x200, within: 8)
    // An address inside a block does not mean the block.
    program.make(0x300, size: 64)
    program.expect(0x310, within: 8)
    let outcome = try program.expectation()
    #expect(outcome.unknown == 3 && outcome.violated == 0 && outcome.met == 0 && outcome.rest.isEmpty)
  }

  @Test func newBlockAtTheAddressIsNotTheExpectedObject() throws {
    var program = StatingProgram()
    program.make(0x100)
    program.expect(0x100, within: 80)
    program.free(0x100)
    program.make(0x100)
    program.time += 8000
    program.free(0x100)
    let outcome = try program.expectation()
    #expect(outcome.met == 1 && outcome.late == 0 && outcome.violated == 0)
  }

  @Test func reallocatedBlockIsANewBlock() throws {
    var program = StatingProgram()
    program.make(0x100)
    program.expect(0x100, within: 80)
    program.trace.event(.reallocFree, 0x100, time: program.time + 8)
    program.trace.event(.realloc, 0x100, size: 64, time: program.time + 16)
    program.time += 8000
    program.make(0x200)
    let outcome = try program.expectation()
    #expect(outcome.met == 1 && outcome.violated == 0)
  }

  @Test func expectationsOfOneObjectAreDecidedSeparately() throws {
    var program = StatingProgram()
    program.make(0x100)
    program.expect(0x100, within: 80)
    program.expect(0x100, within: 8000)
    program.time += 800
    program.free(0x100)
    let outcome = try program.expectation()
    #expect(outcome.met == 1 && outcome.late == 1 && outcome.rest.map(\.number) == [1])
  }

  @Test func freesAfterTheSnapshotAreIgnored() throws {
    var program = StatingProgram()
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

  @Test func placesAreDistinguishedByNameAndGenerationsKeepTheirOrder() throws {
    var program = StatingProgram()
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
