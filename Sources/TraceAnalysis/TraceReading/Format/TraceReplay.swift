// Reading all events of a trace. One thread decodes and merges the events, and another thread processes them.

import Glibc

extension TraceReader {
  /// Delivers every event of the trace to `sink`, merged by time, on the calling thread. If the process may
  /// use a second processor, another thread decodes and merges ahead. May be called again for a further pass. If the
  /// limit for the file's size does not allow the pass, delivers no events and returns false. Damage is added to
  /// `diagnostics`. O(events · log threads).
  @discardableResult
  func replay<Sink: EventSink>(into sink: inout Sink, stacks: StackSelection = .all) -> Bool {
    guard beginPass() else { return false }
    marks.removeAll()
    let total = chunks.reduce(UInt64(0)) { $0 &+ ($1.kind == .events ? $1.eventCount : 0) }
    var delivery = EventDelivery(patience: clock.ticks(in: EventDelivery.patienceInSeconds), steps: limits.waitingSteps)
    let source = EventSource(EventMerger(self, stacks: stacks))
    if total >= Self.minEventsForThread, Self.hasProcessors, let queue = source.begin() {
      while let batch = queue.takeFull() {
        if end != .max { batch.leaveOut(after: end) }
        marks.append(batch.marks)
        delivery.deliver(batch, to: &sink)
        queue.putEmpty(batch)
      }
      source.join()
    } else {
      let batch = EventBatch()
      while source.merger.fill(batch) {
        if end != .max { batch.leaveOut(after: end) }
        marks.append(batch.marks)
        delivery.deliver(batch, to: &sink)
        batch.removeAll()
      }
    }
    delivery.finish(&sink)
    source.merger.deallocate()
    if definitions.stacks.overflowCount > 0, budget.stop == nil {
      reportWhileReplaying(.init(.tooManyStacks(frames: definitions.stacks.overflowCount)))
    }
    hasReplayed = true
    return true
  }

  /// Fewer events are read in less time than it takes to start a thread.
  private static let minEventsForThread: UInt64 = 100_000

  /// True if this process may run on more than one processor. On a single one, a second thread would only move the
  /// batches out of the processor's cache.
  private static var hasProcessors: Bool { AllowedProcessors.count() > 1 }
}

/// The merger of a trace, and the thread that runs the merger.
private final class EventSource: @unchecked Sendable {
  var merger: EventMerger
  private lazy var queue = BatchQueue()
  private var thread = pthread_t()

  init(_ merger: EventMerger) { self.merger = merger }

  /// Starts the thread. Until `join`, only this thread uses the merger, and the parts of the reader that decoding
  /// needs. Nil if no thread can be started.
  func begin() -> BatchQueue? {
    // Block all signals, so that the new thread does not handle signals of the process.
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    // Create the lazy queue here, before both threads use it.
    let queue = self.queue
    let this = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread, nil,
      { argument in
        let source = Unmanaged<EventSource>.fromOpaque(argument!).takeRetainedValue()
        source.run()
        return nil
      }, this.toOpaque())
    if result == 0 { return queue }
    this.release()
    return nil
  }

  private func run() {
    while true {
      let batch = queue.takeEmpty()
      if !merger.fill(batch) { break }
      queue.putFull(batch)
    }
    queue.end()
  }

  func join() { pthread_join(thread, nil) }
}
