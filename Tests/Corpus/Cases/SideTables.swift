// Objects of a cycle that once had weak references: their counts are in side tables.

final class Thumbnail {
  var provider: ThumbnailProvider?
}

final class ThumbnailProvider {
  var thumbnail: Thumbnail?
}

final class ThumbnailCache {
  private weak var recent: Thumbnail?
  private weak var provider: ThumbnailProvider?

  func remember(_ thumbnail: Thumbnail) {
    recent = thumbnail
    provider = thumbnail.provider
  }

  var isWarm: Bool { recent != nil && provider != nil }
}

enum SideTables: FaultyProgram {
  static func faulty() { for _ in 0..<10 { _ = show() } }
  static func correct() { for _ in 0..<10 { show().provider = nil } }

  @inline(never) private static func show() -> Thumbnail {
    let thumbnail = Thumbnail()
    let provider = ThumbnailProvider()
    thumbnail.provider = provider
    provider.thumbnail = thumbnail
    let cache = ThumbnailCache()
    cache.remember(thumbnail)
    note(cache.isWarm ? 1 : 0)
    return thumbnail
  }
}
