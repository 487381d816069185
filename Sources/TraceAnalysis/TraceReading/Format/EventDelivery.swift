// Delivering merged events to their sink, although threads' clocks may disagree.

/// Receives merged events. Make a concrete type conform: the loop is then specialised for the type, and calls nothing
/// through a witness table.
package protocol EventSink {
  /// Takes an event, or returns a reason why the event's thread should wait. If `mayWait` is false, it must take the
  /// event.
  mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict
  /// Takes events in order, up to the first event whose thread has to wait. Returns the number of taken events, and the
  /// verdict on the next event; `.taken` if all were taken.
  mutating func take(_ events: UnsafeBufferPointer<TraceEvent>, mayWait: Bool) -> (count: Int, next: EventVerdict)
}

extension EventSink {
  package mutating func take(_ events: UnsafeBufferPointer<TraceEvent>, mayWait: Bool) -> (
    count: Int, next: EventVerdict
  ) {
    for index in 0..<events.count {
      let verdict = take(events[index], mayWait: mayWait)
      if verdict != .taken, mayWait { return (index, verdict) }
    }
    return (events.count, .taken)
  }
}

package enum EventVerdict: Hashable, Sendable {
  case taken
  /// The block's address is in use. The free of the old block is in another thread, whose clock is ahead of this
  /// thread's.
  case waitForFree
  /// No block is known at the address. Its allocation is in another thread, whose clock is ahead of this thread's.
  case waitForAllocation
}

/// Delivers events in the order of their arrival, unless a thread waits for another thread's event. The events of the
/// waiting thread are kept until the other event has come, or until the merge is a millisecond past them. An event
/// takes constant time while no thread waits, and otherwise time linear in the waiting threads. Memory is proportional
/// to the kept events, whose number is limited.
struct EventDelivery {
  /// A thread that waits, or that has waited and still has kept events.
  private struct Held {
    let thread: UInt32
    var events: [TraceEvent] = []
    var taken = 0
    /// The time when the thread's next event is due.
    var key: UInt64
    var keyBeforeWaiting: UInt64
    /// The event that the thread waits for; nil if it does not wait any more.
    var waitsFor: EventVerdict?
    /// True if the thread's next event has already waited, and is taken in any case.
    var hasWaited = true
  }

  /// 1 ms. The clocks of one machine disagree by far less.
  static let patienceInSeconds = 0.001
  /// The most events that are kept: more than a machine records in a millisecond. Only a forged trace reaches the
  /// limit.
  private static let limit = 1 << 18

  /// In ticks.
  private let patience: UInt64
  /// The latest time so far. Events arrive in order of time, unless one thread's times go back.
  private var now: UInt64 = 0
  private var held: [Held] = []
  private var heldCount = 0

  /// The number of further steps past waiting threads. No real process has threads that wait all the time. At 0,
  /// threads no longer wait.
  private var spareSteps: UInt64

  init(patience: UInt64, steps: UInt64 = .max) { (self.patience, spareSteps) = (patience, steps) }

  /// Delivers the events of a batch.
  mutating func deliver<Sink: EventSink>(_ batch: EventBatch, to sink: inout Sink) {
    let start = batch.start
    var next = 0
    while next < batch.count {
      let mayWait = batch.hasOthers && patience > 0 && spareSteps > 0
      if held.isEmpty {
        let (taken, verdict) = sink.take(
          UnsafeBufferPointer(start: start + next, count: batch.count - next), mayWait: mayWait)
        let end = min(next + taken + 1, batch.count)
        // Only threads that wait need to know the time.
        if mayWait { for index in next..<end where start[index].time > now { now = start[index].time } }
        if verdict != .taken { hold(start[end - 1], verdict, key: now) }
        next = end
      } else {
        deliverPastHeld(start[next], mayWait: mayWait, to: &sink)
        next += 1
      }
    }
  }

