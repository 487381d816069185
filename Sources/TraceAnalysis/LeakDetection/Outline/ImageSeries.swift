// The contents of several heap images of one process, by holder.

import HeapAnalysis
import TraceReading

/// The time of a heap image, and the size of the process at that time.
package struct ImageMoment: Codable, Hashable, Sendable {
  /// Seconds since the process began.
  package var time: Double
  /// Nanoseconds since 1970; 0 if that is not known.
  package var realtime: UInt64
  /// Resident size in bytes; nil if it is not known.
  package var resident: UInt64?
  /// Bytes of all live blocks.
  package var live: UInt64
  package var blocks: UInt64

  package init(time: Double, realtime: UInt64 = 0, resident: UInt64? = nil, live: UInt64 = 0, blocks: UInt64 = 0) {
    (self.time, self.realtime, self.resident, self.live, self.blocks) = (time, realtime, resident, live, blocks)
  }
}

extension ImageMoment {
  /// Returns the time in nanoseconds since 1970 at `seconds` after the start of a process; 0 if the start is 0 or
  /// `seconds` is out of range. A damaged trace may have any time.
  package static func realtime(start: UInt64, seconds: Double) -> UInt64 {
    start > 0 && seconds >= 0 && seconds < 1e9 ? start &+ UInt64(seconds * 1e9) : 0
  }
}

/// The figures of a row in one heap image.
package struct HolderFigures: Codable, Hashable, Sendable {
  /// The number of elements for collections, and the number of objects for all other kinds.
  package var count: UInt64 = 0
  package var bytes: UInt64 = 0
  package var retainedBytes: UInt64 = 0

  package init(count: UInt64 = 0, bytes: UInt64 = 0, retainedBytes: UInt64 = 0) {
    (self.count, self.bytes, self.retainedBytes) = (count, bytes, retainedBytes)
  }
}

/// Heap images of one process, in order of time. Memory is bounded. If there are too many images, every second image is
/// dropped. If there are too many rows, the smallest rows are dropped.
package struct ImageSeries: Sendable {
  /// A proven finding, and its number of instances in each heap image.
  package struct FindingHistory: Sendable {
    /// The finding in the last heap image that had it.
    package var finding: Finding
    /// The number of instances in each kept heap image.
    package var instances: [Int]
  }

  struct History {
    /// The row in the last heap image that had it.
    var row: HolderCensus.Row
    var figures: [HolderFigures]
    var kept: [Double?]
  }

  package private(set) var moments: [ImageMoment] = []
  private(set) var rows: [HolderCensus.Key: History] = [:]
  /// The findings, by fingerprint.
  package private(set) var findings: [String: FindingHistory] = [:]
  private var samples: [HolderCensus.Key: ObjectSample] = [:]
  /// The samples of two earlier heap images. `ordinal`: the number of images taken before that image, a power of two.
  /// The older image was taken when between a quarter and a half of today's images existed. The other image was taken
  /// later.
  private var anchors: [(ordinal: Int, samples: [HolderCensus.Key: ObjectSample])] = []
  /// For each kept image: the number of images taken before it.
  private var ordinals: [Int] = []
  /// The number of images taken, including those that were dropped.
  package private(set) var taken = 0
  /// One heap image in `step` is kept, and also the newest one.
  package private(set) var step = 1

  /// Maximum number of kept heap images. With one image every ten minutes, a week has a thousand. Curves of a part of
  /// them look the same.
  package static let imageLimit = 256
  /// Maximum number of rows of all heap images together.
  static let rowLimit = 2 * HolderCensus.rowLimit
  /// Maximum number of findings.
  static let findingLimit = 4096

  package init() {}

  /// Adds a heap image that was taken after all others. O(rows).
  package mutating func add(_ moment: ImageMoment, _ image: ImageCensus, findings found: [Finding]) {
    precondition(moments.last.map { $0.time < moment.time } ?? true, "images come in order of time")
    if let last = ordinals.last, last % step != 0 { removeImage(at: ordinals.count - 1) }
    // Choose images whose ordinals are powers of two: `thinOut` keeps them longest.
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
      // A collection that grows moves to a new block, so ignore its samples.
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

  /// Returns a heap image with kept samples, and the share of a row's objects in it that still exist in the newest
  /// image. Nil if the share is not known. Chooses the earliest such image from `start` on. If there is none, chooses
  /// the last one before `start`.
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
