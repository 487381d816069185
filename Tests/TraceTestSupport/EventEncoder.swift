// Encodes events as the recorder does, for tests and for tools that write traces.

import CTraceFormat

@testable import TraceReading

/// Builds payloads of events, one after the other. Rounds times down to steps of 8 ticks.
package final class EventEncoder {
  private var state = EventCodingState()
  private var output = ByteBuilder()
  private var firstTime: UInt64 = 0
  package private(set) var eventCount: UInt64 = 0

  private let stacks: StackTree
  private let operationsWithoutStack: UInt64

  /// The events' stacks are in `stacks`. If a trace only counts retains, its retains and releases have no stacks.
  package init(stacks: StackTree, referenceCounting: TraceHeader.ReferenceCounting = .withStacks) {
    self.stacks = stacks
    operationsWithoutStack = EventCodingState.operationsWithoutStack(referenceCounting)
  }

  deinit { state.deallocate(stacks) }

  /// The number of bytes in the payload so far.
  package var count: Int { output.bytes.count }
  /// The time that a decoder will have reached at this point.
  package var time: UInt64 { state.time }

  /// Begins a payload whose chunk has `firstTime`.
  package func begin(firstTime: UInt64) {
    self.firstTime = firstTime
    state.begin(firstTime: firstTime)
    output.bytes.removeAll(keepingCapacity: true)
    eventCount = 0
  }

  /// The payload so far.
  package var payload: [UInt8] { output.bytes }

  /// Makes every later event carry its time.
  package func makeTimesExact() {
    output.byte(UInt8(LT_CONTROL_EXACT_TIME))
    output.varint(0)
    state.isExact = true
  }

  /// Sets the time for events that do not carry one. Times before the last one are ignored.
  package func advance(to time: UInt64) {
    let steps = time > state.time ? (time - state.time) >> UInt64(LT_TIME_SHIFT) : 0
    var ticks = ByteBuilder()
    ticks.varint(steps)
    output.byte(UInt8(LT_CONTROL_TIME))
    output.blob(ticks.bytes)
    state.time += steps << UInt64(LT_TIME_SHIFT)
  }

  /// Assigns the following events to another task, or to none if `task` is 0.
  package func change(task: UInt64) {
    var payload = ByteBuilder()
    payload.varint(task)
    output.byte(UInt8(LT_CONTROL_TASK))
    output.blob(payload.bytes)
    state.task = task
  }

  /// Writes a mark whose strings are in `table`.
  package func append(_ mark: TraceMark, of table: MarkTable) {
    output.byte(UInt8(LT_CONTROL_MARK))
    output.blob(table.encoded(mark))
  }

  /// Writes a control record with any number, like a later version of the recorder might.
  package func appendControl(_ kind: UInt8, payload: [UInt8]) {
    output.byte(kind & UInt8(LT_TAG_LOW_MASK))
    output.blob(payload)
  }

  /// Appends an event. The event's own time is used only if times are exact.
  package func append(_ event: TraceEvent) {
    if event.task != state.task { change(task: event.task) }
    let operation = UInt64(event.operation.rawValue)
    let hasStack = operationsWithoutStack &>> operation & 1 == 0
    let keys = hasStack ? stacks.keys(of: event.stack) : []
    var kept = 0
    while hasStack, kept < min(keys.count, state.stack.depth), keys[kept] == state.stack.keys[kept] { kept += 1 }
    let pops = hasStack ? state.stack.depth - kept : 0
    let pushed = keys[(hasStack ? kept : 0)...]
    let change = UInt64(pops) << 16 | UInt64(pushed.count) << 8 | operation
    let isSmall = pushed.count <= Int(LT_PREDICTED_PUSHES) && pops < 65536
    var isPredicted = isSmall && state.prediction[2 * state.context] & 0xFFFF_FFFF == change
    for (i, key) in pushed.enumerated() where isPredicted { isPredicted = state.keys[predictedIndex(i)] == key }
    let predictionIndex = 2 * state.context
    if hasStack {
      _ = state.stack.pop(pops)
      guard let room = state.stack.room(for: pushed.count, in: Unmanaged.passUnretained(stacks)) else {
        preconditionFailure("a stack deeper than the format allows")
      }
      for (i, key) in pushed.enumerated() { room[i] = key }
      state.stack.take(pushed.count)
    }
    state.context = state.nextContext(operation, hasStack: hasStack)
    let hasOperands = event.operation.hasOperands
    let siteIndex = state.context
    let type = event.operation == .object ? event.type : 0
    let writesOperands =
      hasOperands
      && (state.siteSize[siteIndex] != event.size || (event.operation == .object && state.siteType[siteIndex] != type))
    var (code, extra) = addressCode(event.address)
    if isPredicted {
      output.byte(UInt8(LT_TAG_PREDICTED) | (writesOperands ? UInt8(LT_TAG_OPERANDS) : 0) | code)
    } else {
      output.byte((writesOperands ? UInt8(LT_TAG_OPERANDS) : 0) | event.operation.rawValue)
      output.byte(code)
      if hasStack { putChange(pops: pops, pushed) }
      if isSmall { predict(change, pushed, at: predictionIndex) }
    }
    switch code {
    case 5: output.byte(UInt8(truncatingIfNeeded: extra))
    case 6, 7: output.zigzag(Int64(bitPattern: extra))
    default: extra = 0
    }
    state.remember(event.address)
    if state.isExact {
      let steps = event.time > state.time ? (event.time - state.time) >> UInt64(LT_TIME_SHIFT) : 0
      output.varint(steps)
      state.time += steps << UInt64(LT_TIME_SHIFT)
    }
    if writesOperands {
      output.varint(event.size)
      if event.operation == .object {
        output.varint(UInt64(type))
        state.siteType[siteIndex] = type
      }
      state.siteSize[siteIndex] = event.size
    }
    eventCount += 1
  }

  private func predictedIndex(_ i: Int) -> Int {
    let word =
      i < 2
      ? state.prediction[2 * state.context] >> (32 + 16 * i) : state.prediction[2 * state.context + 1] >> (16 * (i - 2))
    return Int(word & UInt64(LT_KEY_COUNT - 1))
  }

  private func predict(_ change: UInt64, _ pushed: ArraySlice<UInt64>, at index: Int) {
    var first = change
    var second: UInt64 = 0
    for (i, key) in pushed.enumerated() {
      let number = UInt64(lt_key_index(key))
      if i < 2 { first |= number << (32 + 16 * i) } else { second |= number << (16 * (i - 2)) }
    }
    state.prediction[index] = first
    state.prediction[index + 1] = second
  }

  private func putChange(pops: Int, _ pushed: ArraySlice<UInt64>) {
    output.varint(UInt64(pops))
    output.varint(UInt64(pushed.count))
    var i = pushed.startIndex
    while i < pushed.endIndex {
      // Search for a repetition of the preceding keys, as in recursion.
      var best = (length: 0, distance: 0)
      for distance in 1...16 where i - distance >= pushed.startIndex {
        var length = 0
        while i + length < pushed.endIndex, pushed[i + length] == pushed[i + length - distance] { length += 1 }
        if length > best.length { best = (length, distance) }
      }
      if best.length >= 4 {
        output.varint(UInt64(LT_TOKEN_COPY) + UInt64(best.distance) - 1)
        output.varint(UInt64(best.length))
        i += best.length
        continue
      }
      let key = pushed[i]
      let index = lt_key_index(key)
      if state.keys[Int(index)] == key {
        output.varint(UInt64(LT_TOKEN_DICTIONARY) + UInt64(index))
      } else {
        output.varint(UInt64(LT_TOKEN_LITERAL))
        output.zigzag(Int64(bitPattern: key &- state.literal))
        state.literal = key
        state.keys[Int(index)] = key
      }
      i += 1
    }
  }

  /// Returns the shortest code for an address, and the value that follows it.
  private func addressCode(_ address: UInt64) -> (UInt8, UInt64) {
    if address == state.recent0 { return (0, 0) }
    if address == state.recent1 { return (1, 0) }
    if address == state.recent2 { return (2, 0) }
    if address == state.recent3 { return (3, 0) }
    if address == state.successor[Int(lt_successor_index(state.recent0))] { return (4, 0) }
    let delta = Int64(bitPattern: address &- state.recent0)
    let blocks = delta >> 4
    if delta & 15 == 0 {
      if blocks >= -28, blocks < 0 { return (UInt8(36 + blocks), 0) }
      if blocks > 0, blocks <= 28 { return (UInt8(35 + blocks), 0) }
    }
    let hash = lt_address_index(address)
    if state.table[Int(hash)] == address { return (5, UInt64(hash)) }
    if delta & 15 == 0 { return (6, UInt64(bitPattern: blocks)) }
    return (7, UInt64(bitPattern: delta))
  }
}
