// Finds the image of a frame: images come and go, and addresses are used again.

/// An image, and the times when it was loaded and unloaded.
package struct TraceImage: Hashable, Sendable {
  package var image: LoadedImage
  /// Ticks.
  package var loadTime: UInt64
  /// Nil if it stayed to the end.
  package var unloadTime: UInt64?
}

/// Finds the image of a frame. Immutable; a look-up takes O(log² images), however they overlap.
///
/// A segment tree over the addresses where images begin and end. An image is at the O(log n) nodes that make up its
/// range, and each node has the load times of its images. Memory: O(n log n), but O(n) for disjoint images.
struct ImageIndex {
  /// Ascending, each once.
  private let bounds: [UInt64]
  /// By node, the leaves last; nil for nodes without images.
  private let histories: [ImageTimes?]
  /// True if some address belonged to more than one image.
  let isAmbiguous: Bool

  init(images: [TraceImage]) {
    let indices = images.indices.filter { !images[$0].image.range.isEmpty }
    var ends: [UInt64] = []
    for index in indices {
      ends += [images[index].image.range.lowerBound.rawValue, images[index].image.range.upperBound.rawValue]
    }
    ends.sort()
    var bounds: [UInt64] = []
    for end in ends where bounds.last != end { bounds.append(end) }
    self.bounds = bounds
    var members = [[Int]](repeating: [], count: 2 * bounds.count)
    var isAmbiguous = false
    var highest: UInt64 = 0
    let byStart = indices.sorted { images[$0].image.range.lowerBound < images[$1].image.range.lowerBound }
    for index in byStart {
      let range = images[index].image.range
      if range.lowerBound.rawValue < highest { isAmbiguous = true }
      highest = max(highest, range.upperBound.rawValue)
    }
    // If two images were loaded at the same time, the image at the higher address counts.
    let byTime = byStart.enumerated().sorted {
      (images[$0.element].loadTime, $0.offset) < (images[$1.element].loadTime, $1.offset)
    }
    for (rank, member) in byTime.enumerated() {
      let range = images[member.element].image.range
      var low = Self.lowerBound(bounds, range.lowerBound.rawValue) + bounds.count
      var high = Self.lowerBound(bounds, range.upperBound.rawValue) + bounds.count
      while low < high {
        if low & 1 == 1 {
          members[low].append(rank)
          low += 1
        }
        if high & 1 == 1 {
          high -= 1
          members[high].append(rank)
        }
        low /= 2
        high /= 2
      }
    }
    self.isAmbiguous = isAmbiguous
    histories = members.map { ranks in
      ranks.isEmpty ? nil : ImageTimes(ranks.map { ($0, byTime[$0].element, images[byTime[$0].element]) })
    }
  }

