// The set of live blocks that hooks keep if the allocator's metadata cannot be read.

import CTraceShim
import Testing

/// The process has only one set, so these tests run one at a time.
@Suite(.serialized) struct KeptBlocksTests {
  /// Random numbers that are equal in each run.
  private struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ (state >> 29)
    }
  }

  private struct Block: Equatable {
    var address: UInt64
    var size: UInt64
  }

  /// Returns blocks as the set stores them: the end of a small block is rounded up to a multiple of 8, and no block is
  /// empty.
  private static func kept(_ blocks: [UInt64: UInt64]) -> [Block] {
    blocks.sorted { $0.key < $1.key }.map { address, size in
      Block(address: address, size: size < 1536 ? max(8, (size + 7) / 8 * 8) : size)
    }
  }

  private static func walked() -> [Block] {
    var found: [Block] = []
    withUnsafeMutablePointer(to: &found) { pointer in
      let isWhole = lt_live_set_walk(
        { context, address, size in
          context!.assumingMemoryBound(to: [Block].self).pointee.append(Block(address: address, size: size))
        }, pointer)
      #expect(isWhole)
    }
    return found
  }

  @Test("The set has every block that was added and not removed", arguments: [1, 2, 3] as [UInt64])
  func blocks(seed: UInt64) throws {
    try #require(lt_live_set_begin())
    var numbers = Numbers(state: seed)
    var live: [UInt64: UInt64] = [:]
    // The blocks extend across the end of one of the set's tables.
    let start: UInt64 = 0x7000_0000_0000 - 40_000
    for round in 0..<3 {
      var address = start
      for _ in 0..<3_000 {
        let size = UInt64.random(in: 0..<(numbers.next() % 8 == 0 ? 20_000 : 200), using: &numbers)
        let next = address + max(8, (size + 7) / 8 * 8)
        lt_live_set_add(UInt(address), size)
        live[address] = size
        address = next + numbers.next() % 3 * 8
      }
      for old in Array(live.keys) where numbers.next() % 4 == 0 {
        #expect(lt_live_set_size(UInt(old)) >= live[old]!)
        #expect(lt_live_set_remove(UInt(old)) >= live[old]!)
        #expect(lt_live_set_remove(UInt(old)) == 0, "it is not in any more")
        live[old] = nil
      }
      #expect(Self.walked() == Self.kept(live), "round \(round)")
      for (old, size) in live { #expect(lt_live_set_remove(UInt(old)) >= size) }
      live = [:]
      #expect(Self.walked().isEmpty)
    }
  }

  @Test("A new block replaces stale blocks whose free was not recorded", arguments: [24, 400, 1536, 9_000])
  func unseenFrees(size: UInt64) throws {
    try #require(lt_live_set_begin())
    let start: UInt64 = 0x5000_0000_0040
    for old in [8, 600, 5_000] as [UInt64] {
      lt_live_set_add(UInt(start + 8), old)
      lt_live_set_add(UInt(start), size)
      #expect(Self.walked().first == Self.kept([start: size]).first)
      #expect(lt_live_set_remove(UInt(start)) >= size)
      _ = lt_live_set_remove(UInt(start + 8))
    }
  }
}
