// The events of all threads in one order of time.

/// Takes in merged events. Conform a concrete type: the loop is specialised for it, and calls nothing through a witness table.
public protocol EventSink {
  /// Takes an event, or says that its thread should wait. `mayWait` is false when nothing is gained by waiting any longer: then take it.
  mutating func take(_ event: TraceEvent, mayWait: Bool) -> EventVerdict
}

public enum EventVerdict: Hashable, Sendable {
  case taken
  /// The block's address is in use: its free stands in another thread whose clock is behind.
  case waitForFree
  /// Nothing is known at the address: its allocation stands in another thread whose clock is behind.
  case waitForAllocation
}

/// A k-way merge of the threads' chunks, by time and then by thread number. Within a thread events keep their order whatever their times say.
///
/// Holds at most one decompressed chunk a thread, opened when its first event is due. Costs O(log threads) when the thread changes
/// and constant time otherwise. Source: the usual binary-heap merge; the runs are what makes it fast.
struct EventMerger {
  private let reader: TraceReader
  private let stacks: StackSelection
  private var streams: UnsafeMutablePointer<ThreadStream>
  private let streamCount: Int
  /// Stream numbers as a binary heap by `key`, then by number.
  private var heap: [Int32] = []
  /// How long a thread waits for another one, in ticks.
  private let patience: UInt64
  private var waiting = 0
  /// A stream other than the first has moved.
  private var isDisordered = false
  /// Decoders that no stream uses just now.
  private var spare: [OpenChunk] = []
  /// Decompressed bytes that may be held at a time.
  private var budget: UInt64

  /// 1 ms: clocks of one machine that disagree, disagree by far less.
  static let patienceInSeconds = 0.001

  init(_ reader: TraceReader, stacks: StackSelection) {
    self.reader = reader
    self.stacks = stacks
    patience = reader.clock.ticks(in: Self.patienceInSeconds)
    budget = (256 << 20) + min(reader.fileSize.rawValue, 1 << 40) * 256
    var chunksByThread: [UInt32: [Int]] = [:]
    for (index, chunk) in reader.chunks.enumerated() where chunk.kind == .events { chunksByThread[chunk.thread, default: []].append(index) }
    let threads = chunksByThread.keys.sorted()
    streamCount = threads.count
    streams = .allocate(capacity: max(1, threads.count))
    for (number, thread) in threads.enumerated() {
      let chunks = chunksByThread[thread]!.sorted { reader.chunks[$0].sequence < reader.chunks[$1].sequence }
      (streams + number).initialize(to: ThreadStream(thread: thread, chunks: chunks, key: reader.chunks[chunks[0]].firstTime))
      heap.append(Int32(number))
    }
    order()
  }

