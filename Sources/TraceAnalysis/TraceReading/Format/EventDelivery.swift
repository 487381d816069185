// Handing merged events to their sink, past clocks that disagree.

/// Takes in merged events. Conform a concrete type: the loop is specialised for it, and calls nothing through a witness
/// table.
package protocol EventSink {
  /// Takes an event, or returns that its thread should wait. If `mayWait` is false, waiting longer gains nothing: take
  /// the event.
  mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict
  /// Takes an event in place: it is in a batch and need not be copied.
  mutating func take(at event: UnsafePointer<TraceEvent>, mayWait: Bool) -> EventVerdict
  /// These events come soon. Use this to load their data into the cache, all at once; it must change nothing.
  func foresee(_ events: UnsafeBufferPointer<TraceEvent>)
}

extension EventSink {
  @inline(__always) package mutating func take(at event: UnsafePointer<TraceEvent>, mayWait: Bool) -> EventVerdict {
    take(event.pointee, mayWait: mayWait)
  }
  @inline(__always) package func foresee(_ events: UnsafeBufferPointer<TraceEvent>) {}
}

package enum EventVerdict: Hashable, Sendable {
  case taken
  /// The block's address is in use: the free of the old block is in another thread, whose clock is behind.
  case waitForFree
  /// No block is known at the address: its allocation is in another thread, whose clock is behind.
  case waitForAllocation
}

/// Delivers events in the order of their arrival, except where a thread waits for another thread's event. Its events
/// are kept until that event has come, or until the merge is a millisecond past them. Constant time an event while no
/// thread waits, else linear in the waiting threads. Memory in proportion to the kept events, whose number is limited.
struct EventDelivery {
  /// A thread that waits, or that has waited and is behind.
  private struct Held {
    let thread: UInt32
    var events: [TraceEvent] = []
    var taken = 0
    /// The time when its next event is due.
    var key: UInt64
    var keyBeforeWaiting: UInt64
    /// Nil if it waits no longer.
    var waitsFor: EventVerdict?
    /// Its next event is taken in any case.
    var hasWaited = true
  }

  /// 1 ms: clocks of one machine that disagree, disagree by far less.
  static let patienceInSeconds = 0.001
  /// The most events that are kept. It is more than machines record in a millisecond: only a forged trace reaches it.
  private static let limit = 1 << 18

  /// In ticks.
  private let patience: UInt64
  /// The latest time so far. Events arrive in order of time, except where one thread's times go back.
  private var now: UInt64 = 0
  private var held: [Held] = []
  private var heldCount = 0

  /// Steps past waiting threads that may still be taken. No real process has threads that wait all the time. At 0 no
  /// thread waits any longer.
  private var spareSteps: UInt64

  init(patience: UInt64, steps: UInt64 = .max) { (self.patience, spareSteps) = (patience, steps) }

  /// Hands a batch on.
  mutating func deliver<Sink: EventSink>(_ batch: EventBatch, to sink: inout Sink) {
    let window = 128
    let start = batch.start
    var next = 0
    while next < batch.count {
      let end = min(next + window, batch.count)
      sink.foresee(UnsafeBufferPointer(start: start + next, count: end - next))
      let mayWait = batch.hasOthers && patience > 0 && spareSteps > 0
      while next < end {
        if held.isEmpty {
          let verdict = sink.take(at: start + next, mayWait: mayWait)
          if start[next].time > now { now = start[next].time }
          if verdict != .taken, mayWait { hold(start[next], verdict, key: now) }
        } else {
          deliverPastHeld(start[next], mayWait: mayWait, to: &sink)
        }
        next &+= 1
      }
    }
  }

  /// Hands on the events still kept, when there is nothing left to wait for.
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

  /// Index of the held thread that is due first.
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

  /// Hands on everything that is kept, thread by thread.
  private mutating func drain<Sink: EventSink>(_ sink: inout Sink) {
    for thread in held { for event in thread.events[thread.taken...] { _ = sink.take(event, mayWait: false) } }
    held = []
    heldCount = 0
  }

  /// Hands on the next event of a held thread.
  private mutating func run<Sink: EventSink>(_ index: Int, hasOthers: Bool, to sink: inout Sink) {
    let event = held[index].events[held[index].taken]
    // An event this late has waited already. So no thread falls further behind, and few events are kept.
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

  /// Lets a thread that waits for this event go next.
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
