// A library for hosts that know nothing of Swift: it says how many objects it made.

struct Eight { var a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0 }

/// No other object of the process has this size: 856 bytes.
final class Sheet {
  var rows0 = Eight(), rows1 = Eight(), rows2 = Eight(), rows3 = Eight(), rows4 = Eight(), rows5 = Eight(), rows6 = Eight(), rows7 = Eight(), rows8 = Eight()
  var rows9 = Eight(), rows10 = Eight(), rows11 = Eight(), rows12 = Eight()
  var number: Int

  init(_ number: Int) { self.number = number }
}

final class Shelf {
  var title: String
  var books: [Book] = []
  init(title: String) { self.title = title }
}

final class Book {
  unowned let shelf: Shelf
  var keeper: Shelf?
  weak var first: Book?
  init(on shelf: Shelf) { self.shelf = shelf }
}

/// Makes sheets, one after the other, out of reach of an optimiser that would put them on the stack. Returns their number. Uses nothing generic, since it may be called before a statically linked Swift runtime is set up.
@_cdecl("pluginMake") public func pluginMake(_ count: Int32) -> Int32 {
  var number = 0
  while number < Int(count) {
    Unmanaged.passRetained(Sheet(number)).release()
    number += 1
  }
  return Int32(truncatingIfNeeded: number)
}

@inline(never) private func makeShelf(_ number: Int, isLeaky: Bool) -> Bool {
  let shelf = Shelf(title: "a title that is too long to stand in the string itself, \(number)")
  for _ in 0..<3 {
    let book = Book(on: shelf)
    book.first = shelf.books.first
    if isLeaky { book.keeper = shelf }
    shelf.books.append(book)
  }
  return shelf.books.dropFirst().allSatisfy { $0.first === shelf.books[0] && $0.shelf === shelf }
}

/// Makes shelves whose books keep them, or do not. Returns how many.
@_cdecl("pluginShelve") public func pluginShelve(_ count: Int32, _ isLeaky: Int32) -> Int32 {
  Int32((0..<Int(count)).filter { makeShelf($0, isLeaky: isLeaky != 0) }.count)
}
