// A cycle that keeps tens of thousands of objects: all of them are counted.

private final class CatalogEntry {
  let number: Int
  let next: CatalogEntry?

  init(number: Int, next: CatalogEntry?) {
    self.number = number
    self.next = next
  }
}

private final class CatalogImport {
  var onProgress: ((Int) -> Void)?
  private var shelves: [Shelf] = []

  func load(holds: Bool) {
    for number in 0..<250 { shelves.append(Shelf(number: number)) }
    if holds {
      onProgress = { self.report($0) }
    } else {
      onProgress = { [weak self] in self?.report($0) }
    }
    onProgress?(shelves.count)
  }

  private func report(_ count: Int) { note(count + shelves.count) }
}

/// A hundred and ten entries each.
private final class Shelf {
  private var first: CatalogEntry?

  init(number: Int) {
    for place in 0..<110 { first = CatalogEntry(number: number * 110 + place, next: first) }
  }

  /// From the first entry on, so that long lists do not end in as many calls.
  deinit {
    while let entry = first {
      first = entry.next
      note(entry.number)
    }
  }
}

enum CatalogImports: FaultyProgram {
  static func faulty() { importAll(holds: true) }
  static func correct() { importAll(holds: false) }

  @inline(never) private static func importAll(holds: Bool) {
    let catalog = CatalogImport()
    catalog.load(holds: holds)
    use(catalog)
  }
}
