// The words that a scan of memory includes in a heap image.

import CHeapScan
import CTraceFormat
import CTraceShim
import Glibc
import Testing

private final class Leaf {}

private enum Reading {
  case raw(Int)
  case named(Leaf, Int)
}

private final class Meter {
  var count = 1
  var reading = Reading.raw(2)
}

struct MemoryScanTests {
  /// Pages of memory that are the only region of a scan.
  private final class Pages {
    let words: UnsafeMutableBufferPointer<UInt64>
    /// The image's parts, in the order of the calls of `writePart`.
    fileprivate(set) var parts: [[UInt8]] = []

    var address: UInt64 { UInt64(UInt(bitPattern: words.baseAddress!)) }

    init(count: Int) {
      let memory = mmap(nil, count * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
      words = .init(start: memory.assumingMemoryBound(to: UInt64.self), count: count * 512)
    }

    deinit { munmap(words.baseAddress, words.count * 8) }

    /// Returns the words of an image of the pages, by index. `metadata`: the metadata of all objects; 0 for none.
    func scan(metadata: UInt64 = 0) -> [Int: UInt64] {
      var regions = [
        lt_snapshot_region(
          start: address, end: address + UInt64(words.count * 8), kind: UInt32(LT_REGION_ANONYMOUS),
          flags: UInt32(LT_REGION_READABLE | LT_REGION_WRITABLE | LT_REGION_CAPTURED))
      ]
      var types: [lt_scanned_type] = []
      if metadata != 0 {
        regions.append(
          lt_snapshot_region(
            start: metadata & ~4095, end: (metadata & ~4095) + 4096, kind: UInt32(LT_REGION_ANONYMOUS),
            flags: UInt32(LT_REGION_READABLE)))
        regions.sort { $0.start < $1.start }
        types = [lt_scanned_type(metadata: metadata, storage: UInt32(LT_STORAGE_NONE))]
      }
      let regionCount = UInt32(regions.count)
      let memory = UnsafeMutablePointer<lt_memory>.allocate(capacity: 1)
      memory.initialize(to: lt_own_memory)
      let partSize = 4 * Int(LT_PAGE_ENCODED_LIMIT)
      let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: partSize)
      let scan = UnsafeMutablePointer<lt_memory_scan>.allocate(capacity: 1)
      defer {
        lt_memory_scan_free(scan)
        scan.deallocate()
        buffer.deallocate()
        memory.deallocate()
      }
      parts = []
      return regions.withUnsafeMutableBufferPointer { regions in
        scan.initialize(to: lt_memory_scan())
        scan.pointee.memory = UnsafePointer(memory)
        scan.pointee.regions = regions.baseAddress
        scan.pointee.regionCount = regionCount
        types.withUnsafeBufferPointer {
          scan.pointee.types = $0.baseAddress
          scan.pointee.typeCount = UInt32($0.count)
          #expect(lt_memory_scan_prepare(scan) == 0)
        }
        scan.pointee.partBuffer = buffer
        scan.pointee.partSize = partSize
        scan.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        scan.pointee.page = { _, address in UnsafePointer(bitPattern: UInt(address)) }
        scan.pointee.lookUpResidence = { _, _, _, pages, residence in
          residence!.update(repeating: UInt8(LT_PAGE_PRESENT), count: Int(pages))
        }
        scan.pointee.writePart = { scan, part, size in
          let pages = Unmanaged<Pages>.fromOpaque(scan!.pointee.context).takeUnretainedValue()
          pages.parts.append(Array(UnsafeBufferPointer(start: part, count: size)))
          return 0
        }
        #expect(lt_memory_scan_run(scan) == 0)
        var found: [Int: UInt64] = [:]
        for part in parts {
          for (place, word) in encodedWords(part) { found[Int(place - address) / 8] = word }
        }
        return found
      }
    }
  }

  @Test("An image has each address at its own offset, and no other words", arguments: 0..<20)
  func alignedAddresses(seed: Int) {
    var generator = SplitMix(state: UInt64(seed))
    let pages = Pages(count: 3)
    var expected: [Int: UInt64] = [:]
    for index in pages.words.indices {
      switch UInt64.random(in: 0..<4, using: &generator) {
      case 0: pages.words[index] = UInt64.random(in: 1..<256, using: &generator)
      case 1:
        pages.words[index] = pages.address | UInt64.random(in: 0..<4096, using: &generator) | 0x101
        expected[index] = pages.words[index]
      default: break
      }
    }
    #expect(pages.scan() == expected)
  }

