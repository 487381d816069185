// Crashes three calls deep. Usage: crash index|nil|fatal
final class Shelf { var books = [1, 2, 3] }
@inline(never) func third(_ way: String, _ shelf: Shelf) -> Int {
  switch way {
  case "index": return shelf.books[shelf.books.count + 4]
  case "nil": return (shelf.books.isEmpty ? 1 : Optional<Int>.none)!
  default: fatalError("told to")
  }
}
@inline(never) func second(_ way: String, _ shelf: Shelf) -> Int { third(way, shelf) + 1 }
@inline(never) func first(_ way: String) -> Int { second(way, Shelf()) + 1 }
print("about to crash")
print(first(CommandLine.arguments[1]))
