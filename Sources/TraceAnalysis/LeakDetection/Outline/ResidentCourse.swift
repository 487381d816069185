// Resident memory over the time of a recording.

import TextWriting
import TraceReading

/// The memory of a process and its allocators at each heap image.
package struct ResidentCourse: Hashable, Sendable {
  /// The figures at one heap image, in bytes.
  package struct Moment: Hashable, Sendable {
    /// Seconds since the recording began.
    package var seconds: Double
    /// Resident size of the process without the recorder.
    package var resident: UInt64
    /// Memory that the allocators have given out, including the rounding of blocks.
    package var inUse: UInt64
    /// Freed memory that the allocators keep. `freePages`: the part of it in whole resident pages.
    package var freed: UInt64
    package var freePages: UInt64

    package init(seconds: Double, resident: UInt64, inUse: UInt64, freed: UInt64, freePages: UInt64) {
      (self.seconds, self.resident, self.inUse) = (seconds, resident, inUse)
      (self.freed, self.freePages) = (freed, freePages)
    }
  }

  /// The figures at the heap images, in order of time.
  package private(set) var moments: [Moment]

  /// Maximum number of moments: the number of columns in a picture. If there are more heap images, an even selection is
  /// kept.
  private static let limit = 256
  /// Minimum growth to report, in bytes. Smaller changes are normal, since programs allocate and free memory all the
  /// time.
  private static let remarkableGrowth: Int64 = 16 << 20

  package init(_ moments: [Moment]) {
    guard moments.count > Self.limit else {
      self.moments = moments
      return
    }
    self.moments = (0..<Self.limit).map { moments[$0 * (moments.count - 1) / (Self.limit - 1)] }
  }

  /// Takes the heap images up to a time. Linear in the samples of memory.
  init(_ definitions: TraceDefinitions, _ samples: [MemorySample], clock: TraceClock, until end: UInt64) {
    var sizes: [UInt64: UInt64] = [:]
    for sample in samples { sizes[sample.time] = sample.residentOfProgram }
    var images: [UInt64: Moment] = [:]
    for record in definitions.allocators where record.time <= end {
      guard let resident = sizes[record.time], let seconds = clock.seconds(at: record.time) else { continue }
      var moment =
        images[record.time] ?? Moment(seconds: seconds, resident: resident, inUse: 0, freed: 0, freePages: 0)
      moment.inUse &+= record.inUse
      moment.freed &+= record.held
      moment.freePages &+= record.freePages
      images[record.time] = moment
    }
    self.init(images.sorted { $0.key < $1.key }.map(\.value))
  }

  /// The growth since the first heap image, as a sentence without its full stop; nil if there is little growth.
  package var growth: String? {
    guard let first = moments.first, let last = moments.last, moments.count > 1 else { return nil }
    func change(_ value: (Moment) -> UInt64) -> Int64 { Int64(clamping: value(last)) - Int64(clamping: value(first)) }
    let resident = change(\.resident)
    guard resident >= Self.remarkableGrowth else { return nil }
    func text(_ change: Int64) -> String { (change < 0 ? "−" : "+") + Decimal.bytes(change.magnitude) }
    return
      "In \(Decimal.duration(last.seconds - first.seconds)) and \(Decimal.counted(UInt64(moments.count), "image")) the resident size grew by \(Decimal.bytes(resident.magnitude)): \(text(change(\.inUse))) in live blocks, \(text(change(\.freed))) freed and kept"
  }
}