  @Test("An image has the time of a timer only if its source refers back", arguments: [true, false])
  func timers(isConfirmed: Bool) {
    let pages = Pages(count: 1)
    let (timer, source) = (pages.address + 16 * 8, pages.address + 64 * 8)
    let flags: UInt64 = 0x0044_02FA_0000_0001
    pages.words[16] = pages.address + 0x800
    pages.words[17] = ~source
    pages.words[19] = flags
    pages.words[21] = pages.address + 0x900
    pages.words[26] = 0x1234_5678
    pages.words[27] = 0x2345_6789
    pages.words[75] = isConfirmed ? timer : timer + 16
    var expected: [Int: UInt64] = [
      16: pages.address + 0x800, 21: pages.address + 0x900, 75: pages.words[75],
    ]
    if isConfirmed { (expected[19], expected[26]) = (flags, 0x1234_5678) }
    #expect(pages.scan() == expected)
  }

  @Test("An unaligned address takes the offset of the word that it starts in", arguments: 1..<7)
  func unalignedAddress(offset: Int) {
    let pages = Pages(count: 1)
    let address = pages.address | 0x123
    UnsafeMutableRawBufferPointer(pages.words).storeBytes(of: address, toByteOffset: 800 + offset, as: UInt64.self)
    #expect(pages.scan() == [100: address])
  }

  @Test(
    "An address that starts in a word's last byte takes the next offset, because the byte may be a tag",
    arguments: [100, 511])
  func addressBehindTag(place: Int) {
    let pages = Pages(count: 2)
    let address = pages.address | 0x123
    pages.words[place] = address << 56
    pages.words[place + 1] = address >> 8
    #expect(pages.scan() == [place: address << 56, place + 1: address])
  }

  @Test("An address among bytes is found even if its lowest bytes resemble a tagged number")
  func addressOrMarkedNumber() {
    let pages = Pages(count: 32)
    // One address crosses from the first word into the second. The lowest 48 bits of the first word are another one.
    let other = pages.address | 0x123
    let address = (pages.address + 0xFFFF) & ~0xFFFF | other >> 32
    pages.words[100] = address << 32 | other & 0xFFFF_FFFF
    pages.words[101] = address >> 32
    #expect(pages.scan() == [100: other, 101: address])
  }

  @Test(
    "An address across two pages takes the offset of the first page's last word", arguments: 1..<7)
  func addressAcrossPages(offset: Int) {
    let pages = Pages(count: 2)
    let address = pages.address | 0x123
    UnsafeMutableRawBufferPointer(pages.words).storeBytes(of: address, toByteOffset: 4088 + offset, as: UInt64.self)
    pages.words[513] = address
    #expect(pages.scan() == [511: address, 513: address])
  }

  @Test("Each of many unaligned addresses takes the offset that it starts at, on all pages")
  func rowAcrossPages() {
    let pages = Pages(count: 3)
    let bytes = UnsafeMutableRawBufferPointer(pages.words)
    var expected: [Int: UInt64] = [:]
    for index in 0..<3 * 512 - 1 {
      let address = pages.address | UInt64(index + 1) << 3
      bytes.storeBytes(of: address, toByteOffset: 8 * index + 4, as: UInt64.self)
      expected[index] = address
    }
    #expect(pages.scan() == expected)
  }

  @Test("An address at the end of a page does not appear on the next page") func addressBeforePage() {
    let pages = Pages(count: 2)
    let address = pages.address | 0x123
    for index in [511, 512, 514] { pages.words[index] = address }
    #expect(pages.scan() == [511: address, 512: address, 514: address])
  }

  @Test("An enumeration's case keeps its offset, and an address in the bytes after it moves on", arguments: 0...1)
  func caseBeforeAddress(number: UInt8) {
    let pages = Pages(count: 1)
    let metadata = UInt64(UInt(bitPattern: unsafeBitCast(Meter.self, to: UnsafeRawPointer.self)))
    let address = pages.address | 0x230
    pages.words[64] = metadata
    pages.words[65] = 3
    // The fields are the count, the two words of the payload, and the case.
    let bytes = UnsafeMutableRawBufferPointer(pages.words)
    bytes.storeBytes(of: address, toByteOffset: 69 * 8 + 1, as: UInt64.self)
    bytes[69 * 8] = number
    #expect(pages.scan(metadata: metadata) == [64: metadata, 65: 3, 69: UInt64(number), 70: address])
  }
}
