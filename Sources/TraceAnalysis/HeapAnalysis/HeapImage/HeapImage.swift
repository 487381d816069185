// The words of memory that a snapshot contains.

import CTraceFormat
import TraceReading

/// The words of one snapshot, by address. If the image lacks a word, the word was 0 or plain data of the program. A
/// search for pointers treats both the same.
///
/// Memory: the memory of `PackedPages`, and 88 bytes a page. For one thread at a time, even for reads, since the image
/// caches the most recently used pages.
package final class HeapImage {
  /// Masks the address in a word. The other bits of a reference are tags.
  package static let addressBits = LT_WORD_ADDRESS_MASK

  // These properties are read for each word of each object. Run-time checks for exclusive access took a tenth of the
  // time of an analysis. The properties change only while the image is read from the trace, except for the last page,
  // which look-ups change.

  /// Page numbers (address / 4096), ascending, without repeats.
  @exclusivity(unchecked) private(set) var pages: [UInt64] = []
  /// Eight words for each page, with a bit for each word of the page. The bit is set if the image has the word.
  @exclusivity(unchecked) private var bitmaps = GrowingStack<UInt64>()
  /// Eight numbers for each page: the index of the first value of each group of 64 words.
  @exclusivity(unchecked) private var starts: [UInt16] = []
  private let values = PackedPages()
  @exclusivity(unchecked) private var lastIndex = 0
  @exclusivity(unchecked) private var lastPage = UInt64.max

  /// True if the image has all parts that the recorder reported, undamaged and in order.
  package private(set) var isWhole = true
  /// The limit in bytes, if reading stopped because the image would have exceeded it; otherwise nil.
  package private(set) var exceededLimit: ByteCount?

  /// Bytes of the pages of the traced program's kernel. The pages of an image have 4,096 bytes, whatever this is.
  package let kernelPageSize: UInt64

  package private(set) var wordCount = 0
  package var pageCount: Int { pages.count }

  /// Makes an image of the given words.
  package init(words: [(address: UInt64, value: UInt64)] = [], kernelPageSize: UInt64 = 4096) {
    self.kernelPageSize = kernelPageSize
    var (bitmap, page) = ([UInt64](repeating: 0, count: 8), [UInt64]())
    let sorted = words.sorted { $0.address < $1.address }
    for (place, word) in sorted.enumerated() {
      let index = Int(word.address >> 3 & 511)
      bitmap[index / 64] |= 1 << UInt64(index & 63)
      page.append(word.value)
      if place + 1 == sorted.count || sorted[place + 1].address >> 12 != word.address >> 12 {
        add(word.address >> 12, bitmap, page, page.count)
        (bitmap, page) = ([UInt64](repeating: 0, count: 8), [])
      }
    }
    finish()
  }

  /// Reads the image of `snapshot`, and adds damage to `diagnostics`. Linear in the words of the image.
  ///
  /// The end record of the image has the number of words and pages, protected by a checksum. More words or pages count
  /// as damage. If the end record is missing and the trace is not trusted, the size of the file limits their number.
  /// The image takes at most `limit` of memory. If `limit` is nil, the limit is half of the memory that the memory
  /// limit has left.
  package init(
    _ snapshot: TraceSnapshot, in reader: TraceReader, limit: MemoryLimit? = nil,
    diagnostics: inout TraceDiagnostics
  ) {
    kernelPageSize = UInt64(reader.header.pageSize)
    let buffer = PayloadBuffer()
    let limit = limit ?? reader.memoryLimit.ofHeapImage
    if let claimed = snapshot.end?.pageCount,
      claimed < min(reader.fileSize.rawValue / Self.minPageBytes, limit.bytes.rawValue / Budget.pageCost)
    {
      pages.reserveCapacity(Int(claimed))
    }
    var budget = Budget(snapshot.end, limits: reader.limits, limit: limit)
    var partCount: UInt32 = 0
    for index in snapshot.memoryChunks {
      let chunk = reader.chunks[index]
      if let failure = reader.loader.load(chunk, into: buffer) {
        diagnostics.append(.init(failure, at: chunk.place, chunk: index))
        isWhole = false
        continue
      }
      guard buffer.count >= MemoryLayout<lt_memory_part>.size else {
        diagnostics.append(.init(.damagedMemory(payloadOffset: 0), at: chunk.place, chunk: index))
        isWhole = false
        continue
      }
      let head = buffer.bytes.loadUnaligned(as: lt_memory_part.self)
      // Skip a part of another image that was taken at the same time.
      if head.snapshot != snapshot.number { continue }
      if head.part != partCount { isWhole = false }
      partCount &+= 1
      guard let failure = take(buffer, &budget) else { continue }
      isWhole = false
      switch failure {
      case .damage(let offset):
        diagnostics.append(.init(.damagedMemory(payloadOffset: offset), at: chunk.place, chunk: index))
      case .tooMuch:
        let words = UInt64(wordCount)
        if budget.isOfMachine {
          exceededLimit = ByteCount(budget.bytes)
          diagnostics.append(
            .init(.overMemoryLimit(words: words, limit: ByteCount(budget.bytes)), at: chunk.place, chunk: index))
        } else {
          diagnostics.append(.init(.tooMuchMemory(words: words), at: chunk.place, chunk: index))
        }
      }
      if case .tooMuch = failure { break }
    }
    if let end = snapshot.end {
      if end.error != 0 || end.partCount != partCount || end.wordCount != UInt64(wordCount)
        || end.pageCount != UInt64(pages.count)
      {
        isWhole = false
      }
    } else {
      isWhole = false
    }
    if !isWhole {
      diagnostics.append(
        .init(.incompleteSnapshot(number: snapshot.number, parts: partCount, expected: snapshot.end?.partCount)))
    }
    finish()
  }

  /// The smallest size of a page in a compressed file, in bytes. Few images have pages so repetitive that they compress
  /// further.
  private static let minPageBytes: UInt64 = 2

  /// The limit of words, pages and memory of an image. A word counts as 8 bytes. The packed word takes less, but the
  /// graph may need memory for a reference from the word.
  private struct Budget {
    static let wordCost: UInt64 = 8
    /// Bytes for a page's number, its bitmap, and the places of its words.
    static let pageCost: UInt64 = 8 + 64 + 16 + 8

    /// The number of words and pages from the image's end record.
    let words: UInt64
    let pages: UInt64
    /// The limit of memory, in bytes.
    let bytes: UInt64
    /// True if this machine's memory sets the limit; false if the size of the file does.
    let isOfMachine: Bool
    var usedBytes: UInt64 = 0

    init(_ end: TraceSnapshot.End?, limits: ReadingLimits, limit: MemoryLimit) {
      words = end?.wordCount ?? .max
      pages = end?.pageCount ?? .max
      let justified = end == nil ? limits.imageBytes : .max
      bytes = min(limit.bytes.rawValue, justified)
      isOfMachine = limit.bytes.rawValue <= justified
    }
  }

  private enum Failure {
    /// Damage at an offset of the payload.
    case damage(offset: Int)
    case tooMuch
  }

  /// Adds the pages of a part. Stops at damage and returns it; nil if there is none.
  private func take(_ buffer: PayloadBuffer, _ budget: inout Budget) -> Failure? {
    let head = MemoryLayout<lt_memory_part>.size
    var cursor = ByteCursor(UnsafePointer(buffer.start) + head, count: buffer.count - head)
    var page: UInt64 = 0
    var value: UInt64 = 0
    let values = UnsafeMutablePointer<UInt64>.allocate(capacity: PackedPages.wordsOfPage)
    defer { values.deallocate() }
    while cursor.remaining > 0 {
      let offset = buffer.count - cursor.remaining
      guard let step = cursor.varint(), let map = cursor.part(64) else { return .damage(offset: offset) }
      let (next, overflow) = page.addingReportingOverflow(step)
      guard !overflow, next >> 52 == 0, pages.last.map({ next > $0 }) ?? true else { return .damage(offset: offset) }
      page = next
      let words = UnsafeRawPointer(map.position)
      var count = 0
      for group in 0..<8 { count += words.loadUnaligned(fromByteOffset: group * 8, as: UInt64.self).nonzeroBitCount }
      guard UInt64(pages.count) < budget.pages, UInt64(wordCount) + UInt64(count) <= budget.words else {
        return .damage(offset: offset)
      }
      var differences: Int64 = 0
      for index in 0..<count {
        guard let difference = cursor.zigzag() else { return .damage(offset: offset) }
        if index > 0 { differences |= difference }
        value = value &+ UInt64(bitPattern: difference)
        values[index] = value
      }
      // Arrays and tables filled with one reference have pages of equal words. Such pages compress well, so even a
      // small file may have very many.
      budget.usedBytes += (differences == 0 ? 1 : UInt64(count)) * Budget.wordCost + Budget.pageCost
      guard budget.usedBytes <= budget.bytes else { return .tooMuch }
      add(page, words, values, count)
    }
    return nil
  }

  /// Appends a page. `bitmap` has a bit for each word of the page, in eight groups. `words` has the words that are
  /// present.
  private func add(_ page: UInt64, _ bitmap: UnsafeRawPointer, _ words: UnsafePointer<UInt64>, _ count: Int) {
    for group in 0..<8 { bitmaps.push(bitmap.loadUnaligned(fromByteOffset: group * 8, as: UInt64.self)) }
    values.append(words, at: page << 12, bitmap: self.bitmap(pages.count))
    pages.append(page)
    wordCount += count
  }

  @inline(__always)
  private func bitmap(_ index: Int) -> UnsafePointer<UInt64> { UnsafePointer(bitmaps.start + index &* 8) }

  /// Returns the words of the page at an index. They are valid until another page is read.
  @inline(__always)
  private func values(_ index: Int) -> UnsafePointer<UInt64> {
    values.words(ofPage: index, at: pages[index] << 12, bitmap: bitmap(index))
  }

  private func finish() {
    values.finish()
    starts.reserveCapacity(bitmaps.count)
    var sum: UInt16 = 0
    for index in 0..<bitmaps.count {
      if index & 7 == 0 { sum = 0 }
      starts.append(sum)
      sum += UInt16(bitmaps.start[index].nonzeroBitCount)
    }
  }

  /// Returns the index of the first page at or after `page`. Constant time for the page of the previous look-up and for
  /// the page after that, logarithmic for others.
  private func lowerBound(_ page: UInt64) -> Int {
    if page == lastPage { return lastIndex }
    if page == lastPage &+ 1, lastIndex < pages.count {
      let next = pages[lastIndex] == lastPage ? lastIndex + 1 : lastIndex
      lastPage = page
      lastIndex = next
      return next
    }
    var low = 0
    var high = pages.count
    while low < high {
      let middle = (low + high) / 2
      if pages[middle] < page { low = middle + 1 } else { high = middle }
    }
    lastPage = page
    lastIndex = low
    return low
  }

  /// Returns the word at an address, which must be a multiple of 8; nil if the image has no word there.
  package func word(at address: UInt64) -> UInt64? {
    let index = lowerBound(address >> 12)
    guard index < pages.count, pages[index] == address >> 12 else { return nil }
    let word = Int(address >> 3 & 511)
    let bitmap = bitmap(index)[word / 64]
    let bit = UInt64(1) << UInt64(word & 63)
    guard bitmap & bit != 0 else { return nil }
    return values(index)[Int(starts[index * 8 + word / 64]) + (bitmap & (bit - 1)).nonzeroBitCount]
  }

  /// Returns the address of the first word in `range`; nil if the image has none there. Constant time if the image has
  /// words near by, logarithmic otherwise.
  package func firstWord(in range: Range<UInt64>) -> UInt64? {
    guard range.lowerBound < range.upperBound, range.lowerBound <= UInt64.max - 7 else { return nil }
    let first = (range.lowerBound + 7) & ~7
    var index = lowerBound(first >> 12)
    while index < pages.count {
      let base = pages[index] << 12
      if base >= range.upperBound { return nil }
      var word = base < first ? Int((first - base) >> 3) : 0
      while word < 512 {
        let bits = bitmap(index)[word / 64] & (~UInt64(0) << UInt64(word & 63))
        if bits != 0 {
          let address = base + UInt64(word & ~63 | bits.trailingZeroBitCount) * 8
          return address < range.upperBound ? address : nil
        }
        word = (word | 63) + 1
      }
      index += 1
    }
    return nil
  }

  /// Calls `body` with the address and value of each word in `range`, in order. Linear in the words and pages in the
  /// range.
  @inline(__always)
  package func forEachWord(in range: Range<UInt64>, _ body: (UInt64, UInt64) -> Void) {
    guard range.lowerBound < range.upperBound, range.lowerBound <= UInt64.max - 7 else { return }
    let first = (range.lowerBound + 7) & ~7
    var index = lowerBound(first >> 12)
    while index < pages.count {
      let base = pages[index] << 12
      if base >= range.upperBound { return }
      let from = base < first ? Int((first - base) >> 3) : 0
      let to = range.upperBound - base >= 4096 ? 512 : Int((range.upperBound - base + 7) >> 3)
      // This fails if no multiple of 8 lies in the range.
      guard first < range.upperBound, from < to else { return }
      var group = from / 64
      while group * 64 < to {
        let whole = bitmap(index)[group]
        var bits = whole
        if group == from / 64 { bits &= ~UInt64(0) << UInt64(from & 63) }
        if to < group * 64 + 64 { bits &= (UInt64(1) << UInt64(to & 63)) &- 1 }
        if bits != 0 {
          var offset = Int(starts[index * 8 + group]) + (whole & ((bits & (0 &- bits)) &- 1)).nonzeroBitCount
          while bits != 0 {
            let bit = bits.trailingZeroBitCount
            // Get the values again for each word: a look-up in `body` may unpack another page into the same memory.
            body(base + UInt64(group * 64 + bit) * 8, values(index)[offset])
            offset += 1
            bits &= bits - 1
          }
        }
        group += 1
      }
      index += 1
    }
  }
}
