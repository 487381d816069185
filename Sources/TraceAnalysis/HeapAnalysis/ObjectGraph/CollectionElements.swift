// Adds the references in the elements of arrays, sets and dictionaries.

import CHeapScan
import TraceReading

extension ObjectGraphBuilder {
  mutating func readArray(_ node: Int, _ block: LiveBlock, from start: UInt64, count: UInt64?, _ part: NodeLayout.Part)
  {
    let end = usableEnd(node, block)
    guard start >= block.address, start < end else { return }
    guard let count, part.stride > 0 else {
      scan(node, block, start..<end)
      return
    }
    readElements(node, block, from: start, to: start &+ min(count, (end - start) / part.stride) &* part.stride, part)
  }

  /// Returns the slots in use: those from the first slot on, and those that wrap around to the start of the ring. Nil
  /// if the numbers contradict each other.
  private func ringSegments(room: UInt64, capacity: UInt64, count: UInt64, first: UInt64) -> [Range<UInt64>]? {
    guard capacity <= room, count <= capacity, first <= capacity else { return nil }
    let ahead = min(count, capacity - first)
    return [first..<first + ahead, 0..<count - ahead]
  }

  /// Reads the elements of a deque. Only slots in use are read, since free slots keep the words of removed elements.
  mutating func readRing(
    _ node: Int, _ block: LiveBlock, from start: UInt64, capacity: UInt64?, count: UInt64?, first: UInt64?,
    _ part: NodeLayout.Part
  ) {
    let end = usableEnd(node, block)
    guard start >= block.address, start < end else { return }
    guard part.stride > 0, let capacity, let count, let first,
      let segments = ringSegments(room: (end - start) / part.stride, capacity: capacity, count: count, first: first)
    else {
      scan(node, block, start..<end)
      return
    }
    for slots in segments {
      readElements(
        node, block, from: start + slots.lowerBound * part.stride, to: start + slots.upperBound * part.stride, part)
    }
  }

  /// Records numbers and bytes that equal the address of a block, such as a result of `Int(bitPattern:)`. Ignores the
  /// lowest and the highest bits, since programs store marks there.
  mutating func readNumbers(
    _ node: Int, _ range: Range<UInt64>, where isInUse: (UInt64) -> Bool = { _ in true }
  ) {
    guard range.lowerBound < range.upperBound else { return }
    image.forEachWord(in: range) { address, value in
      guard let target = numberTarget(of: value), Int(target) != node, isInUse(address) else { return }
      addNumber(from: UInt32(node), to: target)
    }
  }

  /// Returns the block whose address equals a number. In a block of C code, an address inside the block also counts,
  /// since C code may put a header before the memory that it uses.
  func numberTarget(of value: UInt64) -> UInt32? {
    let address = value & Self.addressBits & ~7
    guard heapExtent.contains(address), let found = heap.block(containing: address),
      heap[found].address == address || types[Int(nodeTypes[Int(found.rawValue)])].kind == .malloc
    else { return nil }
    return found.rawValue
  }

  mutating func addNumber(from source: UInt32, to target: UInt32) {
    guard numbers.count < Self.numberLimit, numbers.last != .init(from: source, to: target) else { return }
    numbers.append(.init(from: source, to: target))
  }

  private mutating func readElements(
    _ node: Int, _ block: LiveBlock, from start: UInt64, to limit: UInt64, _ part: NodeLayout.Part
  ) {
    guard !part.references.isEmpty || !part.opaque.isEmpty else {
      readNumbers(node, start..<limit)
      return
    }
    var next = start
    // Skip elements without words in the heap image: a corrupt count may claim any number of elements.
    while next < limit, let word = image.firstWord(in: next..<limit) {
      next += (word - next) / part.stride * part.stride
      read(part, of: node, block, at: next, limit: limit)
      next += part.stride
    }
  }

  /// Returns whether a collection is empty. Words that removed elements left in an empty collection are not references.
  func isEmptyCollection(_ kind: NodeKind, _ block: LiveBlock) -> Bool {
    switch kind {
    case .array: image.word(at: block.address &+ UInt64(SWIFT_ARRAY_COUNT)) == 0
    case .dictionary, .set: image.word(at: block.address &+ UInt64(SWIFT_TABLE_COUNT)) == 0
    default: false
    }
  }

  /// Returns an upper bound for the end of a collection's memory. Collections of the standard library use all memory
  /// that the allocator provides, even beyond the requested size. The allocator rounds the size up, for glibc to the
  /// next multiple of 16 less 8 bytes, for others to a size class. The memory always ends before the next block.
  func usableEnd(_ node: Int, _ block: LiveBlock) -> UInt64 {
    let end = block.address + block.size
    let next = node + 1 < heap.count ? heap.blocks[node + 1].address : UInt64.max
    return max(end, min(next, end &+ max(24, block.size / 4)))
  }

  /// Returns the buckets that may contain the first byte of an address stored at `place` in the heap image.
  ///
  /// The heap image stores an address among bytes as the word where the address begins. If that word already stores a
  /// tag, a number with a mark or another address, the heap image stores the address as the next word.
  private static func buckets(at place: UInt64, in table: Range<UInt64>, _ part: NodeLayout.Part) -> ClosedRange<UInt64>
  {
    let offset = place - table.lowerBound
    guard part.hasNarrowParts else { return offset / part.stride...offset / part.stride }
    let last = min(offset + 7, table.upperBound - table.lowerBound - 1)
    return (offset - min(8, offset)) / part.stride...last / part.stride
  }

  mutating func readTable(
    _ node: Int, _ block: LiveBlock, scale: UInt64, bitmap: UInt64, parts: [(offset: UInt64, part: NodeLayout.Part)]
  ) {
    let end = block.address + block.size
    let bits = block.address &+ bitmap
    guard let scale = image.word(at: block.address &+ scale), scale & 0xFF < 40, bits >= block.address, bits < end
    else {
      scan(node, block, block.address + min(block.size, 48)..<end)
      return
    }
    let buckets = UInt64(1) << (scale & 0xFF)
    for (offset, part) in parts where part.stride > 0 {
      guard let base = image.word(at: block.address &+ offset), base >= block.address, base < end else { continue }
      if part.references.isEmpty, part.opaque.isEmpty {
        let (size, overflow) = buckets.multipliedReportingOverflow(by: part.stride)
        let numbers = base..<base + min(end - base, overflow ? .max : size)
        readNumbers(node, numbers) { [image] address in
          Self.buckets(at: address, in: numbers, part).contains { bucket in
            let word = bits + bucket / 64 * 8
            return word < end && (image.word(at: word) ?? 0) >> (bucket % 64) & 1 == 1
          }
        }
        continue
      }
      // Visit only words of the bitmap that the heap image has: a corrupt scale may claim any number of buckets.
      var next = bits
      let bitsEnd = bits + min(end - bits, max(1, buckets / 64) * 8)
      while let at = image.firstWord(in: next..<bitsEnd) {
        next = at + 8
        var occupied = image.word(at: at) ?? 0
        while occupied != 0 {
          let bucket = (at - bits) * 8 + UInt64(occupied.trailingZeroBitCount)
          occupied &= occupied - 1
          let (distance, overflow) = bucket.multipliedReportingOverflow(by: part.stride)
          guard !overflow, bucket < buckets, distance < end - base else { break }
          read(part, of: node, block, at: base + distance, limit: end)
        }
      }
    }
  }
}