  private mutating func order() {
    for position in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(position) }
    isDisordered = false
  }

  mutating func deallocate() {
    for number in 0..<streamCount { streams[number].decoder.deallocate() }
    for open in spare { open.decoder.deallocate() }
    spare = []
    streams.deinitialize(count: streamCount)
    streams.deallocate()
  }

  @inline(__always)
  private func precedes(_ a: Int32, _ b: Int32) -> Bool {
    let x = streams[Int(a)].key
    let y = streams[Int(b)].key
    return x < y || (x == y && a < b)
  }

  private mutating func siftDown(_ start: Int) {
    var position = start
    let moving = heap[position]
    while true {
      var child = 2 * position + 1
      if child >= heap.count { break }
      if child + 1 < heap.count, precedes(heap[child + 1], heap[child]) { child += 1 }
      if !precedes(heap[child], moving) { break }
      heap[position] = heap[child]
      position = child
    }
    heap[position] = moving
  }

  private mutating func removeFirst() {
    let last = heap.removeLast()
    if heap.isEmpty { return }
    heap[0] = last
    siftDown(0)
  }

  /// Hands every event to `sink`.
  mutating func run<Sink: EventSink>(into sink: inout Sink) {
    while let first = heap.first {
      let stream = streams + Int(first)
      if !stream.pointee.hasEvent {
        if !openNext(stream) {
          removeFirst()
        } else {
          siftDown(0)
        }
        continue
      }
      // The stream keeps the lead until it reaches the second.
      var limit = UInt64.max
      var winsTies = true
      if heap.count > 1 {
        let second = heap.count > 2 && precedes(heap[2], heap[1]) ? heap[2] : heap[1]
        limit = streams[Int(second)].key
        winsTies = first < second
      }
      runStream(stream, into: &sink, limit: limit, winsTies: winsTies)
      if isDisordered { order() } else { siftDown(0) }
    }
  }

  /// Hands events of one stream on while it leads. Afterwards its key is up to date.
  @inline(__always)
  private mutating func runStream<Sink: EventSink>(
    _ stream: UnsafeMutablePointer<ThreadStream>, into sink: inout Sink, limit: UInt64, winsTies: Bool
  ) {
    repeat {
      let mayWait = stream.pointee.waitsFor == nil && heap.count > 1 && patience > 0
      let verdict = sink.take(stream.pointee.event, mayWait: mayWait)
      if verdict != .taken && mayWait {
        park(stream, verdict)
        return
      }
      if stream.pointee.waitsFor != nil {
        stream.pointee.waitsFor = nil
        waiting -= 1
      }
      if waiting > 0, wake(for: stream.pointee.event) {
        _ = advance(stream)
        return
      }
      if !advance(stream) { return }
    } while stream.pointee.key < limit || (stream.pointee.key == limit && winsTies)
  }

  /// Moves a stream to its next event; false if its chunk has ended.
  @inline(__always)
  private mutating func advance(_ stream: UnsafeMutablePointer<ThreadStream>) -> Bool {
    switch stream.pointee.decoder.next(&stream.pointee.event) {
    case .event:
      if stream.pointee.event.time > stream.pointee.key { stream.pointee.key = stream.pointee.event.time }
      return true
    case .end:
      finishChunk(stream, isDamaged: false)
      return false
    case .damaged:
      finishChunk(stream, isDamaged: true)
      return false
    }
  }

  @inline(never)
  private mutating func park(_ stream: UnsafeMutablePointer<ThreadStream>, _ verdict: EventVerdict) {
    stream.pointee.waitsFor = verdict
    stream.pointee.keyBeforeWaiting = stream.pointee.key
    stream.pointee.key = stream.pointee.key.addingReportingOverflow(patience).overflow ? .max : stream.pointee.key + patience
    waiting += 1
  }

  /// If a stream waits for this event, lets it go next. True if one did.
  @inline(never)
  private mutating func wake(for event: TraceEvent) -> Bool {
    let awaited: EventVerdict
    switch event.operation.effect {
    case .free: awaited = .waitForFree
    case .allocation, .reallocFailed: awaited = .waitForAllocation
    default: return false
    }
    for position in heap.indices.dropFirst() {
      let stream = streams + Int(heap[position])
      guard stream.pointee.waitsFor == awaited, stream.pointee.event.address == event.address else { continue }
      // It stays marked as waiting, so that its event is taken whatever comes.
      stream.pointee.key = stream.pointee.keyBeforeWaiting
      isDisordered = true
      return true
    }
    return false
  }

  // MARK: Chunks

  /// Opens the stream's next chunk and decodes its first event; false if there is none left.
  private mutating func openNext(_ stream: UnsafeMutablePointer<ThreadStream>) -> Bool {
    while stream.pointee.nextChunk < stream.pointee.chunks.count {
      let index = stream.pointee.chunks[stream.pointee.nextChunk]
      let chunk = reader.chunks[index]
      // Another stream may be due before this chunk begins.
      if chunk.firstTime > stream.pointee.key {
        stream.pointee.key = chunk.firstTime
        if heap.count > 1 { return true }
      }
      stream.pointee.nextChunk += 1
      let cost = min(UInt64(chunk.rawSize), TraceChunk.justifiedRawSize(storedSize: chunk.storedSize)) + UInt64(EventCodingState.footprint)
      guard cost <= budget else {
        reader.reportWhileReplaying(
          .init(.implausibleSize(claimed: ByteCount(cost), justified: ByteCount(budget)), at: chunk.place, chunk: index))
        continue
      }
      let open = spare.popLast() ?? OpenChunk(buffer: PayloadBuffer(), decoder: reader.makeDecoder(wanting: stacks))
      if let failure = reader.loader.load(chunk, into: open.buffer) {
        spare.append(open)
        reader.reportWhileReplaying(.init(failure, at: chunk.place, chunk: index))
        continue
      }
      budget -= cost
      stream.pointee.buffer = open.buffer
      stream.pointee.decoder = open.decoder
      stream.pointee.held = cost
      stream.pointee.currentChunk = index
      stream.pointee.decoder.begin(open.buffer, firstTime: chunk.firstTime)
      stream.pointee.event.thread = stream.pointee.thread
      stream.pointee.event.chunk = UInt32(truncatingIfNeeded: index)
      stream.pointee.hasEvent = true
      if advance(stream) { return true }
    }
    return false
  }

  private mutating func finishChunk(_ stream: UnsafeMutablePointer<ThreadStream>, isDamaged: Bool) {
    stream.pointee.hasEvent = false
    budget += stream.pointee.held
    stream.pointee.held = 0
    let index = stream.pointee.currentChunk
    let chunk = reader.chunks[index]
    let decoder = stream.pointee.decoder
    if let buffer = stream.pointee.buffer, spare.count < 8, buffer.capacity < 8 << 20 {
      spare.append(OpenChunk(buffer: buffer, decoder: decoder))
    } else {
      decoder.deallocate()
    }
    stream.pointee.buffer = nil
    stream.pointee.decoder = .unopened
    if isDamaged {
      reader.reportWhileReplaying(
        .init(.damagedEvents(payloadOffset: decoder.offset, events: decoder.eventCount), at: chunk.place, chunk: index))
    } else if chunk.livePayload == nil, decoder.eventCount != chunk.eventCount {
      reader.reportWhileReplaying(.init(.eventCountMismatch(claimed: chunk.eventCount, found: decoder.eventCount), at: chunk.place, chunk: index))
    }
  }
}

