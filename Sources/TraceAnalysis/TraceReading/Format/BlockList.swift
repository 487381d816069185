// The blocks of a process at a heap image, from its allocator's metadata.

import CTraceFormat

/// The list of blocks at an image. Recorders write such a list if the process was running when the recording began.
struct BlockList {
  /// The blocks in order of address. They do not overlap. Their types are types of the trace, or 0.
  private(set) var blocks: [ListedBlock] = []
  /// True if all parts of the list were found, sound, and in order. Otherwise, blocks may exist that are not in the
  /// list.
  private(set) var isWhole = false

  /// Reads the list of `snapshot`, up to the file's limit of blocks. Linear in the list. Damage is added to
  /// `diagnostics`.
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
      // The part belongs to another image of the same time.
      if head.snapshot != snapshot.number { continue }
      // A part is missing, or there is a part after the last one.
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

  /// Decodes a block. Nil if the bytes end inside the block, or if it cannot come after the last block.
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
