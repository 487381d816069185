import Testing

@testable import HeapAnalysis

@Suite struct NodeCountsTests {
  @Test("Counts below and above a byte's range are kept", arguments: [0, 1, 253, 254, 255, 256, 257, 70_000])
  func counting(times: Int) {
    let counts = NodeCounts(count: 3)
    for _ in 0..<times { counts.increment(1) }
    #expect([counts[0], counts[1], counts[2]] == [0, UInt32(times), 0])
  }
}