/// Where the merge stands in one thread.
struct ThreadStream {
  let thread: UInt32
  /// Indices into the trace's chunks, by sequence.
  let chunks: [Int]
  var nextChunk = 0
  var currentChunk = 0
  /// The event that comes next, if `hasEvent`.
  var event = TraceEvent()
  var hasEvent = false
  /// Where the thread stands in the merge: its next event's time, but never less than one before it.
  var key: UInt64
  var waitsFor: EventVerdict?
  var keyBeforeWaiting: UInt64 = 0
  var decoder = EventDecoder.unopened
  var held: UInt64 = 0
  var buffer: PayloadBuffer?

  init(thread: UInt32, chunks: [Int], key: UInt64) {
    self.thread = thread
    self.chunks = chunks
    self.key = key
  }
}

/// A decoder and the memory it reads from, for one stream after another.
private struct OpenChunk {
  var buffer: PayloadBuffer
  var decoder: EventDecoder
}

extension TraceReader {
  /// Hands every event of the trace to `sink`, merged by time. May be called again, for a second pass. What is found damaged
  /// on the way is added to `diagnostics`. O(events · log threads).
  func replay<Sink: EventSink>(into sink: inout Sink, stacks: StackSelection = .all) {
    marks.removeAll()
    var merger = EventMerger(self, stacks: stacks)
    merger.run(into: &sink)
    merger.deallocate()
    if definitions.stacks.overflowCount > 0 { reportWhileReplaying(.init(.tooManyStacks(frames: definitions.stacks.overflowCount))) }
    hasReplayed = true
  }
}
