// Compares the map of nested ranges with a search through all ranges.

import Testing

@testable import TraceSymbolication

@Suite struct AddressMapTests {
  /// Finds the innermost range by trying every range.
  func innermost(_ entries: [AddressMap.Entry], at address: UInt64) -> Int? {
    var best: Int?
    for (index, entry) in entries.enumerated() where entry.start <= address && address < entry.end {
      guard let current = best else {
        best = index
        continue
      }
      let other = entries[current]
      if entry.start > other.start || (entry.start == other.start && entry.end <= other.end) { best = index }
    }
    return best.map { entries[$0].value }
  }

  @Test func emptyMapCoversNoAddress() {
    #expect(AddressMap([]).isEmpty)
    #expect(AddressMap([]).value(at: 0) == nil)
    #expect(AddressMap([.init(start: 5, end: 5, value: 1), .init(start: 9, end: 2, value: 2)]).isEmpty)
  }

  @Test func innermostNestedRangeWins() {
    let map = AddressMap([
      .init(start: 0, end: 100, value: 1), .init(start: 10, end: 50, value: 2), .init(start: 20, end: 30, value: 3),
    ])
    #expect([0, 9, 10, 19, 20, 29, 30, 49, 50, 99].map { map.value(at: $0) } == [1, 1, 2, 2, 3, 3, 2, 2, 1, 1])
    #expect(map.value(at: 100) == nil)
  }

  @Test func rangesUpToTheEndOfMemoryAreCovered() {
    let map = AddressMap([.init(start: .max - 1, end: .max, value: 7)])
    #expect(map.value(at: .max - 1) == 7)
    #expect(map.value(at: .max) == nil)
  }

  @Test(arguments: 0..<200) func randomRangesAgreeWithASearch(_ seed: UInt64) {
    var random = DamagedFileTests.Random(state: seed)
    let entries = (0..<Int.random(in: 1...30, using: &random)).map { value in
      let start = UInt64.random(in: 0..<60, using: &random)
      return AddressMap.Entry(start: start, end: start + UInt64.random(in: 0..<30, using: &random), value: value)
    }
    let map = AddressMap(entries)
    for address in 0..<100 as Range<UInt64> {
      #expect(map.value(at: address) == innermost(entries, at: address), "at \(address) of \(entries)")
    }
  }
}
