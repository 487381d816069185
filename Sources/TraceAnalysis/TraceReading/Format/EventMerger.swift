// Merging the events of all threads in order of time.

/// A k-way merge of the threads' chunks, by time and then by thread number. The events of one thread keep their order,
/// even if their times do not ascend.
///
/// Holds at most one decompressed chunk of each thread, which is opened when its first event is due. An event takes
/// O(log threads) if it comes from another thread than the last event, and constant time otherwise. Source: the usual
/// binary-heap merge. Runs of events of one thread make it fast. For one thread at a time.
struct EventMerger {
  private let reader: TraceReader
  private let stacks: StackSelection
  private var streams: UnsafeMutablePointer<ThreadStream>
  private let streamCount: Int
  /// Stream numbers as a binary heap by `key`, then by number.
  private var heap: [Int32] = []
  /// Decoders that no stream uses at the moment.
  private var spare: [OpenChunk] = []
  /// The number of further bytes that open chunks may take.
  private var spareBytes: UInt64
  /// The number of events in all batches so far.
  private var eventCount: UInt64 = 0
  /// The number of further switches from one thread to another.
  private var spareTurns: UInt64
  /// Marks that will be moved to the batch.
  private let marks: MarkTable

  init(_ reader: TraceReader, stacks: StackSelection) {
    self.reader = reader
    self.stacks = stacks
    marks = MarkTable(limit: reader.limits.markCount)
    spareTurns = reader.limits.turns
    reader.definitions.stacks.beginPass()
    spareBytes = reader.limits.openChunkBytes
    var chunksByThread: [UInt32: [Int]] = [:]
    for (index, chunk) in reader.chunks.enumerated() where chunk.kind == .events {
      chunksByThread[chunk.thread, default: []].append(index)
    }
    let threads = chunksByThread.sorted { $0.key < $1.key }
    streamCount = threads.count
    streams = .allocate(capacity: max(1, threads.count))
    for (number, (thread, unsorted)) in threads.enumerated() {
      let chunks = unsorted.sorted { reader.chunks[$0].sequence < reader.chunks[$1].sequence }
      (streams + number).initialize(
        to: ThreadStream(thread: thread, chunks: chunks, key: reader.chunks[chunks[0]].firstTime))
      heap.append(Int32(number))
    }
    for position in stride(from: heap.count / 2 - 1, through: 0, by: -1) { siftDown(position) }
  }

