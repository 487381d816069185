// Stores the words of pages in few bytes.

import TraceReading

/// The words of a heap image's pages, packed. The most recently used pages are also kept unpacked.
///
/// Many words of a heap are equal, such as metadata and counts, or lead to nearby memory. So most words take 1 to 4
/// bytes, and no word takes more than 9. A read of a packed page first unpacks it, which takes about a microsecond.
///
/// Memory: the packed words, 8 bytes a page, and 4 KiB for each page that is kept unpacked. For one thread at a time.
///
/// Each page is packed separately, word by word, in order of address. The first byte of a packed word is its code:
///
/// - 0 to 63: the value is in a table with 64 entries, and the code is its index. The index is a hash of the value;
/// - 64 to 127: a run of 1 to 64 words that equal the previous word;
/// - 128 to 247: the value is the word's own address plus a distance, which follows in 0 to 6 bytes, little-endian.
///   From 192 on, the value's highest bit is set, as in Swift strings that are objects;
/// - 248: the value follows in 8 bytes.
final class PackedPages {
  static let wordsOfPage = 512
  /// The number of pages that are kept unpacked at most, a power of two. They take 16 MiB. Each page of a heap of at
  /// most that size is unpacked only once.
  private static let unpackedPages = 4096

  private enum Code {
    static let recentCount = 64
    static let run: UInt8 = 64
    static let longestRun = 64
    static let near: UInt8 = 128
    static let nearMarked: UInt8 = 192
    static let maxNearBytes = 6
    static let whole: UInt8 = 248
  }
  private static let mark: UInt64 = 1 << 63

  // Like the properties of `HeapImage`, these are not checked for exclusive access.
  @exclusivity(unchecked) private var bytes = GrowingStack<UInt8>()
  /// Index of the first byte of each page.
  @exclusivity(unchecked) private var starts = GrowingStack<Int>()
  private let recent: UnsafeMutablePointer<UInt64>
  /// For each slot of an unpacked page: the page in the slot plus 1, or 0 if the slot is empty.
  private let kept: UnsafeMutablePointer<Int>
  private let unpacked: UnsafeMutablePointer<UInt64>

  init() {
    recent = TableMemory.allocate(UInt64.self, capacity: Code.recentCount)
    kept = TableMemory.allocateZeroed(Int.self, capacity: Self.unpackedPages)
    unpacked = TableMemory.allocateZeroed(UInt64.self, capacity: Self.unpackedPages * Self.wordsOfPage)
  }

  deinit {
    TableMemory.deallocate(recent)
    TableMemory.deallocate(kept)
    TableMemory.deallocate(unpacked)
  }

  /// Adds the words of the next page, which begins at `base`. `bitmap` has 8 groups with a bit for each word of the
  /// page, and `words` has a value for each bit that is set. Linear in the words.
  func append(_ words: UnsafePointer<UInt64>, at base: UInt64, bitmap: UnsafePointer<UInt64>) {
    starts.push(bytes.count)
    recent.update(repeating: 0, count: Code.recentCount)
    var previous: UInt64 = 0
    var run = 0
    Self.forEachAddress(base, bitmap) { index, address in
      let value = words[index]
      if value == previous {
        run &+= 1
        if run == Code.longestRun { push(run: &run) }
        return
      }
      if run > 0 { push(run: &run) }
      let place = Self.place(of: value)
      if recent[place] == value {
        bytes.push(UInt8(truncatingIfNeeded: place))
      } else {
        recent[place] = value
        push(value, at: address)
      }
      previous = value
    }
    if run > 0 { push(run: &run) }
  }

  /// Calls `body` with the index and the address of each word of a page.
  @inline(__always)
  private static func forEachAddress(
    _ base: UInt64, _ bitmap: UnsafePointer<UInt64>, _ body: (_ index: Int, _ address: UInt64) -> Void
  ) {
    var index = 0
    for group in 0..<8 {
      var bits = bitmap[group]
      while bits != 0 {
        body(index, base &+ UInt64(group &* 64 &+ bits.trailingZeroBitCount) &* 8)
        bits &= bits &- 1
        index &+= 1
      }
    }
  }

  /// Adds padding, since unpacking reads 8 bytes at a time. Call this after the last page is added, and before any page
  /// is read.
  func finish() {
    for _ in 0..<8 { bytes.push(0) }
  }

  private func push(run: inout Int) {
    bytes.push(Code.run | UInt8(truncatingIfNeeded: run &- 1))
    run = 0
  }

  private func push(_ value: UInt64, at address: UInt64) {
    let difference = Int64(bitPattern: (value & ~Self.mark) &- address)
    let steps = difference >> 3
    let number = UInt64(bitPattern: steps << 1 ^ steps >> 63)
    let count = (UInt64.bitWidth - (number >> 3).leadingZeroBitCount + 7) / 8
    let isNear = difference & 7 == 0 && count <= Code.maxNearBytes
    if isNear {
      let kind = value & Self.mark == 0 ? Code.near : Code.nearMarked
      bytes.push(kind | UInt8(truncatingIfNeeded: count << 3) | UInt8(truncatingIfNeeded: number & 7))
    } else {
      bytes.push(Code.whole)
    }
    var rest = isNear ? number >> 3 : value
    for _ in 0..<(isNear ? count : 8) {
      bytes.push(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  @inline(__always)
  private static func place(of value: UInt64) -> Int {
    Int(truncatingIfNeeded: (value &* 0x9E37_79B9_7F4A_7C15) &>> 58)
  }

  /// Returns the words of a page. They are valid until another page is read. `base` and `bitmap` must equal the
  /// arguments of `append`.
  @inline(__always)
  func words(ofPage page: Int, at base: UInt64, bitmap: UnsafePointer<UInt64>) -> UnsafePointer<UInt64> {
    let slot = page & (Self.unpackedPages &- 1)
    let words = unpacked + slot &* Self.wordsOfPage
    if kept[slot] != page &+ 1 {
      unpack(page, at: base, bitmap: bitmap, into: words)
      kept[slot] = page &+ 1
    }
    return UnsafePointer(words)
  }

  @inline(never)
  private func unpack(
    _ page: Int, at base: UInt64, bitmap: UnsafePointer<UInt64>, into words: UnsafeMutablePointer<UInt64>
  ) {
    var input = UnsafeRawPointer(bytes.start + starts.start[page])
    let recent = recent
    recent.update(repeating: 0, count: Code.recentCount)
    var value: UInt64 = 0
    var run = 0
    Self.forEachAddress(base, bitmap) { index, address in
      if run > 0 {
        run &-= 1
      } else {
        let code = input.load(as: UInt8.self)
        input += 1
        if code < Code.run {
          value = recent[Int(code)]
        } else if code < Code.near {
          run = Int(code &- Code.run)
        } else {
          let rest = input.loadUnaligned(as: UInt64.self)
          if code == Code.whole {
            value = rest
            input += 8
          } else {
            let count = Int(code &>> 3 & 7)
            let number = (rest & ((1 &<< UInt64(count &* 8)) &- 1)) &<< 3 | UInt64(code & 7)
            let steps = Int64(bitPattern: number &>> 1) ^ (0 &- Int64(bitPattern: number & 1))
            value = address &+ UInt64(bitPattern: steps &<< 3)
            if code >= Code.nearMarked { value |= Self.mark }
            input += count
          }
          recent[Self.place(of: value)] = value
        }
      }
      words[index] = value
    }
  }
}
