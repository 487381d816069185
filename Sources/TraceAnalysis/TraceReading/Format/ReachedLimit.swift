// The moment when a recording switched from events to samples.

/// The trace's record of the switch from events to samples, when the trace had reached its size limit.
package struct ReachedLimit: Hashable, Sendable {
  /// The time of the switch, in ticks. The trace has every event up to this time.
  package var time: UInt64
  /// Size of the trace when sampling began.
  package var bytes: UInt64
  /// Bytes of allocation from one sample to the next, on average.
  package var samplePeriod: UInt64
  /// The number of the last whole heap image before the switch; nil if there is none, or if the images were not read.
  package internal(set) var imageBefore: UInt32?
  /// True if there is a whole heap image after the switch.
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

/// Selects the part of a trace that is read. A trace that has reached its limit has two parts: the first with events,
/// the second with samples. Other traces have one part.
package enum TracePart: Hashable, Sendable {
  /// The whole file, even if it has two parts that do not fit together.
  case whole
  /// The part with events.
  case events
  /// The part with the heap image of this number. If the number is nil, or no image has it, the part with the newest
  /// whole image.
  case withImage(Int?)
}

/// The contents of one part of a trace that has reached its limit.
struct PartContents {
  var header: TraceHeader
  var chunks: [TraceChunk]
  var snapshots: [TraceSnapshot]
  var closing: TraceClosing?
  var definitions: TraceDefinitions
  /// A time in ticks. Events after this time are left out.
  var end = UInt64.max

  /// Removes the contents of all other parts. Linear in the chunks. An image without a list of blocks can only be from
  /// the first part, so the trace has every event before such an image.
  mutating func keep(_ part: TracePart) {
    if definitions.limit == nil, !header.isLight, snapshots.contains(where: \.isListed) {
      // The record of the switch was in a live file that is missing.
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
    // Only change the chunks' kinds, so that the chunks keep their indices.
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
  /// Removes records of heap images and samples after `end`. Linear.
  fileprivate mutating func keepRecords(until end: UInt64) {
    memorySamples.removeAll { $0.time > end }
    allocators.removeAll { $0.time > end }
    residences.removeAll { $0.time > end }
    sampleTotals.removeAll { $0.time > end }
    sampledSites.removeAll { $0.time > end }
  }
}