  /// Delivers the kept events after the last batch.
  mutating func finish<Sink: EventSink>(_ sink: inout Sink) {
    if spareSteps == 0 { drain(&sink) }
    while let first = firstHeld { run(first, hasOthers: held.count > 1, to: &sink) }
  }

  private mutating func hold(_ event: TraceEvent, _ verdict: EventVerdict, key: UInt64) {
    held.append(Held(thread: event.thread, events: [event], key: due(key), keyBeforeWaiting: key, waitsFor: verdict))
    heldCount += 1
  }

  /// Returns the time when a thread that begins to wait at `key` stops waiting.
  private func due(_ key: UInt64) -> UInt64 { key.addingReportingOverflow(patience).overflow ? .max : key + patience }

  /// The index of the held thread that is due first.
  private var firstHeld: Int? { held.indices.min { (held[$0].key, held[$0].thread) < (held[$1].key, held[$1].thread) } }

  @inline(never)
  private mutating func deliverPastHeld<Sink: EventSink>(_ event: TraceEvent, mayWait: Bool, to sink: inout Sink) {
    if event.time > now { now = event.time }
    while let first = firstHeld, (held[first].key, held[first].thread) < (now, event.thread) || heldCount > Self.limit {
      run(first, hasOthers: mayWait || held.count > 1 || held[first].thread != event.thread, to: &sink)
    }
    spareSteps -= min(spareSteps, UInt64(held.count))
    if spareSteps == 0 {
      drain(&sink)
      _ = sink.take(event, mayWait: false)
      return
    }
    if let index = held.firstIndex(where: { $0.thread == event.thread }) {
      held[index].events.append(event)
      heldCount += 1
      return
    }
    let mayWait = (mayWait || !held.isEmpty) && patience > 0 && spareSteps > 0
    let verdict = sink.take(event, mayWait: mayWait)
    if verdict != .taken, mayWait {
      hold(event, verdict, key: now)
    } else {
      wake(for: event)
    }
  }

  /// Delivers all kept events, thread by thread.
  private mutating func drain<Sink: EventSink>(_ sink: inout Sink) {
    for thread in held { for event in thread.events[thread.taken...] { _ = sink.take(event, mayWait: false) } }
    held = []
    heldCount = 0
  }

  /// Delivers the next event of a held thread.
  private mutating func run<Sink: EventSink>(_ index: Int, hasOthers: Bool, to sink: inout Sink) {
    let event = held[index].events[held[index].taken]
    // An event that was kept for as long as it may wait does not wait again. So no thread falls further and further
    // behind, and few events are kept.
    let due = max(held[index].key, due(event.time))
    spareSteps -= min(spareSteps, UInt64(held.count))
    let mayWait = !held[index].hasWaited && hasOthers && due > now && spareSteps > 0
    let verdict = sink.take(event, mayWait: mayWait)
    if verdict != .taken, mayWait {
      held[index].waitsFor = verdict
      held[index].hasWaited = true
      held[index].keyBeforeWaiting = held[index].key
      held[index].key = due
      return
    }
    held[index].waitsFor = nil
    held[index].hasWaited = false
    held[index].taken += 1
    heldCount -= 1
    if held[index].taken < held[index].events.count {
      held[index].key = max(held[index].key, held[index].events[held[index].taken].time)
    } else {
      held.remove(at: index)
    }
    wake(for: event)
  }

  /// Ends the wait of the first thread that waits for this event.
  private mutating func wake(for event: TraceEvent) {
    let awaited: EventVerdict
    switch event.operation.effect {
    case .free: awaited = .waitForFree
    case .allocation, .reallocFailed: awaited = .waitForAllocation
    default: return
    }
    let waiting = held.indices.filter {
      held[$0].waitsFor == awaited && held[$0].events[held[$0].taken].address == event.address
    }
    guard
      let index = waiting.min(by: {
        (held[$0].keyBeforeWaiting, held[$0].thread) < (held[$1].keyBeforeWaiting, held[$1].thread)
      })
    else { return }
    held[index].key = held[index].keyBeforeWaiting
    held[index].waitsFor = nil
  }
}
