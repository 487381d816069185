// The choice of a heap image's words, and their encoding.

import CHeapScan
import CTraceFormat
import CTraceShim
import Testing

/// Decodes a part of a heap image by the description of struct lt_memory_part. Returns its words by address.
func encodedWords(_ bytes: [UInt8]) -> [UInt64: UInt64] {
  var words: [UInt64: UInt64] = [:]
  var at = MemoryLayout<lt_memory_part>.size
  func varint() -> UInt64 {
    var value: UInt64 = 0, shift: UInt64 = 0
    while true {
      let byte = bytes[at]
      at += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }
  var page: UInt64 = 0, word: UInt64 = 0
  while at < bytes.count {
    page += varint()
    let bits = bytes[at..<(at + 64)]
    at += 64
    for index in 0..<512 where bits[bits.startIndex + index / 8] >> UInt8(index % 8) & 1 != 0 {
      let zigzag = varint()
      word = word &+ (zigzag >> 1 ^ (0 &- (zigzag & 1)))
      words[page * 4096 + UInt64(index) * 8] = word
    }
  }
  return words
}

struct HeapImageEncodingTests {
  @Test("Encoded words are decoded unchanged", arguments: 0..<10) func roundTrip(seed: Int) {
    var generator = SplitMix(state: UInt64(seed))
    let size = 200_000
    var buffer = [UInt8](repeating: 0xEE, count: size)
    var expected: [UInt64: UInt64] = [:]
    var part = lt_memory_part(snapshot: 3, part: 4)
    var encoder = lt_page_encoder()
    let used = buffer.withUnsafeMutableBufferPointer { bytes in
      lt_page_encoder_begin(&encoder, bytes.baseAddress, size, &part)
      var page: UInt64 = 0
      while lt_page_encoder_has_room(&encoder) {
        page += UInt64.random(in: 1...(1 << UInt64.random(in: 0...30, using: &generator)), using: &generator)
        var words = [UInt64](repeating: 0, count: 512), bits = [UInt64](repeating: 0, count: 8)
        let density = UInt64.random(in: 0...64, using: &generator)
        for i in 0..<512 where UInt64.random(in: 0..<64, using: &generator) < density {
          words[i] = generator.next() >> UInt64.random(in: 0...63, using: &generator)
          bits[i / 64] |= 1 << UInt64(i % 64)
          expected[page * 4096 + UInt64(i) * 8] = words[i]
        }
        lt_page_encoder_put(&encoder, page, bits, words)
        #expect(encoder.used <= size)
      }
      return encoder.used
    }
    #expect(buffer[used...].allSatisfy { $0 == 0xEE })
    #expect(buffer.withUnsafeBytes { $0.loadUnaligned(as: lt_memory_part.self) }.snapshot == 3)
    #expect(encodedWords(Array(buffer[..<used])) == expected)
  }

  @Test("A page whose words all differ most fits its buffer") func largestPage() {
    let words = (0..<512).map { $0 % 2 == 0 ? UInt64(1) << 63 : 0 }
    let size = MemoryLayout<lt_memory_part>.size + Int(LT_PAGE_ENCODED_LIMIT)
    var buffer = [UInt8](repeating: 0, count: size)
    var part = lt_memory_part(), encoder = lt_page_encoder()
    lt_page_encoder_begin(&encoder, &buffer, size, &part)
    #expect(lt_page_encoder_has_room(&encoder))
    buffer.withUnsafeMutableBufferPointer { bytes in
      encoder.buffer = bytes.baseAddress
      lt_page_encoder_put(&encoder, .max, [UInt64](repeating: .max, count: 8), words)
    }
    #expect(encoder.used <= size)
    #expect(!lt_page_encoder_has_room(&encoder))
  }

  @Test("Ranges are sorted, and overlapping ranges are merged", arguments: 0..<20) func exactWords(seed: Int) {
    var generator = SplitMix(state: UInt64(seed))
    var words = lt_verbatim_words()
    let memory = UnsafeMutablePointer<lt_memory>.allocate(capacity: 1)
    memory.initialize(to: lt_own_memory)
    #expect(lt_verbatim_words_init(&words, memory, 1000))
    defer {
      lt_verbatim_words_free(&words)
      memory.deallocate()
    }
    var whole: Set<UInt64> = [], partial: [UInt64: Int] = [:]
    for _ in 0..<Int.random(in: 0...500, using: &generator) {
      let address = 0x1000 + 8 * UInt64.random(in: 0..<3000, using: &generator)
      if UInt.random(in: 0..<4, using: &generator) == 0 {
        lt_verbatim_words_add(&words, address, 1, 1)
        partial[address, default: 0] += 1
      } else {
        let count = UInt64.random(in: 0...20, using: &generator)
        lt_verbatim_words_add(&words, address, count, 8)
        for i in 0..<count { whole.insert(address + 8 * i) }
      }
    }
    #expect(lt_verbatim_words_sort(&words))
    var foundWhole: Set<UInt64> = [], foundPartial: [UInt64: Int] = [:], last: UInt64 = 0, end: UInt64 = 0
    for i in 0..<Int(words.count) {
      let range = words.ranges[i]
      #expect(range.address >= last)
      last = range.address
      if range.keptBytes == 8 {
        #expect(range.address > end || i == 0 || end == 0, "apart from the one before")
        end = range.address + 8 * UInt64(range.count)
        for k in 0..<UInt64(range.count) { #expect(foundWhole.insert(range.address + 8 * k).inserted) }
      } else {
        foundPartial[range.address, default: 0] += 1
      }
    }
    #expect(foundWhole == whole)
    #expect(foundPartial == partial)
  }

  @Test(
    "Reference counts of the Swift runtime are distinguished from other numbers",
    arguments: [
      (0x3, true), (0x3 | 150 << 33, true), (0x0000_0001_0000_0003, true), (0xC000_0AAD_4025_7158, true),
      (0x0000_0000_FFFF_FFFF, true),
      (0x8000_0000_FFFF_FFFF, true), (0, false), (1, false), (2, false), (0x1122_3344_5566_7788, false),
      (0x6574_5265_7263_6573, false),
      (0x7F31_5ADE_F3E0_0001, false), (0x8000_0000_0000_0003, false), (0x1234_5678_FFFF_FFFF, false),
    ] as [(UInt64, Bool)])
  func referenceCounts(word: UInt64, isOne: Bool) { #expect(lt_is_reference_count(word) == isOne) }

  @Test(
    "A freed object's side table is recognized by its counts",
    arguments: [
      ([0x5000, 0, 0x1_0000_0001, 1], true), ([0x5000, 7, 0x1_0000_0001, 0xABCD_0000_0002], true),
      // In these tables, unowned references are left, the object is alive, nothing refers to the table, or the address
      // is invalid.
      ([0x5000, 0, 0x1_0000_0003, 1], false), ([0x5000, 0, 0x3, 1], false), ([0x5000, 0, 0x1_0000_0001, 0], false),
      ([0, 0, 0x1_0000_0001, 1], false),
      ([0x5001, 0, 0x1_0000_0001, 1], false),
    ] as [([UInt64], Bool)])
  func freedSideTables(words: [UInt64], isOne: Bool) { #expect(lt_is_freed_side_table(words) == isOne) }

  @Test(
    "A task's slab is recognized by its header",
    arguments: [
      ([0x5000, 0, 480 | 160 << 32, 0, 0, 0x9000], true), ([0x5000, 0x7000, 992, 0, 0x9020, 0x9000], true),
      // In these slabs, more is in use than exists, the amount is no multiple of 16, the first allocation is in another
      // slab, or the size is too large.
      ([0x5000, 0, 480 | 496 << 32, 0, 0, 0x9000], false), ([0x5000, 0, 480 | 8 << 32, 0, 0, 0x9000], false),
      ([0x5000, 0, 480 | 160 << 32, 0, 0, 0x8000], false), ([0x5000, 0, 1 << 31, 0, 0, 0x9000], false),
      ([0, 0, 480, 0, 0, 0x9000], false),
    ] as [([UInt64], Bool)])
  func taskSlabs(words: [UInt64], isOne: Bool) { #expect(lt_is_task_slab(0x9000, words) == isOne) }
}
