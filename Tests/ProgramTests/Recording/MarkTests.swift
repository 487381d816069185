// The statements that programs make through LeakTrace are in their traces, in the right order.

import Foundation
import TestRequirements
import Testing
import TraceReading
import TraceRecording

@Suite(.requires(.recorder)) struct MarkTests {
  /// Collects the marks of a trace in order of time, with the task and the thread that made each one.
  struct Marks: ReplayObserver {
    struct Entry {
      var mark: TraceMark
      var task: UInt64
      var thread: UInt32
    }
    let table: MarkTable
    var entries: [Entry] = []
    /// The numbers of new Swift objects, by task.
    var births: [UInt64: Int] = [:]

    mutating func marked(_ event: TraceEvent, execution: ExecutionID, block: LiveBlock?) {
      entries.append(Entry(mark: table.marks[Int(event.size)], task: event.task, thread: event.thread))
    }
    mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
      if event.operation == .object { births[event.task, default: 0] += 1 }
    }
    mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {}
    mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {}
    mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
    mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}

    func begun(_ name: String) -> [Entry] {
      entries.filter { $0.mark.kind == .scopeBegin && table.text($0.mark.name) == name }
    }
    func ended(_ number: UInt64) -> [Entry] { entries.filter { $0.mark.kind == .scopeEnd && $0.mark.number == number } }
  }

  static func marks(of trace: RecordedTrace) throws -> (Marks, TraceReader) {
    let reader = try TraceReader(path: trace.path)
    #expect(reader.diagnostics.isEmpty)
    let marks = Replayer.replay(reader, Marks(table: reader.marks)).observer
    #expect(reader.diagnostics.isEmpty)
    return (marks, reader)
  }

  @Test("Scopes and generations are recorded with names, places, numbers and times") func scopes() throws {
    let program = try LeakTraceLibrary.program("marks.swift").path()
    let outcome = try Command([program]).run()
    #expect(outcome == Command.Outcome(end: .exit(0), output: "done\n", errorOutput: "", timedOut: false))
    let directory = try TemporaryDirectory()
    let traced = try Command(TracedRun.recordArguments(directory) + [program, "traced"]).run()
    #expect(traced == outcome)
    let (marks, reader) = try Self.marks(of: try #require(try TracedRun.traces(in: directory).first))

    let outer = try #require(marks.begun("outer").first?.mark), inner = try #require(marks.begun("inner").first?.mark)
    let innerEnd = try #require(marks.ended(inner.number).first?.mark),
      outerEnd = try #require(marks.ended(outer.number).first?.mark)
    #expect(outer.time < inner.time && inner.time < innerEnd.time && innerEnd.time < outerEnd.time)
    #expect(reader.marks.text(outer.file) == "marks/marks.swift" && inner.line == outer.line + 1)
    #expect(outerEnd.grace == 0)
    let grace = try #require(reader.clock.seconds(at: reader.header.startTime + innerEnd.grace))
    #expect(abs(grace - 1.5) < 0.05)

    let thrown = try #require(marks.begun("throws").first?.mark)
    #expect(marks.ended(thrown.number).count == 1)
    let first = try #require(marks.begun("first").first?.mark), second = try #require(marks.begun("second").first?.mark)
    #expect(
      first.time < second.time && marks.ended(first.number)[0].mark.time < marks.ended(second.number)[0].mark.time)
    #expect(marks.entries.map(\.mark.time) == marks.entries.map(\.mark.time).sorted())

    let generations = marks.entries.filter { $0.mark.kind == .generation }.map { reader.marks.text($0.mark.name) }
    // 255 bytes hold 127 of these two-byte characters.
    #expect(generations == ["generation 2", String(repeating: "ä", count: 127), ""])
    let snapshot = try #require(reader.snapshots.first)
    #expect(snapshot.reason == .call && snapshot.label == "warm")
  }

  @Test("A mark names its task, and later allocations belong to the same task") func tasks() throws {
    let directory = try TemporaryDirectory()
    _ = try Command(
      TracedRun.recordArguments(directory) + [try LeakTraceLibrary.program("marks.swift").path(), "traced"]
    ).run()
    let (marks, _) = try Self.marks(of: try #require(try TracedRun.traces(in: directory).first))
    let whole = try #require(marks.begun("async").first), children = marks.begun("child")
    #expect(children.count == 4)
    #expect(whole.task != 0 && !children.contains { $0.task == 0 || $0.task == whole.task })
    for entry in [whole] + children {
      let ends = marks.ended(entry.mark.number)
      #expect(ends.count == 1 && ends[0].task == entry.task)
    }
    #expect(children.allSatisfy { marks.births[$0.task, default: 0] > 0 })
  }

  @Test("The library adds no dependency, and works with a built-in Swift runtime") func linkage() throws {
    for flags in [[], ["-static-stdlib"]] {
      let program = try LeakTraceLibrary.program("marks.swift", flags: flags).path()
      var listing = Command([program])
      listing.environment["LD_TRACE_LOADED_OBJECTS"] = "1"
      let needed = try listing.run().output
      #expect(needed.contains("libc.so"))
      #expect(!needed.lowercased().contains("leaktrace") && !needed.contains("Foundation"))
      let directory = try TemporaryDirectory()
      let traced = try Command(TracedRun.recordArguments(directory) + [program, "traced"]).run()
      #expect(traced.end == .exit(0))
      let (marks, _) = try Self.marks(of: try #require(try TracedRun.traces(in: directory).first))
      #expect(marks.begun("child").count == 4)
    }
  }

  @Test("The library does nothing beside an older recorder") func olderRecorder() throws {
    var command = Command([try LeakTraceLibrary.program("marks.swift").path()])
    command.environment["LD_PRELOAD"] = try TestProgram("old-recorder.c", flags: ["-shared", "-fPIC"]).path()
    #expect(try command.run() == Command.Outcome(end: .exit(0), output: "done\n", errorOutput: "", timedOut: false))
  }
}
