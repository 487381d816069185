// The list of mappings, and the test of whether an address is in one of them.

import CHeapScan
import CTraceFormat
import CTraceShim
import Testing

struct MemoryMapTests {
  private func region(_ line: String) -> lt_snapshot_region? {
    var region = lt_snapshot_region()
    return lt_memory_map_parse_line(line, line.utf8.count, &region) ? region : nil
  }

  @Test(
    "Lines of the kernel's list are classified",
    arguments: [
      (
        "55d0c7a00000-55d0c7a01000 rw-p 00003000 fe:00 1234567                    /usr/bin/program", LT_REGION_FILE,
        0b1011
      ),
      (
        "55d0c7a00000-55d0c7a01000 r--p 00003000 fe:00 1234567                    /usr/bin/program", LT_REGION_FILE,
        0b0001
      ),
      (
        "55d0c7a00000-55d0c7a01000 r-xp 00003000 fe:00 1234567                    /usr/bin/a program with blanks",
        LT_REGION_FILE, 0b0101
      ),
      ("55d0c7a00000-55d0c7a01000 rw-p 00000000 00:00 0 ", LT_REGION_ANONYMOUS, 0b1011),
      ("55d0c7a00000-55d0c7a01000 r--p 00000000 00:00 0", LT_REGION_ANONYMOUS, 0b1001),
      ("55d0c7a00000-55d0c7a01000 ---p 00000000 00:00 0", LT_REGION_ANONYMOUS, 0b0000),
      ("55d0c7a00000-55d0c7a01000 rwxp 00000000 00:00 0", LT_REGION_ANONYMOUS, 0b1111),
      (
        "55d0c7a00000-55d0c7a01000 rw-p 00000000 00:00 0                          [anon:name]", LT_REGION_ANONYMOUS,
        0b1011
      ),
      ("55d0c7a00000-55d0c7a01000 rw-p 00000000 00:00 0                          [heap]", LT_REGION_BREAK, 0b1011),
      (
        "55d0c7a00000-55d0c7a01000 rw-p 00000000 00:00 0                          [stack]", LT_REGION_MAIN_STACK, 0b1011
      ),
      ("55d0c7a00000-55d0c7a01000 r--p 00000000 00:00 0                          [vvar]", LT_REGION_ANONYMOUS, 0b0001),
      (
        "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]", LT_REGION_ANONYMOUS,
        0b0100
      ),
      (
        "55d0c7a00000-55d0c7a01000 rw-s 00000000 00:01 2049                       /dev/zero (deleted)",
        LT_REGION_SHARED, 0b1011
      ),
      (
        "55d0c7a00000-55d0c7a01000 rw-s 00000000 fe:00 2049                       /var/lib/database", LT_REGION_SHARED,
        0b0011
      ),
    ] as [(String, Int, Int)])
  func lines(line: String, kind: Int, flags: Int) throws {
    let found = try #require(region(line))
    #expect(found.kind == UInt32(kind))
    #expect(found.flags == UInt32(flags))
    #expect(found.end - found.start == 0x1000)
  }

