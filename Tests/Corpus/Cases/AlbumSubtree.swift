// A small cycle with a large subtree hanging from it, which is counted as held, not as in the cycle.

final class Photo {
  let data: [Int]
  let caption: String
  init(number: Int) {
    data = Array(0..<(10 + number % 7))
    caption = "A photograph with the number \(number)"
  }
}

final class Album {
  var photos: [Photo] = []
  var page: AlbumPage?
}

final class AlbumPage {
  let album: Album
  init(album: Album) { self.album = album }
}

enum AlbumSubtree: FaultyProgram {
  static func faulty() { for _ in 0..<2 { open() } }
  static func correct() { for _ in 0..<2 { openAndClose() } }

  @inline(never) private static func open() {
    let album = Album()
    album.photos = (0..<200).map(Photo.init)
    album.page = AlbumPage(album: album)
    note(album.photos.count)
  }

  @inline(never) private static func openAndClose() {
    let album = Album()
    album.photos = (0..<200).map(Photo.init)
    album.page = AlbumPage(album: album)
    note(album.photos.count)
    album.page = nil
  }
}
