// Two causes that lead to the same objects: what both keep is counted in neither.

private final class Cover {
  let pixels: [Int]
  init(side: Int) { pixels = (0..<side).map { $0 * side } }
}

private final class Collection {
  private let covers: [Cover]
  private let names: [String]
  var view: CollectionView?

  init(covers: [Cover]) {
    self.covers = covers
    names = (0..<5).map { "the name of the cover with the number \($0)" }
  }

  var size: Int { covers.count + names.count }
}

private final class CollectionView {
  var collection: Collection?
}

private final class Exhibition {
  private let covers: [Cover]
  var poster: Poster?

  init(covers: [Cover]) { self.covers = covers }
  var size: Int { covers.count }
}

private final class Poster {
  var exhibition: Exhibition?
}

enum SharedCovers: FaultyProgram {
  static func faulty() { show(clearing: false) }
  static func correct() { show(clearing: true) }

  @inline(never) private static func show(clearing: Bool) {
    let covers = (4..<24).map { Cover(side: $0) }
    collect(covers, clearing: clearing)
    exhibit(covers, clearing: clearing)
  }

  @inline(never) private static func collect(_ covers: [Cover], clearing: Bool) {
    let collection = Collection(covers: covers)
    let view = CollectionView()
    collection.view = view
    view.collection = collection
    note(collection.size)
    if clearing { collection.view = nil }
  }

  @inline(never) private static func exhibit(_ covers: [Cover], clearing: Bool) {
    let exhibition = Exhibition(covers: covers)
    let poster = Poster()
    exhibition.poster = poster
    poster.exhibition = exhibition
    note(exhibition.size)
    if clearing { exhibition.poster = nil }
  }
}
