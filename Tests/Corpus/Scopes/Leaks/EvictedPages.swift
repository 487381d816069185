// A cache keeps its pages in a list that is linked both ways, and evicts the last one. The new last page still refers to
// the evicted one, and that to the one before: all pages stay.
import Foundation

final class CachedPage {
  let number: Int
  let words: [String]
  fileprivate var nearer: CachedPage?
  fileprivate var farther: CachedPage?

  init(_ number: Int) {
    self.number = number
    words = (0..<6).map { "word \($0) of page \(number)" }
  }
}

final class PageCache {
  private var pages: [Int: CachedPage] = [:]
  private var first: CachedPage?
  private var last: CachedPage?
  private let unlinks: Bool

  init(unlinks: Bool) { self.unlinks = unlinks }

  @inline(never) func page(_ number: Int) -> CachedPage {
    if let known = pages[number] {
      moveToFront(known)
      return known
    }
    let page = CachedPage(number)
    pages[number] = page
    pushFront(page)
    if pages.count > 40 { evict() }
    return page
  }

  private func pushFront(_ page: CachedPage) {
    page.farther = first
    first?.nearer = page
    first = page
    if last == nil { last = page }
  }

  private func moveToFront(_ page: CachedPage) {
    guard page !== first else { return }
    page.nearer?.farther = page.farther
    page.farther?.nearer = page.nearer
    if page === last { last = page.nearer }
    page.nearer = nil
    pushFront(page)
  }

  private func evict() {
    guard let victim = last else { return }
    pages[victim.number] = nil
    last = victim.nearer
    victim.nearer = nil
    if unlinks { last?.farther = nil }
  }
}

enum EvictedPages: FaultyProgram {
  static func read(_ cache: PageCache) {
    for number in 0..<600 {
      note(cache.page(number).words.count)
      for word in cache.page(max(0, number - number % 7)).words { note(word.split(separator: " ").map(String.init).count) }
    }
  }

  static let leaky = PageCache(unlinks: false)
  static let sound = PageCache(unlinks: true)

  static func faulty() { read(leaky) }
  static func correct() { read(sound) }
}
