// Expectations, and the heap images for broken expectations.

import Foundation
import HeapAnalysis
import TestRequirements
import Testing
import TraceReading

@Suite(.requires(.recorder), .serialized) struct ExpectationTests {
  /// Counts the expectations that were met: the block at the address was freed by the deadline.
  struct Verdicts: ReplayObserver {
    let table: MarkTable
    var live: Set<UInt64> = []
    var pending: [UInt64: [TraceMark]] = [:]
    var expectations = 0, unknown = 0, met = 0, late = 0
    var begun: Set<UInt64> = [], ended: Set<UInt64> = []

    mutating func marked(_ event: TraceEvent, execution: ExecutionID, block: LiveBlock?) {
      let mark = table.marks[Int(event.size)]
      switch mark.kind {
      case .expectation:
        expectations += 1
        if live.contains(mark.address) { pending[mark.address, default: []].append(mark) } else { unknown += 1 }
      case .scopeBegin: begun.insert(mark.number)
      case .scopeEnd: ended.insert(mark.number)
      case .generation, .round, .end: break
      }
    }
    mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) { live.insert(block.address) }
    mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
      live.remove(block.address)
      for mark in pending.removeValue(forKey: block.address) ?? [] {
        if event.time <= mark.deadline { met += 1 } else { late += 1 }
      }
    }
    mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) { live.insert(block.address) }
    mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}
    mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {}
  }

  struct Run {
    var outcome: Command.Outcome
    var reader: TraceReader
    var directory: TemporaryDirectory

    /// - Parameter steps: The number of images of expectations, in all traces, before the program may continue for the
    ///   first time, for the second time, and so on.
    init(_ arguments: [String], options: [String] = [], imagesBefore steps: [Int] = []) throws {
      directory = try TemporaryDirectory()
      var command = Command(
        TracedRun.recordArguments(directory, options: options) + [
          try LeakTraceLibrary.program("expectations.swift").path()
        ] + arguments)
      let permissions = try TemporaryDirectory()
      if !steps.isEmpty { command.arguments.append(permissions.path) }
      let running = try command.start()
      for (index, count) in steps.enumerated() {
        try AwaitedState.wait(forExpectationImages: count) { [directory] in
          try TracedRun.traces(in: directory).map(\.path)
        }
        try Data().write(to: URL(fileURLWithPath: "\(permissions.path)/go.\(index + 1)"))
      }
      outcome = try running.wait()
      reader = try TraceReader(path: try #require(try TracedRun.traces(in: directory).first).path)
    }

    var printed: [Substring] { outcome.output.split(separator: "\n") }
    var images: [TraceSnapshot] { reader.snapshots.filter { $0.reason == .expectation } }
    func verdicts() -> Verdicts { Replayer.replay(reader, Verdicts(table: reader.marks)).observer }
  }

  @Test("A million expectations and scopes of eight threads are met without an image", .secondTier)
  func manyThreads()
    throws
  {
    let run = try Run(["many", "1000000"])
    #expect(run.outcome.end == .exit(0))
    #expect(run.images.isEmpty)
    let verdicts = run.verdicts()
    #expect(run.reader.diagnostics.isEmpty)
    #expect(verdicts.expectations == 1_000_000 && verdicts.met == 1_000_000)
    #expect(verdicts.unknown == 0 && verdicts.late == 0 && verdicts.pending.isEmpty)
    #expect(verdicts.begun.count == 1_000_000 && verdicts.begun == verdicts.ended)
  }

  @Test(
    "An unmet expectation in an idle process triggers an image that shows the live object"
  ) func leak() throws {
    // The program continues only when the image exists, so none of its calls can have triggered the image.
    let run = try Run(["leak"], imagesBefore: [1])
    #expect(run.outcome.end == .exit(0))
    let image = try #require(run.images.first)
    #expect(run.images.count == 1)
    #expect(image.label == "expectation 1: screen closed" && image.isWhole && image.isFrozen)
    let verdicts = run.verdicts()
    let mark = try #require(verdicts.pending.values.first?.first)
    #expect(String(mark.address, radix: 16) == run.printed[0].dropFirst(2))
    #expect(image.time >= mark.deadline)
    let due = try #require(run.reader.clock.seconds(at: mark.deadline)),
      stated = try #require(run.reader.clock.seconds(at: mark.time))
    #expect((0...0.22).contains(due - stated))
  }

  @Test("The recorder's thread is not a root, and images have neither its stack nor its registers") func invisible()
    throws
  {
    let run = try Run(["leak"], imagesBefore: [1])
    let path = try #require(try TracedRun.traces(in: run.directory).first).path
    let images = try HeapImage.images(of: path)
    #expect(images.count == 2)
    let first = try #require(images.first)
    let own = first.regions.filter { $0.kind == 6 }
    func isOwn(_ address: UInt64) -> Bool { own.contains { ($0.start..<$0.end).contains(address) } }
    let watchers = first.threads.filter { isOwn($0.stackPointer) }
    #expect(watchers.count == 1 && first.threads.count == 2)
    #expect(isOwn(watchers[0].threadPointer))
    #expect(withUnsafeBytes(of: watchers[0].registers) { $0.allSatisfy { $0 == 0 } })
    // At the end only the recorder's thread is left in the process, so no other process has to stop threads.
    #expect(images[1].isFrozen)
  }

  @Test("A new object at a reused address is not mistaken for the old one") func reuse() throws {
    let run = try Run(["reuse"])
    #expect(run.printed[0].hasSuffix(" true"))
    #expect(run.images.isEmpty)
    let verdicts = run.verdicts()
    #expect(verdicts.met == 1 && verdicts.late == 0 && verdicts.pending.isEmpty)
    #expect(verdicts.live.contains(try #require(UInt64(run.printed[0].dropFirst(2).prefix { $0 != " " }, radix: 16))))
  }

  @Test("Each place in the program gets one image, and places late together share one") func sharing() throws {
    let run = try Run(["late"], imagesBefore: [1, 2])
    #expect(run.images.map(\.label) == ["expectation 1: first", "expectation 1001: second"])
    let times = try run.images.map { try #require(run.reader.clock.seconds(at: $0.time)) }
    #expect(times[1] - times[0] > 0.9)
    #expect(run.verdicts().pending.count == 1002)
  }

  @Test("Without images, expectations are recorded but not watched") func withoutImages() throws {
    let run = try Run(["leak"], options: ["--no-snapshots"])
    #expect(run.outcome.end == .exit(0) && run.reader.snapshots.isEmpty)
    #expect(run.verdicts().pending.count == 1)
  }

  @Test("A paused recording reports no expectation") func paused() throws {
    let run = try Run(["leak"], options: ["--start-paused"])
    #expect(run.outcome.end == .exit(0) && run.images.isEmpty)
    #expect(run.verdicts().expectations == 0)
  }

  @Test("Traced processes that fork have their own watchers", arguments: [[], ["--follow-children"]])
  func fork(options: [String]) throws {
    // The first child and its parent take an image, and then the second child. Each place in the code gets only one
    // image in a process.
    let run = try Run(["fork"], options: options, imagesBefore: options.isEmpty ? [1, 1] : [2, 3])
    #expect(run.outcome.end == .exit(0))
    #expect(run.printed.filter { $0 == "0" }.count == 2)
    let traces = try TracedRun.traces(in: run.directory)
    #expect(traces.count == (options.isEmpty ? 1 : 3))
    for trace in traces {
      let reader = try TraceReader(path: trace.path)
      let labels = reader.snapshots.filter { $0.reason == .expectation }.map(\.label)
      #expect(labels.count == 1 && labels[0].hasSuffix(": screen closed"))
    }
  }
}
