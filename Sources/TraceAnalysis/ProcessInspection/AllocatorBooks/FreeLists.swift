// Lists of freed chunks that look as if they were in use.

/// Follows singly linked lists of freed memory. Since 2.32 a link is stored with the page number of its own place over
/// it; the two ways to read it are told apart by what they lead to.
struct FreeLists {
  private let window: MemoryWindow

  init(_ memory: any ProcessMemory) { window = MemoryWindow(memory, capacity: 4096) }

  /// The addresses of a list's entries.
  struct List {
    var entries: [UInt64] = []
    /// It was followed to its end.
    var isWhole = false
  }

  /// - Parameters:
  ///   - first: The first entry, which is stored as it is; 0 for an empty list.
  ///   - link: Offset in an entry of the word that leads to the next.
  ///   - most: Entries that the list may have.
  ///   - accepts: Whether an entry may stand at an address.
  func list(from first: UInt64, link: UInt64, most: Int, accepts: (UInt64) -> Bool) -> List {
    let protected = follow(first, link, most, isProtected: true, accepts)
    if protected.isWhole { return protected }
    let plain = follow(first, link, most, isProtected: false, accepts)
    return plain.isWhole || plain.entries.count > protected.entries.count ? plain : protected
  }

  private func follow(
    _ first: UInt64, _ link: UInt64, _ most: Int, isProtected: Bool, _ accepts: (UInt64) -> Bool
  ) -> List {
    var list = List()
    var seen: Set<UInt64> = []
    var entry = first
    while entry != 0 {
      guard list.entries.count < most, accepts(entry), seen.insert(entry).inserted else { return list }
      list.entries.append(entry)
      let (place, overflow) = entry.addingReportingOverflow(link)
      guard !overflow, let stored = window.word(at: place) else { return list }
      entry = isProtected ? place >> 12 ^ stored : stored
    }
    list.isWhole = true
    return list
  }
}