  /// Index of the first that is not below a value.
  private static func lowerBound(_ values: [UInt64], _ value: UInt64) -> Int {
    var low = 0
    var high = values.count
    while low < high {
      let middle = (low + high) / 2
      if values[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Index of the image that covers `address` at a time in ticks: the last one loaded by then and not unloaded. If none
  /// was loaded yet, the earliest later image: images present from the start may be recorded late.
  func image(covering address: UInt64, time: UInt64) -> Int? {
    guard let first = bounds.first, address >= first else { return nil }
    var node = Self.lowerBound(bounds, address)
    // The interval that begins at or before the address.
    if node == bounds.count || bounds[node] > address { node -= 1 }
    node += bounds.count
    var present: ImageTimes.Entry?
    var later: ImageTimes.Entry?
    while node > 0 {
      if let history = histories[node] {
        if let found = history.present(at: time), present.map({ $0.rank < found.rank }) ?? true { present = found }
        if present == nil, let found = history.first(after: time), later.map({ found.isBefore($0) }) ?? true {
          later = found
        }
      }
      node /= 2
    }
    return (present ?? later)?.image
  }
}

/// Images that all cover the same addresses, by time.
private struct ImageTimes {
  struct Entry {
    var loadTime: UInt64
    /// In order of loading.
    var rank: Int
    /// Index into the trace's images.
    var image: Int

    func isBefore(_ other: Entry) -> Bool { loadTime != other.loadTime ? loadTime < other.loadTime : rank > other.rank }
  }

  /// From `time` on, `entries[entry]` is the last loaded image that is still present; −1 if there is none.
  private struct Change {
    var time: UInt64
    var entry: Int
  }

  /// In order of loading.
  private let entries: [Entry]
  private let changes: [Change]

  /// `images` in order of loading. O(n log n).
  init(_ images: [(rank: Int, index: Int, image: TraceImage)]) {
    entries = images.map { Entry(loadTime: $0.image.loadTime, rank: $0.rank, image: $0.index) }
    // The moment of an unload still belongs to the image.
    var ends: [(time: UInt64, entry: Int)] = []
    for (entry, image) in images.enumerated() {
      guard let unload = image.image.unloadTime, unload < .max else { continue }
      ends.append((max(unload + 1, image.image.loadTime), entry))
    }
    ends.sort { ($0.time, $0.entry) < ($1.time, $1.entry) }
    var changes: [Change] = []
    var there: [Int] = []
    var hasEnded = [Bool](repeating: false, count: images.count)
    var nextLoad = 0
    var nextEnd = 0
    while nextLoad < entries.count || nextEnd < ends.count {
      let time = min(
        nextLoad < entries.count ? entries[nextLoad].loadTime : .max, nextEnd < ends.count ? ends[nextEnd].time : .max)
      while nextLoad < entries.count, entries[nextLoad].loadTime == time {
        there.append(nextLoad)
        nextLoad += 1
      }
      while nextEnd < ends.count, ends[nextEnd].time == time {
        hasEnded[ends[nextEnd].entry] = true
        nextEnd += 1
      }
      while let last = there.last, hasEnded[last] { there.removeLast() }
      changes.append(Change(time: time, entry: there.last ?? -1))
    }
    self.changes = changes
  }

  /// The latest loaded by a time, of those that are not unloaded before it.
  func present(at time: UInt64) -> Entry? {
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return low > 0 && changes[low - 1].entry >= 0 ? entries[changes[low - 1].entry] : nil
  }

  /// The first that is loaded after a time; of several at once the last in order.
  func first(after time: UInt64) -> Entry? {
    let first = firstIndex(after: time)
    return first < entries.count ? entries[firstIndex(after: entries[first].loadTime) - 1] : nil
  }

  private func firstIndex(after time: UInt64) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].loadTime <= time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// A load or unload as recorded; pairs are found once all are known, since threads write them in any order.
struct ImageRecords {
  struct Unload {
    var first: UInt64
    var end: UInt64
    var time: UInt64
  }

  var loads: [TraceImage] = []
  var unloads: [Unload] = []

  /// The images with their ends, in order of loading. An unload ends the latest image that was loaded at its address by
  /// then. O(n log n).
  func paired() -> [TraceImage] {
    var images = loads.enumerated().sorted { ($0.element.loadTime, $0.offset) < ($1.element.loadTime, $1.offset) }.map(
      \.element)
    /// One address: images in order of loading, the number loaded by now, and those that are still loaded.
    struct Place {
      var images: [Int] = []
      var loaded = 0
      var open: [Int] = []
    }
    var places: [UInt64: Place] = [:]
    for (index, image) in images.enumerated() {
      places[image.image.range.lowerBound.rawValue, default: Place()].images.append(index)
    }
    for unload in unloads.sorted(by: { $0.time < $1.time }) {
      guard let slot = places.index(forKey: unload.first) else { continue }
      while places.values[slot].loaded < places.values[slot].images.count {
        let next = places.values[slot].images[places.values[slot].loaded]
        guard images[next].loadTime <= unload.time else { break }
        places.values[slot].open.append(next)
        places.values[slot].loaded += 1
      }
      if let last = places.values[slot].open.popLast() { images[last].unloadTime = unload.time }
    }
    return images
  }
}
