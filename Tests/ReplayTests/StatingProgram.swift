// Makes traces of a program that states scopes and expectations.

import Testing
import TraceTestSupport

@testable import TraceReading

/// A program that states scopes and expectations. Each event is 8 ticks after the previous one.
struct StatingProgram {
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

  /// States an expectation. `within`: its deadline in ticks from now.
  mutating func expect(_ address: UInt64, within: UInt64, _ name: String = "gone") {
    time += 8
    nextExpectation += 1
    var mark = mark(.expectation, name, at: time, number: nextExpectation)
    (mark.address, mark.deadline) = (address, time + within)
    trace.mark(mark)
  }

  /// Makes a Swift object, or the memory of a task if there is a size.
  mutating func make(_ address: UInt64, size: UInt64? = nil, thread: UInt32 = 1, task: UInt64 = 0) {
    time += 8
    trace.event(
      size == nil ? .object : .malloc, address, size: size ?? 32, type: size == nil ? 1 : 0, time: time, thread: thread,
      task: task)
  }

  mutating func free(_ address: UInt64, thread: UInt32 = 1, task: UInt64 = 0) {
    time += 8
    trace.event(.free, address, time: time, thread: thread, task: task)
  }

  /// Returns the statements at the end of the process, or at a snapshot at `time` with this reason.
  func statements(at time: UInt64? = nil, _ reason: SnapshotReason = .request) throws -> ProgramStatements {
    var trace = trace
    if let time { trace.snapshots = [(TraceSnapshot(reason: reason, time: time), [])] }
    let reader = try trace.reader()
    return AllocationAnalysis(reader, snapshot: reader.snapshots.first).statements
  }

  func scope(_ name: String = "work", at time: UInt64? = nil, _ reason: SnapshotReason = .request) throws
    -> ScopeOutcome
  {
    try #require(try statements(at: time, reason).scopes.first { $0.place.name == name })
  }

  func expectation(at time: UInt64? = nil, _ reason: SnapshotReason = .request) throws -> ExpectationOutcome {
    let outcomes = try statements(at: time, reason).expectations
    #expect(outcomes.count == 1)
    return try #require(outcomes.first)
  }
}

extension ScopeOutcome {
  var left: [UInt64] { rest.map(\.block.address) }
}
