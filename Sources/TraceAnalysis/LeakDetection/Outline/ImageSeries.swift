// The contents of several heap images of one process, by holder.

import HeapAnalysis
import TraceReading

/// The time of an image, and the size of the process.
package struct ImageMoment: Codable, Hashable, Sendable {
  /// Seconds since the process began.
  package var time: Double
  /// Nanoseconds since 1970; 0 if that is not known.
  package var realtime: UInt64
  /// Bytes of the process; nil if they are not known.
  package var resident: UInt64?
  /// Bytes and number of all live blocks.
  package var live: UInt64
  package var blocks: UInt64

  package init(time: Double, realtime: UInt64 = 0, resident: UInt64? = nil, live: UInt64 = 0, blocks: UInt64 = 0) {
    (self.time, self.realtime, self.resident, self.live, self.blocks) = (time, realtime, resident, live, blocks)
  }
}

extension ImageMoment {
  /// Nanoseconds since 1970, so many seconds after a process's start; 0 if either is not known. A trace may claim any
  /// time.
  package static func realtime(start: UInt64, seconds: Double) -> UInt64 {
    start > 0 && seconds >= 0 && seconds < 1e9 ? start &+ UInt64(seconds * 1e9) : 0
  }
}

/// The figures of a row in one image.
package struct HolderFigures: Codable, Hashable, Sendable {
  /// Elements of collections, objects of all else.
  package var count: UInt64 = 0
  package var bytes: UInt64 = 0
  package var retainedBytes: UInt64 = 0

  package init(count: UInt64 = 0, bytes: UInt64 = 0, retainedBytes: UInt64 = 0) {
    (self.count, self.bytes, self.retainedBytes) = (count, bytes, retainedBytes)
  }
}

/// Images of one process, in order of time. Memory is bounded: with very many images, every second one is dropped, and
/// with very many rows, the smallest. A value.
package struct ImageSeries: Sendable {
  /// A proven finding from image to image.
  package struct FindingHistory: Sendable {
    /// The finding in the last image that had it.
    package var finding: Finding
    /// By image.
    package var instances: [Int]
  }

  struct History {
    /// The row in the last image that had it.
    var row: HolderCensus.Row
    var figures: [HolderFigures]
    var kept: [Double?]
  }

  package private(set) var moments: [ImageMoment] = []
  private(set) var rows: [HolderCensus.Key: History] = [:]
  /// By fingerprint.
  package private(set) var findings: [String: FindingHistory] = [:]
  private var samples: [HolderCensus.Key: ObjectSample] = [:]
  /// The samples of two earlier images, and how many were taken before each: from half to three quarters of all ago, and
  /// later ones.
  private var anchors: [(ordinal: Int, samples: [HolderCensus.Key: ObjectSample])] = []
  /// By image: how many were taken before it.
  private var ordinals: [Int] = []
  /// All that were taken.
  package private(set) var taken = 0
  /// One in so many images stays, and the newest.
  package private(set) var step = 1

  /// A week of images every ten minutes is a thousand; curves of half of these look the same.
  package static let imageLimit = 256
  /// Rows of all images.
  static let rowLimit = 2 * HolderCensus.rowLimit
  /// Fingerprints.
  static let findingLimit = 4096

  package init() {}

  /// Adds an image that was taken after all others. O(rows).
  package mutating func add(_ moment: ImageMoment, _ image: ImageCensus, findings found: [Finding]) {
    precondition(moments.last.map { $0.time < moment.time } ?? true, "images come in order of time")
    if let last = ordinals.last, last % step != 0 { removeImage(at: ordinals.count - 1) }
    // Images whose numbers are powers of two stay when others are forgotten.
    if taken & (taken &- 1) == 0 { anchors = anchors.suffix(1) + [(taken, image.samples)] }
    ordinals.append(taken)
    taken += 1
    let number = moments.count
    moments.append(moment)
    for row in image.census.rows {
      var history = rows.removeValue(forKey: row.key) ?? .init(row: row, figures: [], kept: [])
      while history.figures.count < number {
        history.figures.append(HolderFigures())
        history.kept.append(nil)
      }
      history.row = row
      history.figures.append(.init(count: row.count, bytes: row.bytes, retainedBytes: row.retainedBytes))
      // A collection's memory is replaced as it grows.
      let sample = row.kind.isCollection ? nil : image.samples[row.key]
      history.kept.append(
        sample.flatMap { now in samples[row.key].flatMap { $0.keptShare(in: now) } })
      rows[row.key] = history
    }
    for key in rows.keys where rows[key]!.figures.count == number {
      rows[key]!.figures.append(HolderFigures())
      rows[key]!.kept.append(nil)
    }
    samples = image.samples
    add(found, number)
    limitRows()
    if moments.count >= Self.imageLimit { thinOut() }
  }

  private mutating func add(_ found: [Finding], _ number: Int) {
    for finding in found where finding.suppression == nil && finding.certainty == .proven {
      var history =
        findings[finding.fingerprint]
        ?? FindingHistory(finding: finding, instances: Array(repeating: 0, count: number))
      history.finding = finding
      if history.instances.count == number { history.instances.append(0) }
      history.instances[number] += finding.instances
      if findings.count < Self.findingLimit || findings[finding.fingerprint] != nil {
        findings[finding.fingerprint] = history
      }
    }
    for key in findings.keys where findings[key]!.instances.count == number { findings[key]!.instances.append(0) }
  }

  /// Returns an image whose objects are known, and the share of a row's objects in it that still exist in the newest
  /// image; nil if that is not known. Chooses the earliest image from `start` on, or else the last one before.
  func lastingShare(of key: HolderCensus.Key, from start: Int) -> (image: Int, share: Double)? {
    let known = anchors.compactMap { anchor in
      ordinals.firstIndex(of: anchor.ordinal).map { (image: $0, samples: anchor.samples) }
    }.filter { $0.image < moments.count - 1 }
    guard let anchor = known.first(where: { $0.image >= start }) ?? known.last, let earlier = anchor.samples[key],
      let share = samples[key].flatMap({ earlier.keptShare(in: $0) })
    else { return nil }
    return (anchor.image, share)
  }

  private mutating func limitRows() {
    guard rows.count > Self.rowLimit else { return }
    let order = rows.values.sorted {
      ($1.figures.last!.bytes, $0.row.key) < ($0.figures.last!.bytes, $1.row.key)
    }
    for history in order[Self.rowLimit...] { rows[history.row.key] = nil }
  }

  private mutating func removeImage(at index: Int) {
    moments.remove(at: index)
    ordinals.remove(at: index)
    for key in rows.keys {
      rows[key]!.figures.remove(at: index)
      rows[key]!.kept.remove(at: index)
    }
    for key in findings.keys { findings[key]!.instances.remove(at: index) }
  }

  private mutating func thinOut() {
    step *= 2
    for index in ordinals.indices.dropLast().reversed() where ordinals[index] % step != 0 { removeImage(at: index) }
  }
}
