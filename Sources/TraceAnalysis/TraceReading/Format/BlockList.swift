// The blocks of a process at a heap image, as its allocator's books have them.

import CTraceFormat

/// The list of blocks that goes with an image of a process that was running when its recording began.
struct BlockList {
  /// In order of address, disjoint. Types are among the trace's.
  private(set) var blocks: [ListedBlock] = []
  /// All parts were there, sound, and in order. Otherwise an unlisted block proves nothing.
  private(set) var isWhole = false

  /// Reads the list of `snapshot`, up to the file's limit of blocks. Linear in it. Damage is added to `diagnostics`.
  init(of snapshot: TraceSnapshot, in reader: TraceReader, diagnostics: inout TraceDiagnostics) {
    let buffer = PayloadBuffer()
    let types = reader.definitions.types, repeated = reader.definitions.repeatedTypes
    var partCount: UInt32 = 0
    for index in snapshot.blockChunks {
      let chunk = reader.chunks[index]
      if let failure = reader.loader.load(chunk, into: buffer) {
        diagnostics.append(.init(failure, at: chunk.place, chunk: index))
        return
      }
      let headSize = MemoryLayout<lt_block_part>.size
      guard buffer.count >= headSize else {
        diagnostics.append(.init(.damagedMemory(payloadOffset: 0), at: chunk.place, chunk: index))
        return
      }
      let head = buffer.bytes.loadUnaligned(as: lt_block_part.self)
      // Another image's, of the same time.
      if head.snapshot != snapshot.number { continue }
      // A part is missing; or there is one behind the last.
      guard head.part == partCount, !isWhole else {
        isWhole = false
        return
      }
      partCount &+= 1
      var cursor = ByteCursor(UnsafePointer(buffer.start + headSize), count: buffer.count - headSize)
      var address: UInt64 = 0
      while cursor.remaining > 0 {
        let start = buffer.count - cursor.remaining
        guard let block = Self.block(&cursor, after: address, blocks.last) else {
          diagnostics.append(.init(.damagedMemory(payloadOffset: start), at: chunk.place, chunk: index))
          return
        }
        guard blocks.count < reader.limits.liveBlocks else {
          diagnostics.append(.init(.tooManyBlocks(ignored: 1), at: chunk.place, chunk: index))
          return
        }
        address = block.address
        let type = repeated[block.type] ?? block.type
        blocks.append(ListedBlock(address: address, size: block.size, type: types[type] == nil ? 0 : type))
      }
      isWhole = head.isLast == 1
    }
  }

  /// Nil if it breaks off, or if it cannot follow the last block.
  private static func block(_ cursor: inout ByteCursor, after address: UInt64, _ last: ListedBlock?) -> ListedBlock? {
    guard let difference = cursor.varint(), let size = cursor.varint(), let type = cursor.varint(),
      let type = UInt32(exactly: type)
    else { return nil }
    let (start, isBeyond) = address.addingReportingOverflow(difference)
    guard !isBeyond, start > 0, start < RuntimeAddress.limit, size <= RuntimeAddress.limit - start else { return nil }
    if let last, start < last.address + max(1, last.size) { return nil }
    return ListedBlock(address: start, size: size, type: type)
  }
}
