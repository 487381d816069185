// Which image a frame meant: images come and go, and addresses are used again.

/// An image, and the stack nodes that may mean it.
public struct TraceImage: Hashable, Sendable {
  public var image: LoadedImage
  /// Node IDs.
  public var nodes: Range<UInt64>
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

  init(images: [TraceImage]) {
    self.images = images
    order = images.indices.sorted { images[$0].image.range.lowerBound < images[$1].image.range.lowerBound }
    starts = order.map { images[$0].image.range.lowerBound.rawValue }
    var highest: UInt64 = 0
    highestEnd = order.map { index in
      highest = max(highest, images[index].image.range.upperBound.rawValue)
      return highest
    }
  }

  /// Index into the images of the one that covers `address` for node `node`; the latest, if several do.
  func image(covering address: UInt64, node: UInt64) -> Int? {
    var low = 0
    var high = starts.count
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= address { low = middle + 1 } else { high = middle }
    }
    var best: Int?
    var position = low - 1
    while position >= 0, highestEnd[position] > address {
      let index = order[position]
      let image = images[index]
      if image.image.range.upperBound.rawValue > address, image.nodes.contains(node) {
        if let known = best {
          if images[known].nodes.lowerBound < image.nodes.lowerBound { best = index }
        } else {
          best = index
        }
      }
      position -= 1
    }
    return best
  }
}

/// A load or unload as recorded; pairs are found once all are known, since threads write them in any order.
struct ImageRecords {
  struct Unload {
    var first: UInt64
    var end: UInt64
    var nextNode: UInt64
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
      images[index].nodes = images[index].nodes.lowerBound..<max(images[index].nodes.lowerBound, unload.nextNode)
    }
    return images
  }
}
