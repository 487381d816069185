// Damage in a trace that a reader skipped, with its place.

/// A fault in a trace. The rest of the trace can still be read.
package struct TraceDiagnostic: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    case trace(FileOffset)
    case live(FileOffset)
  }

  package enum Kind: Hashable, Sendable {
    /// The file ends inside a chunk: `present` of its `expected` bytes are there.
    case truncatedChunk(present: ByteCount, expected: ByteCount)
    /// Bytes that are neither a chunk nor a gap. `skipped`: the number of bytes up to the next sound chunk header, or
    /// to the end.
    case unreadableBytes(skipped: ByteCount)
    /// A chunk whose payload does not match its checksum.
    case damagedPayload(expected: UInt32, found: UInt32)
    /// A size that is too large for the file's size. No memory was allocated for it.
    case implausibleSize(claimed: ByteCount, justified: ByteCount)
    /// A chunk that was not read because the trace would exceed the limits for its size (`ReadingLimits`).
    case beyondFileSize(claimed: ByteCount)
    /// A further pass over `bytes` bytes of events that was not made, because all passes together would exceed the
    /// limit for the file's size.
    case tooManyPasses(bytes: ByteCount)
    /// Chunks of events that were not read to their ends, because the merge switched threads more often than the file's
    /// size allows.
    case tooManyTurns(chunks: Int)
    /// Blocks that were not kept, because the limits for the file's size were reached: on live blocks, or on
    /// allocations while very many blocks are live.
    case tooManyBlocks(ignored: UInt64)
    /// Allocations at more distinct sites than the file's size allows. They count as made at an unknown stack.
    case tooManySites(allocations: UInt64)
    /// A payload that does not decompress to the size in its header.
    case undecompressable(reason: String)
    /// A compression that this reader does not know.
    case unknownCompression(UInt8)
    /// Two sound chunks of the same thread, kind and number. The second chunk was ignored.
    case duplicateChunk(thread: UInt32, sequence: UInt32)
    /// Missing chunks before or between the chunks of a thread.
    case missingChunks(thread: UInt32, kind: ChunkKind, sequences: ClosedRange<UInt32>)
    /// A definitions payload that is damaged from byte `payloadOffset` on, after `records` whole records.
    case damagedDefinitions(payloadOffset: Int, records: Int)
    /// A definition record whose fields do not fit its length. The record was ignored.
    case damagedDefinition(kind: UInt8, payloadOffset: Int)
    /// More stack frames than the file's size allows. The stacks with these frames are unknown.
    case tooManyStacks(frames: UInt64)
    /// Definitions that were not kept because they exceeded the limit for the file's size.
    case tooManyDefinitions(ignored: UInt64)
    /// An events payload that is damaged from byte `payloadOffset` on, after `events` whole events.
    case damagedEvents(payloadOffset: Int, events: UInt64)
    /// An events payload whose number of events differs from the number in the header.
    case eventCountMismatch(claimed: UInt64, found: UInt64)
    /// A slot of the live file with offsets outside of the slot, or at the end of a file that is too short.
    case damagedSlot(reason: String)
    /// A live file that was ignored because it belongs to another trace, or is damaged.
    case liveFileIgnored(reason: String)
    /// A closing record that is too short.
    case damagedClosing
    /// The beginning or the end of a heap image that is too short for its stated contents.
    case damagedSnapshot
    /// Pages or a list of blocks of a heap image that are damaged from byte `payloadOffset` on.
    case damagedMemory(payloadOffset: Int)
    /// A heap image that was not written to its end, or lacks some parts. `parts`: the number of parts that were read.
    /// `expected`: the number of parts in the image's end record; nil if there is no end record.
    case incompleteSnapshot(number: UInt32, parts: UInt32, expected: UInt32?)
    /// A heap image without an end record that has more words than the file's size allows.
    case tooMuchMemory(words: UInt64)
    /// A heap image that would have exceeded the memory limit. `words`: the number of words that were read.
    case overMemoryLimit(words: UInt64, limit: ByteCount)
    /// The reading stopped at the memory limit, or because the user interrupted it. The rest was not read.
    case stopped(ReadingStop)
    /// The file could not be read here.
    case readFailed(errno: Int32)
  }

  package var kind: Kind
  package var place: Place?
  /// The index of the chunk that the diagnostic is about, among the trace's chunks; nil if it is not about a chunk.
  package var chunk: Int?

  /// True if the trace may be sound, and its reader refused the work because the trace is not trusted.
  package var isRefusal: Bool {
    switch kind {
    case .beyondFileSize, .tooManyPasses, .tooManyTurns, .tooManyBlocks, .tooManySites, .tooManyStacks,
      .tooManyDefinitions, .tooMuchMemory:
      true
    default: false
    }
  }

  package init(_ kind: Kind, at place: Place? = nil, chunk: Int? = nil) {
    self.kind = kind
    self.place = place
    self.chunk = chunk
  }
}

/// The diagnostics of one trace. Keeps the first thousand, and counts the others, so that a hostile file cannot fill
/// the memory with diagnostics.
package struct TraceDiagnostics: Sendable {
  package static let limit = 1000
  package private(set) var first: [TraceDiagnostic] = []
  package private(set) var count = 0

  package init() {}

  package var isEmpty: Bool { count == 0 }

  package mutating func append(_ diagnostic: TraceDiagnostic) {
    count += 1
    if first.count < Self.limit { first.append(diagnostic) }
  }
}
