// Children that know their parent.

final class Chapter {
  private var sections: [Chapter] = []
  #if MENDED
    private weak var parent: Chapter?
  #else
    private var parent: Chapter?
  #endif
  private let title: String
  init(_ title: String, in parent: Chapter?) { (self.title, self.parent) = (title, parent) }

  func add(_ title: String) { sections.append(Chapter(title, in: self)) }

  var depth: Int { (parent?.depth ?? 0) + 1 }

  @inline(never) static func bind() {
    for number in 0..<4 {
      let chapter = Chapter("chapter \(number)", in: nil)
      for section in 0..<3 { chapter.add("section \(section)") }
      if chapter.sections.allSatisfy({ $0.depth > 4 }) { print(chapter.title) }
    }
  }
}
