// The known size of a block whose allocation was not recorded.

import Testing

@testable import TraceReading

@Suite struct BlockSizeTests {
  private func mayHave(_ asked: UInt64, _ size: UInt64, isListed: Bool = true) -> Bool {
    LiveBlock(address: 0x1000, size: size, birthTime: 0, site: SiteID(0)).mayHaveSize(asked, isListed: isListed)
  }

  @Test("A recorded block has its requested size") func seen() {
    #expect(mayHave(64, 64, isListed: false))
    #expect(!mayHave(64, 72, isListed: false))
  }

  @Test("A listed block has its allocator's rounded size, or a sample's exact size") func listed() {
    // glibc rounds up the size, and may add a remainder that is too small for a separate block.
    #expect(mayHave(64, 72) && mayHave(64, 88))
    // The size is exact if the block was sampled, or if the recorder keeps the set of blocks. The others are
    // jemalloc's.
    #expect(mayHave(64, 64) && mayHave(30, 32) && mayHave(41, 48))
    #expect(mayHave(129, 160) && mayHave(257, 320) && mayHave(5_000, 5_120) && mayHave(1, 8))
    #expect(!mayHave(64, 80) && !mayHave(64, 56) && !mayHave(32, 64) && !mayHave(257, 384))
  }
}
