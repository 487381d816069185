// A struct of closures. Two of them capture the object that holds the struct.

struct JournalAccess {
  let write: (String) -> Void
  let count: () -> Int
  let limit: () -> Int
}

final class Journal {
  private var entries: [String] = []

  #if MENDED
    private lazy var access = JournalAccess(
      write: { [weak self] in self?.entries.append($0) },
      count: { [weak self] in self?.entries.count ?? 0 },
      limit: { 100 })
  #else
    private lazy var access = JournalAccess(
      write: { self.entries.append($0) },  // to change
      count: { self.entries.count },
      limit: { 100 })
  #endif

  @inline(never) func use(_ day: Int) -> Bool {
    access.write("day \(day)")
    return access.count() < access.limit()
  }

  @inline(never) static func keep() {
    var days = 0
    for day in 0..<8 where Journal().use(day) { days += 1 }
    if days != 8 { print("the journal is full") }
  }
}
