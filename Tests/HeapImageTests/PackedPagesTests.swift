import Testing
import TraceTestSupport

@testable import HeapAnalysis

@Suite struct PackedPagesTests {
  private struct Page {
    var base: UInt64
    var bitmap = [UInt64](repeating: 0, count: 8)
    var words: [UInt64] = []
  }

  /// Returns typical words of a heap: repeated ones, nearby ones, ones with marker bits, and arbitrary ones.
  private func word(at address: UInt64, after previous: UInt64, _ random: inout SeededRandom) -> UInt64 {
    switch random.next() % 8 {
    case 0: previous
    case 1: 0x5555_0000_1000 &+ random.next() % 4 &* 0x140
    case 2: address &+ random.next() % 64 &* 8
    case 3: address &- (random.next() & (1 << (random.next() % 56)) &- 1) & ~7
    case 4: (address &+ random.next() % 4096 &* 8) | 1 << 63
    case 5: address &+ 3
    case 6: random.oneIn(4) ? [0, .max, 1 << 63, address][Int(random.next() % 4)] : random.next()
    default: random.next() & 0x7FFF_FFFF_FFF8
    }
  }

  private func page(_ base: UInt64, _ random: inout SeededRandom) -> Page {
    var page = Page(base: base)
    let isOfOneWord = random.oneIn(6)
    let density = random.next() % 4
    for index in 0..<512 where density == 3 || random.next() % 4 <= density {
      page.bitmap[index / 64] |= 1 << UInt64(index % 64)
      let previous = page.words.last ?? 0x7F00_0000_0010
      page.words.append(isOfOneWord ? previous : word(at: base &+ UInt64(index) * 8, after: previous, &random))
    }
    return page
  }

  private func pages(_ count: Int, _ random: inout SeededRandom) -> [Page] {
    (0..<count).map {
      let start: UInt64 = [0, 0x7F00_0000_0000, 0xFFFF_FFFF_0000_0000][Int(random.next() % 3)]
      return page(start + (UInt64($0) << 12), &random)
    }
  }

  @Test("Unpacked words equal the packed ones, in any order of pages")
  func unpacking() {
    var random = SeededRandom(seed: 11)
    let pages = pages(300, &random)
    let packed = PackedPages()
    for page in pages { packed.append(page.words, at: page.base, bitmap: page.bitmap) }
    packed.finish()
    for index in Array(pages.indices) + pages.indices.reversed() + pages.indices.shuffled(using: &random) {
      let page = pages[index]
      let words = packed.words(ofPage: index, at: page.base, bitmap: page.bitmap)
      #expect(Array(UnsafeBufferPointer(start: words, count: page.words.count)) == page.words, "page \(index)")
    }
  }

  @Test("Runs of any length are packed, including those longer than a byte can count")
  func runs() {
    for count in [1, 2, 63, 64, 65, 66, 128, 129, 130, 511, 512] {
      let bitmap = (0..<8).map { group -> UInt64 in
        let bits = min(max(count - group * 64, 0), 64)
        return bits == 64 ? .max : (1 << UInt64(bits)) - 1
      }
      for value in [0, 8, UInt64.max] {
        let packed = PackedPages()
        let words = [UInt64](repeating: value, count: count)
        packed.append(words, at: 0x1000, bitmap: bitmap)
        packed.finish()
        let found = packed.words(ofPage: 0, at: 0x1000, bitmap: bitmap)
        #expect(Array(UnsafeBufferPointer(start: found, count: count)) == words)
      }
    }
  }

  @Test("Images larger than the unpacked cache return every word, even under concurrent reads")
  func image() {
    let pageCount: UInt64 = 9000
    let base: UInt64 = 0x7F00_0000_0000
    func value(_ address: UInt64) -> UInt64 { address &* 0x9E37_79B9_7F4A_7C15 | 1 }
    let image = HeapImage(
      words: (0..<pageCount).flatMap { page in
        ([0, 8, 4088] as [UInt64]).map { offset in
          let address = base + (page << 12) + offset
          return (address, value(address))
        }
      })
    #expect(image.pageCount == Int(pageCount) && image.wordCount == 3 * Int(pageCount))
    var count = 0
    let end = base + (pageCount << 12)
    image.forEachWord(in: base..<end) { address, word in
      #expect(word == value(address))
      count += 1
      // This is a word of a page that is stored at the same place.
      let other = (address ^ (4096 << 12)) & ~4095 | 8
      let isThere = other < end
      #expect(image.word(at: other) == (isThere ? value(other) : nil))
    }
    #expect(count == image.wordCount)
  }
}