  mutating func deallocate() {
    for number in 0..<streamCount {
      streams[number].decoder.deallocate()
      streams[number].eventPlace.deallocate()
    }
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

  /// Adds the next events to an empty batch. False if no events are left, or if the reading has to stop.
  mutating func fill(_ batch: EventBatch) -> Bool {
    guard eventCount < reader.eventLimit else { return false }
    guard reader.budget.mayGoOn(every: Self.batchesBetweenChecks) else {
      reader.noteStop(reader.budget.stop!, after: eventCount, at: heap.first.map { streams[Int($0)].key } ?? .max)
      return false
    }
    while batch.room > 0, reader.budget.stop == nil, let first = heap.first {
      let stream = streams + Int(first)
      if !stream.pointee.hasEvent {
        if !openNext(stream) {
          removeFirst()
        } else {
          siftDown(0)
        }
        continue
      }
      let hasOthers = heap.count > 1
      if hasOthers {
        if spareTurns == 0 {
          refuseRest()
          break
        }
        spareTurns -= 1
      }
      if batch.count == 0 { batch.hasOthers = hasOthers } else if batch.hasOthers != hasOthers { break }
      // The stream's events come next until its key reaches the key of the second stream.
      var limit = UInt64.max
      var winsTies = true
      if hasOthers {
        let second = heap.count > 2 && precedes(heap[2], heap[1]) ? heap[2] : heap[1]
        limit = streams[Int(second)].key
        winsTies = first < second
      }
      if hasOthers {
        runStream(stream, into: batch, limit: limit, winsTies: winsTies)
      } else {
        runLastStream(stream, into: batch)
      }
      siftDown(0)
    }
    batch.count = Int(min(UInt64(batch.count), reader.eventLimit - eventCount))
    eventCount += UInt64(batch.count)
    batch.marks = marks.handOver()
    return batch.count > 0 || reader.budget.stop != nil && fill(batch)
  }

  /// A batch takes tens of microseconds. Each of its events may need a few hundred bytes.
  private static let batchesBetweenChecks = 16

  /// Ends the merge without reading the remaining chunks.
  private mutating func refuseRest() {
    let chunks = heap.reduce(0) { sum, number in
      let stream = streams[Int(number)]
      return sum + (stream.hasEvent ? 1 : 0) + stream.chunks.count - stream.nextChunk
    }
    reader.reportWhileReplaying(.init(.tooManyTurns(chunks: chunks)))
    heap = []
  }

  /// Adds events of one stream to the batch while they come next and there is room. Updates the stream's key.
  private mutating func runStream(
    _ stream: UnsafeMutablePointer<ThreadStream>, into batch: EventBatch, limit: UInt64, winsTies: Bool
  ) {
    let start = batch.start
    let end = start + EventBatch.capacity
    var place = start + batch.count
    defer { batch.count = place - start }
    place.pointee = stream.pointee.event
    place += 1
    let thread = stream.pointee.thread
    let chunk = stream.pointee.event.chunk
    var key = stream.pointee.key
    // The loop ends with an event that is not yet due, or that has no room in the batch.
    while true {
      let next = place < end ? place : stream.pointee.eventPlace
      let step = stream.pointee.decoder.next(&next.pointee)
      if step != .event {
        stream.pointee.key = key
        finishChunk(stream, isDamaged: step == .damaged)
        return
      }
      next.pointee.thread = thread
      next.pointee.chunk = chunk
      if next.pointee.time > key { key = next.pointee.time }
      if place < end, key < limit || (key == limit && winsTies) {
        place += 1
        continue
      }
      stream.pointee.key = key
      if place < end { stream.pointee.event = next.pointee }
      return
    }
  }

  /// Adds events of the only remaining stream to the batch.
  private mutating func runLastStream(_ stream: UnsafeMutablePointer<ThreadStream>, into batch: EventBatch) {
    let start = batch.start
    let end = start + EventBatch.capacity
    var place = start + batch.count
    place.pointee = stream.pointee.event
    place += 1
    let thread = stream.pointee.thread
    let chunk = stream.pointee.event.chunk
    // The compiler can keep a local copy in registers.
    var decoder = stream.pointee.decoder
    var step = EventDecoder.Step.event
    while place < end {
      step = decoder.next(&place.pointee)
      if step != .event { break }
      place.pointee.thread = thread
      place.pointee.chunk = chunk
      place += 1
    }
    stream.pointee.decoder = decoder
    batch.count = place - start
    if step != .event { finishChunk(stream, isDamaged: step == .damaged) } else { _ = advance(stream) }
  }

  /// Decodes a stream's next event. False if the chunk has ended.
  private mutating func advance(_ stream: UnsafeMutablePointer<ThreadStream>) -> Bool {
    let step = stream.pointee.decoder.next(&stream.pointee.eventPlace.pointee)
    if step == .event {
      if stream.pointee.event.time > stream.pointee.key { stream.pointee.key = stream.pointee.event.time }
      return true
    }
    finishChunk(stream, isDamaged: step == .damaged)
    return false
  }

  // MARK: Chunks

  /// Opens the stream's next chunk and decodes its first event. False if no chunk is left.
  private mutating func openNext(_ stream: UnsafeMutablePointer<ThreadStream>) -> Bool {
    while stream.pointee.nextChunk < stream.pointee.chunks.count {
      let index = stream.pointee.chunks[stream.pointee.nextChunk]
      let chunk = reader.chunks[index]
      // Another stream's event may come before this chunk begins.
      if chunk.firstTime > stream.pointee.key {
        stream.pointee.key = chunk.firstTime
        if heap.count > 1 { return true }
      }
      guard reader.budget.mayGoOn(adding: chunk.plausibleRawSize) else { return false }
      stream.pointee.nextChunk += 1
      let cost = chunk.plausibleRawSize + UInt64(EventCodingState.footprint)
      guard cost <= spareBytes else {
        reader.reportWhileReplaying(
          .init(
            .implausibleSize(claimed: ByteCount(cost), justified: ByteCount(spareBytes)), at: chunk.place, chunk: index)
        )
        continue
      }
      let open =
        spare.popLast()
        ?? OpenChunk(buffer: PayloadBuffer(), decoder: reader.makeDecoder(wanting: stacks, marks: marks))
      if let failure = reader.loader.load(chunk, into: open.buffer) {
        spare.append(open)
        reader.reportWhileReplaying(.init(failure, at: chunk.place, chunk: index))
        continue
      }
      spareBytes -= cost
      stream.pointee.buffer = open.buffer
      stream.pointee.decoder = open.decoder
      stream.pointee.held = cost
      stream.pointee.currentChunk = index
      stream.pointee.decoder.begin(open.buffer, firstTime: chunk.firstTime)
      stream.pointee.eventPlace.pointee.thread = stream.pointee.thread
      stream.pointee.eventPlace.pointee.chunk = UInt32(truncatingIfNeeded: index)
      stream.pointee.hasEvent = true
      if advance(stream) { return true }
    }
    return false
  }

  private mutating func finishChunk(_ stream: UnsafeMutablePointer<ThreadStream>, isDamaged: Bool) {
    stream.pointee.hasEvent = false
    spareBytes += stream.pointee.held
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
      reader.reportWhileReplaying(
        .init(.eventCountMismatch(claimed: chunk.eventCount, found: decoder.eventCount), at: chunk.place, chunk: index))
    }
  }
}

/// The position of the merge in one thread.
struct ThreadStream {
  let thread: UInt32
  /// The thread's chunks in order of their sequence numbers, as indices into the trace's chunks.
  let chunks: [Int]
  var nextChunk = 0
  var currentChunk = 0
  /// The thread's next event, if `hasEvent`.
  var event: TraceEvent {
    @inline(__always) get { eventPlace.pointee }
    @inline(__always) nonmutating set { eventPlace.pointee = newValue }
  }
  let eventPlace = UnsafeMutablePointer<TraceEvent>.allocate(capacity: 1)
  var hasEvent = false
  /// The thread's position in the merge: the time of its next event, or the time of an earlier event if that is later.
  var key: UInt64
  var decoder = EventDecoder.unopened
  var held: UInt64 = 0
  var buffer: PayloadBuffer?

  init(thread: UInt32, chunks: [Int], key: UInt64) {
    self.thread = thread
    self.chunks = chunks
    self.key = key
    eventPlace.initialize(to: TraceEvent())
  }
}

/// A decoder and the memory that it reads from. Streams use it one after another.
private struct OpenChunk {
  var buffer: PayloadBuffer
  var decoder: EventDecoder
}
