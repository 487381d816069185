// Parts of the program's files that a trace contains, so that names can be looked up after the files are gone.

import CTraceFormat

/// A file of the program. The trace contains parts of the file.
package struct StoredFile: Hashable, Sendable {
  /// The path on the machine of the recording.
  package var path: String
  /// Empty if the file has none.
  package var buildID: [UInt8]
  /// The size of the whole file in bytes.
  package var size: UInt64
  /// The numbers of the chunks that contain the file's parts.
  package var chunks: Range<UInt32>
}

/// The files whose parts a trace contains. For any thread.
package final class StoredFiles: Sendable {
  package let files: [StoredFile]
  /// False if a limit of time or memory was reached, so that some names are missing.
  package let isComplete: Bool
  /// The version of the command that chose the parts.
  package let toolVersion: String

  private nonisolated(unsafe) let source: ByteSource
  private let chunks: [UInt32: TraceChunk]

  /// Nil if the trace has no list of files, or if the list cannot be read.
  init?(_ chunks: [TraceChunk], source: ByteSource) {
    let buffer = PayloadBuffer()
    guard let list = chunks.last(where: { $0.kind == .names }),
      PayloadLoader(source: source, livePayloads: []).load(list, into: buffer) == nil
    else { return nil }
    var cursor = ByteCursor(buffer.start, count: buffer.count)
    guard cursor.varint() == UInt64(LT_NAMES_VERSION), let flags = cursor.varint(), let version = cursor.string(),
      let count = cursor.varint(), count <= UInt64(cursor.remaining)
    else { return nil }
    var files: [StoredFile] = []
    for _ in 0..<count {
      guard let path = cursor.string(), let buildID = cursor.bytes(), let size = cursor.varint(),
        let first = cursor.varint(), let parts = cursor.varint(), first <= UInt64(UInt32.max),
        parts <= UInt64(UInt32.max) - first
      else { return nil }
      files.append(
        StoredFile(path: path, buildID: buildID, size: size, chunks: UInt32(first)..<UInt32(first + parts)))
    }
    self.files = files
    isComplete = flags & UInt64(LT_NAMES_INCOMPLETE) == 0
    toolVersion = version
    self.source = source
    self.chunks = Dictionary(
      chunks.filter { $0.kind == .fileParts }.map { ($0.sequence, $0) }, uniquingKeysWith: { $1 })
  }

  /// Copies the parts of a file to their offsets in `memory`, which must have the file's size. Returns false if some
  /// parts are damaged; the other parts are copied. Linear in the parts.
  package func copy(_ file: StoredFile, to memory: UnsafeMutableRawBufferPointer) -> Bool {
    let loader = PayloadLoader(source: source, livePayloads: [])
    let buffer = PayloadBuffer()
    var isWhole = true
    for number in file.chunks {
      guard let chunk = chunks[number], loader.load(chunk, into: buffer) == nil,
        Self.copy(buffer.bytes, to: memory)
      else {
        isWhole = false
        continue
      }
    }
    return isWhole
  }

  private static func copy(_ payload: UnsafeRawBufferPointer, to memory: UnsafeMutableRawBufferPointer) -> Bool {
    guard let start = payload.baseAddress else { return true }
    var cursor = ByteCursor(start.assumingMemoryBound(to: UInt8.self), count: payload.count)
    guard let count = cursor.varint(), count <= UInt64(cursor.remaining) else { return false }
    var ranges: [(offset: UInt64, size: UInt64)] = []
    var end: UInt64 = 0
    for _ in 0..<count {
      guard let gap = cursor.varint(), let size = cursor.varint(), gap <= UInt64(memory.count) - end,
        size <= UInt64(memory.count) - end - gap
      else { return false }
      ranges.append((end + gap, size))
      end += gap + size
    }
    for range in ranges {
      guard let part = cursor.part(range.size) else { return false }
      guard range.size > 0 else { continue }
      (memory.baseAddress! + Int(range.offset)).copyMemory(from: part.position, byteCount: Int(range.size))
    }
    return true
  }
}
