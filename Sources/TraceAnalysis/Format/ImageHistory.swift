// Which image a frame meant: images come and go, and addresses are used again.

/// An image, and when it was there.
public struct TraceImage: Hashable, Sendable {
  public var image: LoadedImage
  /// Ticks.
  public var loadTime: UInt64
  /// Nil if it stayed to the end.
  public var unloadTime: UInt64?
}

/// Finds the image of a frame. Immutable; lookups are logarithmic unless images overlap.
struct ImageIndex {
  /// Indices into `images`, by start address.
  private let order: [Int]
  private let starts: [UInt64]
  /// The highest end among the images up to here.
  private let highestEnd: [UInt64]
  private let images: [TraceImage]
  /// Whether some address belonged to more than one image.
  let isAmbiguous: Bool

  init(images: [TraceImage]) {
    self.images = images
    order = images.indices.sorted { images[$0].image.range.lowerBound < images[$1].image.range.lowerBound }
    starts = order.map { images[$0].image.range.lowerBound.rawValue }
    var highest: UInt64 = 0
    var overlaps = false
    for index in order {
      let range = images[index].image.range
      if range.lowerBound.rawValue < highest, !range.isEmpty { overlaps = true }
      highest = max(highest, range.upperBound.rawValue)
    }
    isAmbiguous = overlaps
    highest = 0
    highestEnd = order.map { index in
      highest = max(highest, images[index].image.range.upperBound.rawValue)
      return highest
    }
  }

  /// Index into the images of the one that covers `address` at a time in ticks: the latest loaded by then and not unloaded. Where none was
  /// loaded yet, the earliest that covers it: what was there from the start may be noticed late.
  func image(covering address: UInt64, time: UInt64) -> Int? {
    var low = 0
    var high = starts.count
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= address { low = middle + 1 } else { high = middle }
    }
    var best: Int?
    var later: Int?
    var position = low - 1
    while position >= 0, highestEnd[position] > address {
      let index = order[position]
      let image = images[index]
      position -= 1
      if image.image.range.upperBound.rawValue <= address { continue }
      if image.loadTime <= time {
        if let unload = image.unloadTime, unload < time { continue }
        if best.map({ images[$0].loadTime < image.loadTime }) ?? true { best = index }
      } else if later.map({ images[$0].loadTime > image.loadTime }) ?? true {
        later = index
      }
    }
    return best ?? later
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

  /// The images with their ends, in order of loading.
  func paired() -> [TraceImage] {
    var images = loads.enumerated().sorted { ($0.element.loadTime, $0.offset) < ($1.element.loadTime, $1.offset) }.map(\.element)
    var openByStart: [UInt64: [Int]] = [:]
    for (index, image) in images.enumerated() { openByStart[image.image.range.lowerBound.rawValue, default: []].append(index) }
    for unload in unloads.sorted(by: { $0.time < $1.time }) {
      guard
        let index = openByStart[unload.first]?.last(where: { images[$0].unloadTime == nil && images[$0].loadTime <= unload.time })
      else { continue }
      images[index].unloadTime = unload.time
    }
    return images
  }
}
