// Finds the image of a frame at a time. Images are loaded and unloaded, so addresses are reused.

/// An image, and the times when it was loaded and unloaded.
package struct TraceImage: Hashable, Sendable {
  package var image: LoadedImage
  /// Ticks.
  package var loadTime: UInt64
  /// Nil if the image was loaded until the end.
  package var unloadTime: UInt64?
}

/// Finds the image of a frame. Immutable. A look-up takes O(log² images), even if images overlap.
///
/// A segment tree over the addresses where images begin and end. An image belongs to the O(log n) nodes whose intervals
/// make up its range, and each node has the load times of its images. Memory: O(n log n), but O(n) for disjoint images.
struct ImageIndex {
  /// The addresses where images begin and end, ascending and distinct.
  private let bounds: [UInt64]
  /// By node, with the leaves last: the node's images. Nil for nodes without images.
  private let histories: [ImageTimes?]
  /// True if some address belonged to more than one image.
  let isAmbiguous: Bool
  /// True if each address has the same image at all times: no image was unloaded, and none overlap.
  let isTimeless: Bool

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
    isTimeless = !isAmbiguous && images.allSatisfy { $0.unloadTime == nil }
    histories = members.map { ranks in
      ranks.isEmpty ? nil : ImageTimes(ranks.map { ($0, byTime[$0].element, images[byTime[$0].element]) })
    }
  }

  /// Returns the index of the first element that is not below `value`.
  private static func lowerBound(_ values: [UInt64], _ value: UInt64) -> Int {
    var low = 0
    var high = values.count
    while low < high {
      let middle = (low + high) / 2
      if values[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the index of the image that covers `address` at a time in ticks: of the images that are loaded at that
  /// time, the last loaded one. If there is none, returns the image that is loaded next, because the images of the
  /// start may be recorded late.
  func image(covering address: UInt64, time: UInt64) -> Int? {
    guard let first = bounds.first, address >= first else { return nil }
    var node = Self.lowerBound(bounds, address)
    // Take the last interval that begins at or before the address.
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

/// The images that cover the same addresses, in order of time.
private struct ImageTimes {
  struct Entry {
    var loadTime: UInt64
    /// The position of the image in the order of loading.
    var rank: Int
    /// The index of the image in the trace's images.
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

  /// Takes images in order of loading. O(n log n).
  init(_ images: [(rank: Int, index: Int, image: TraceImage)]) {
    entries = images.map { Entry(loadTime: $0.image.loadTime, rank: $0.rank, image: $0.index) }
    // An image still covers its addresses at the moment of its unload.
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

  /// Returns the last loaded of the images that are loaded at a time.
  func present(at time: UInt64) -> Entry? {
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].time <= time { low = middle + 1 } else { high = middle }
    }
    return low > 0 && changes[low - 1].entry >= 0 ? entries[changes[low - 1].entry] : nil
  }

  /// Returns the first image that is loaded after a time. If several images are loaded at the same moment, returns the
  /// last of them in the order.
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

/// The recorded loads and unloads. They are paired only when all of them are known, because threads write them in any
/// order.
struct ImageRecords {
  struct Unload {
    var first: UInt64
    var end: UInt64
    var time: UInt64
  }

  var loads: [TraceImage] = []
  var unloads: [Unload] = []

  /// Returns the images with their unload times, in order of loading. An unload ends the last image that was loaded at
  /// the same address before. O(n log n).
  func paired() -> [TraceImage] {
    var images = loads.enumerated().sorted { ($0.element.loadTime, $0.offset) < ($1.element.loadTime, $1.offset) }.map(
      \.element)
    /// The state of one address: its images in order of loading, the number of images that were loaded so far, and the
    /// images that are still loaded.
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