  @Test(
    "A malformed line is rejected",
    arguments: [
      "", "55d0", "55d0-", "-", "55d0c7a01000-55d0c7a00000 rw-p 0 0:0 0", "zz-ff rw-p 0 0:0 0", "1000-2000 rw-p",
      "1000-2000 rw-p 0 0:0 ", "1000-2000rw-p 0 0:0 1",
      "11111111111111111-22222222222222222 rw-p 0 0:0 1",
    ])
  func malformed(line: String) { #expect(region(line) == nil) }

  @Test("This process's mappings are read completely and in order") func ownMappings() throws {
    var map = lt_memory_map()
    defer { lt_memory_map_free(&map) }
    #expect(lt_memory_map_read(&map) == 0)
    #expect(map.count > 20)
    for i in 1..<Int(map.count) { #expect(map.regions[i - 1].end <= map.regions[i].start) }
    let block = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
    defer { block.deallocate() }
    let found = try #require(lt_memory_map_find(&map, UInt64(UInt(bitPattern: block))))
    #expect(found.pointee.flags & UInt32(LT_REGION_CAPTURED) != 0)
    #expect(lt_memory_map_find(&map, 8) == nil)
    var local = 0
    withUnsafePointer(to: &local) { #expect(lt_memory_map_find(&map, UInt64(UInt(bitPattern: $0))) != nil) }
  }

  /// Returns regions of random sizes, from a page to many cells, with gaps between some of them.
  private func randomMap(_ generator: inout some RandomNumberGenerator, count: Int, room: Int) -> [lt_snapshot_region] {
    var regions: [lt_snapshot_region] = []
    var at: UInt64 = 0x10000
    for _ in 0..<count {
      if Bool.random(using: &generator) { at += UInt64.random(in: 1...3000, using: &generator) * 4096 }
      let size = UInt64.random(in: 1...(Bool.random(using: &generator) ? 4 : 4000), using: &generator) * 4096
      regions.append(
        lt_snapshot_region(
          start: at, end: at + size, kind: UInt32(LT_REGION_ANONYMOUS),
          flags: UInt32(LT_REGION_READABLE | LT_REGION_CAPTURED)))
      at += size
    }
    return regions + Array(repeating: lt_snapshot_region(), count: room)
  }

  @Test("An address is found only inside a region", arguments: 0..<20) func index(seed: Int) {
    var generator = SplitMix(state: UInt64(seed))
    var regions = randomMap(&generator, count: 200, room: 0)
    regions.withUnsafeMutableBufferPointer { buffer in
      var map = lt_memory_map(
        regions: buffer.baseAddress, count: UInt32(buffer.count), limit: UInt32(buffer.count), text: nil)
      var index = lt_address_index()
      var memory = lt_own_memory
      #expect(lt_address_index_build(&index, &memory, buffer.baseAddress, UInt32(buffer.count)))
      defer { lt_address_index_free(&index, &memory) }
      let last = buffer[buffer.count - 1].end
      for _ in 0..<5000 {
        var address = UInt64.random(in: 0..<(last + 0x100000), using: &generator)
        if Bool.random(using: &generator) {
          // Half of the addresses are at the edges of a region.
          let region = buffer[Int.random(in: 0..<buffer.count, using: &generator)]
          address =
            [region.start, region.start - 1, region.end, region.end - 1][Int.random(in: 0..<4, using: &generator)]
        }
        let expected = buffer.contains { $0.start <= address && address < $0.end }
        #expect(lt_address_index_has(&index, address) == expected)
        #expect((lt_memory_map_find(&map, address) != nil) == expected)
      }
      #expect(!lt_address_index_has(&index, 1 << 47))
      #expect(!lt_address_index_has(&index, .max))
    }
  }

  @Test("Exactly the recorder's ranges are cut out of the regions", arguments: 0..<20) func ownRanges(
    seed: Int
  ) {
    var generator = SplitMix(state: UInt64(seed))
    let count = 30, rangeCount = 25
    let before = Array(randomMap(&generator, count: count, room: 0))
    var regions = before + Array(repeating: lt_snapshot_region(), count: 2 * rangeCount)
    var ranges: [lt_own_range] = []
    var at = UInt(before[0].start) - 8192
    for _ in 0..<rangeCount {
      at += UInt.random(in: 0...2000, using: &generator) * 4096
      let size = UInt.random(in: 1...1000, using: &generator) * 4096
      ranges.append(lt_own_range(start: at, end: at + size))
      at += size
    }
    let sorted = ranges
    ranges.shuffle(using: &generator)
    regions.withUnsafeMutableBufferPointer { buffer in
      var map = lt_memory_map(regions: buffer.baseAddress, count: UInt32(count), limit: UInt32(buffer.count), text: nil)
      #expect(lt_memory_map_mark_own(&map, &ranges, UInt32(rangeCount)))
      let after = buffer[..<Int(map.count)]
      #expect(zip(after, after.dropFirst()).allSatisfy { $0.end <= $1.start } && after.allSatisfy { $0.start < $0.end })
      func covers(_ list: some Sequence<lt_snapshot_region>, _ address: UInt64) -> lt_snapshot_region? {
        list.first { $0.start <= address && address < $0.end }
      }
      for _ in 0..<3000 {
        let address = UInt64.random(in: before[0].start..<(before[count - 1].end + 8192), using: &generator)
        let isOwn = sorted.contains { UInt64($0.start) <= address && address < UInt64($0.end) }
        let region = covers(after, address)
        #expect((region != nil) == (covers(before, address) != nil))
        guard let region else { continue }
        #expect((region.kind == UInt32(LT_REGION_RECORDER)) == isOwn)
        #expect((region.flags & UInt32(LT_REGION_CAPTURED) != 0) == !isOwn)
      }
    }
    var tight = before + Array(repeating: lt_snapshot_region(), count: 2 * rangeCount - 1)
    tight.withUnsafeMutableBufferPointer { buffer in
      var map = lt_memory_map(regions: buffer.baseAddress, count: UInt32(count), limit: UInt32(buffer.count), text: nil)
      #expect(!lt_memory_map_mark_own(&map, &ranges, UInt32(rangeCount)))
    }
  }
}

/// The generator by Steele, Lea and Flood. It gives the same numbers in each run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
