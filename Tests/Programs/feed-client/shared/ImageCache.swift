// Decoded images by URL. The least recently used ones are evicted first.
import Foundation

final class Image {
  let url: String
  private let pixels: [UInt8]
  init(url: String) {
    self.url = url
    pixels = [UInt8](repeating: UInt8(truncatingIfNeeded: url.utf8.count), count: 4096)
  }
  var isBlank: Bool { pixels.allSatisfy { $0 == 0 } }
}

final class ImageCache {
  private let limit: Int
  private var images: [String: Image] = [:]
  private var order: [String] = []

  init(limit: Int) { self.limit = limit }

  func image(at url: String) -> Image {
    if let image = images[url] {
      order.removeAll { $0 == url }
      order.append(url)
      return image
    }
    let image = Image(url: url)
    images[url] = image
    order.append(url)
    if order.count > limit { images[order.removeFirst()] = nil }
    return image
  }
}
