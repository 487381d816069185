import TestRequirements
import Testing
import TextWriting
import TraceTestSupport

@testable import HeapAnalysis
@testable import TraceReading

private func block(_ address: UInt64, _ size: UInt64) -> LiveBlock {
  LiveBlock(address: address, size: size, birthTime: 0, site: SiteID(0))
}

@Suite struct LiveHeapTests {
  private func expectAgreement(_ heap: LiveHeap, _ addresses: [UInt64]) {
    for address in addresses {
      let expected = heap.blocks.firstIndex { address >= $0.address && address - $0.address < max($0.size, 1) }
      #expect(heap.block(containing: address).map { Int($0.rawValue) } == expected, "\(Hexadecimal.text(address))")
      #expect(heap.lowerBound(address) == heap.blocks.firstIndex { $0.address >= address } ?? heap.count)
    }
  }

  @Test(arguments: TestTier.seeds(0..<200))
  func interiorAddressesFindTheirBlock(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var blocks: [LiveBlock] = []
    // The addresses range from low ones to the end of the address space.
    var next: UInt64 = [0x1000, 0x7F00_0000_0000, (1 << 63) - 40_000, UInt64.max - 200_000][Int(seed % 4)]
    for _ in 0..<Int.random(in: 0...60, using: &random) {
      let size: UInt64 =
        switch random.next() % 5 {
        case 0: 0
        case 1: random.next() % 20_000
        default: random.next() % 200
        }
      blocks.append(block(next, size))
      let (end, overflow) = next.addingReportingOverflow(max(size, 1) + (random.oneIn(2) ? 0 : random.next() % 9000))
      if overflow { break }
      next = end
    }
    blocks.shuffle(using: &random)
    let heap = LiveHeap(blocks)
    var addresses: [UInt64] = [0, 1, .max, 1 << 63]
    for block in blocks {
      for offset in [0, 1, block.size / 2, block.size &- 1, block.size, block.size + 1, 4096, 0 &- 1] {
        addresses.append(block.address &+ offset)
      }
      addresses.append(block.address &+ random.next() % 10_000)
    }
    expectAgreement(heap, addresses)
  }

  @Test(arguments: TestTier.seeds(0..<40)) func listedBlocksAreFoundLikeOthers(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var listing = LiveBlockList.Listing()
    var next: UInt64 = 0x7F00_0000_0000
    var addresses: [UInt64] = [0, 1, .max]
    for index in 0..<Int.random(in: 0...80, using: &random) {
      // Some sizes are too large for a row.
      let limits = [UInt64(UInt16.max), UInt64(UInt32.max), 1 << 40]
      let size = random.oneIn(4) ? limits[Int(random.next() % 3)] - 2 + random.next() % 4 : random.next() % 300
      addresses += [next &- 1, next, next + size / 2, next + size, next + size + 1]
      listing.append(
        LiveBlock(
          address: next, size: size, birthTime: 7, site: SiteID(UInt32(index % 3)), ordinal: UInt64(index),
          threadOrdinal: UInt32(index), execution: ExecutionID(2)))
      next += max(size, 1) + (random.oneIn(2) ? 0 : random.next() % 9000)
    }
    let heap = LiveHeap(listing.blocks)
    expectAgreement(heap, addresses)
    let others = LiveHeap(LiveBlockList(Array(listing.blocks).reversed()))
    #expect(heap.blocks.elementsEqual(others.blocks))
    for index in 0..<heap.count { #expect(heap[BlockID(UInt32(index))] == heap.blocks[index]) }
  }

  @Test func manyBlocksInAPageAreFound() {
    let heap = LiveHeap((0..<4096).map { block(0x7000 << 12 | $0, $0 % 3) })
    expectAgreement(heap, (0..<4200).map { 0x7000 << 12 &+ $0 &- 50 })
  }

  @Test func overlappingBlocksEndAtTheNextBlock() {
    let heap = LiveHeap([
      block(0x1000, .max), block(0x2000, 100), block(0x2010, .max - 0x2010), block(.max - 4096, .max),
      block(.max - 4095, 1),
      block(.max, 1),
    ])
    #expect(heap.blocks.map(\.address) == [0x1000, 0x2000, 0x2010, .max - 4096])
    #expect(heap.blocks.map(\.size) == [0x1000, 0x10, UInt64.max - 4096 - 0x2010, 1])
    #expect(heap.blocks.reduce(0) { $0 + $1.size } <= UInt64.max)
    expectAgreement(heap, [0x1FFF, 0x2000, 0x200F, 0x2010, 1 << 63, .max - 4097, .max - 4096, .max - 4095, .max])
  }

  @Test func emptyHeapHasNoBlocks() {
    let heap = LiveHeap([])
    for address in [0, 1, 4096, UInt64.max] { #expect(heap.block(containing: address) == nil) }
  }
}
