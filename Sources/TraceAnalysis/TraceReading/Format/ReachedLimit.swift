// The moment when a recording switched from events to samples.

/// The trace's record of that moment.
package struct ReachedLimit: Hashable, Sendable {
  /// Ticks. Every event until then is in the trace.
  package var time: UInt64
  /// Size of the trace when sampling began.
  package var bytes: UInt64
  /// Bytes of allocation from one sample to the next, on average.
  package var samplePeriod: UInt64
  /// The last whole heap image before it; nil if there is none, or if the images were not read.
  package internal(set) var imageBefore: UInt32?
  /// There is a whole heap image after it.
  package internal(set) var hasLaterImage = false

  package init(time: UInt64, bytes: UInt64, samplePeriod: UInt64) {
    (self.time, self.bytes, self.samplePeriod) = (time, bytes, samplePeriod)
  }
}

extension ReachedLimit {
  init?(_ cursor: inout ByteCursor) {
    guard let time = cursor.varint(), let bytes = cursor.varint(), let period = cursor.varint() else { return nil }
    self.init(time: time, bytes: bytes, samplePeriod: period)
  }

  func encode(to fields: inout ByteBuilder) {
    for value in [time, bytes, samplePeriod] { fields.varint(value) }
  }
}

/// The part of a trace that is read. A trace that has reached its limit has two, of different kinds; others have one.
package enum TracePart: Hashable, Sendable {
  /// All that is in the file, whatever it means together.
  case whole
  /// The part that has events.
  case events
  /// The part with this heap image; without a number, or if no image has the number, the part with the newest whole
  /// image.
  case withImage(Int?)
}

/// The contents of one part of a trace that has reached its limit.
struct PartContents {
  var header: TraceHeader
  var chunks: [TraceChunk]
  var snapshots: [TraceSnapshot]
  var closing: TraceClosing?
  var definitions: TraceDefinitions
  /// Events after this time are left out. Ticks.
  var end = UInt64.max

  /// Linear in the chunks. An image that no list goes with proves by itself that every event before it is there.
  mutating func keep(_ part: TracePart) {
    if definitions.limit == nil, !header.isLight, snapshots.contains(where: \.isListed) {
      // Its record went with a live file that is missing.
      definitions.limit = ReachedLimit(
        time: snapshots.last { !$0.isListed }?.time ?? header.startTime, bytes: 0, samplePeriod: header.samplePeriod)
    }
    guard let limit = definitions.limit else { return }
    definitions.limit?.imageBefore = snapshots.last { !$0.isListed && $0.isWhole }?.number
    definitions.limit?.hasLaterImage = snapshots.contains { $0.isListed && $0.isWhole }
    let chosen: TraceSnapshot?
    switch part {
    case .whole: return
    case .events: chosen = nil
    case .withImage(let number):
      chosen =
        number.flatMap { number in snapshots.first { Int($0.number) == number } } ?? snapshots.last { $0.isWhole }
    }
    let isSampled = chosen?.isListed ?? false
    snapshots.removeAll { $0.isListed != isSampled }
    // Chunks keep their indices.
    for index in chunks.indices where chunks[index].kind == .events {
      if (chunks[index].thread == TraceChunk.threadOfLists) != isSampled {
        chunks[index].kind = .unknown(chunks[index].kind.rawValue)
      }
    }
    if isSampled {
      header.becomeLight(samplePeriod: limit.samplePeriod)
    } else {
      end = max(limit.time, snapshots.last?.time ?? 0)
      closing = closing?.ended(at: end)
      definitions.keepRecords(until: end)
    }
  }
}

extension TraceDefinitions {
  /// Leaves out what later heap images and samples say. Linear.
  fileprivate mutating func keepRecords(until end: UInt64) {
    memorySamples.removeAll { $0.time > end }
    allocators.removeAll { $0.time > end }
    residences.removeAll { $0.time > end }
    sampleTotals.removeAll { $0.time > end }
    sampledSites.removeAll { $0.time > end }
  }
}
