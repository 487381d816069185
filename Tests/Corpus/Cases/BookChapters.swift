// Weak and strong references among the same objects: only one of the ways back is strong.

final class Book {
  weak var current: Chapter?
  weak var last: Chapter?
  var cover: Chapter?
}

final class Chapter {
  weak var series: Book?
  var book: Book?
  let pages: Int
  init(pages: Int) { self.pages = pages }
}

enum BookChapters: FaultyProgram {
  static func faulty() { for pages in 0..<9 { read(pages) } }
  static func correct() { for pages in 0..<9 { readWeakly(pages) } }

  @inline(never) private static func bind(_ pages: Int) -> Book {
    let book = Book()
    let chapter = Chapter(pages: pages)
    book.cover = chapter
    book.current = chapter
    book.last = chapter
    chapter.series = book
    return book
  }

  @inline(never) private static func read(_ pages: Int) {
    let book = bind(pages)
    book.cover?.book = book
    note(book.current?.pages ?? 0)
  }

  @inline(never) private static func readWeakly(_ pages: Int) {
    let book = bind(pages)
    note(book.current?.pages ?? 0)
  }
}
