// Damage that a reader skipped in a trace, with its place.

/// A fault in a trace that does not keep the rest of it from being read.
package struct TraceDiagnostic: Hashable, Sendable {
  package enum Place: Hashable, Sendable {
    case trace(FileOffset)
    case live(FileOffset)
  }

  package enum Kind: Hashable, Sendable {
    /// The file ends inside a chunk: `present` of its `expected` bytes are there.
    case truncatedChunk(present: ByteCount, expected: ByteCount)
    /// Bytes that are neither a chunk nor a gap; `skipped` bytes up to the next sound chunk header or the end.
    case unreadableBytes(skipped: ByteCount)
    /// A chunk whose payload does not fit its checksum.
    case damagedPayload(expected: UInt32, found: UInt32)
    /// A size that the file does not justify, so that nothing was allocated for it.
    case implausibleSize(claimed: ByteCount, justified: ByteCount)
    /// A chunk that was not read: with it, the trace would take more than a file of its size pays for
    /// (`ReadingLimits`).
    case beyondFileSize(claimed: ByteCount)
    /// Bytes of events that were not read once more: with them, all passes over the events would take more than a file
    /// of this size pays for.
    case tooManyPasses(bytes: ByteCount)
    /// Chunks of events that were not read to their ends, since threads take turns more often than the size of the file
    /// justifies.
    case tooManyTurns(chunks: Int)
    /// Blocks that were live at once, or were allocated among very many others, above the limit for the size of the
    /// file. They were not kept.
    case tooManyBlocks(ignored: UInt64)
    /// Allocations at more distinct sites than the size of the file justifies: these count as made at an unknown stack.
    case tooManySites(allocations: UInt64)
    /// A payload that does not decompress to the size in its header.
    case undecompressable(reason: String)
    /// A compression this reader does not know.
    case unknownCompression(UInt8)
    /// Two sound chunks of the same thread, kind and number: the second was ignored.
    case duplicateChunk(thread: UInt32, sequence: UInt32)
    /// Chunks that are missing between those that are there.
    case missingChunks(thread: UInt32, kind: ChunkKind, sequences: ClosedRange<UInt32>)
    /// A definitions payload that breaks off at byte `payloadOffset`, after `records` whole records.
    case damagedDefinitions(payloadOffset: Int, records: Int)
    /// A definition record whose fields do not fit its length; it was ignored.
    case damagedDefinition(kind: UInt8, payloadOffset: Int)
    /// Stack nodes whose parent was never defined, or is its own ancestor. They hang from an unknown caller.
    /// More stack frames than a file of this size justifies: their stacks are not known.
    case tooManyStacks(frames: UInt64)
    /// Definitions above the limit for the size of the file. They were not kept.
    case tooManyDefinitions(ignored: UInt64)
    /// An events payload that breaks off at byte `payloadOffset`, after `events` whole events.
    case damagedEvents(payloadOffset: Int, events: UInt64)
    /// An events payload that has another number of events than its header says.
    case eventCountMismatch(claimed: UInt64, found: UInt64)
    /// A slot of the live file with offsets outside of it.
    case damagedSlot(reason: String)
    /// The live file beside the trace belongs to another trace, or is damaged, and was ignored.
    case liveFileIgnored(reason: String)
    /// A closing record that is too short.
    case damagedClosing
    /// The beginning or the end of a heap image, too short for the contents that it claims.
    case damagedSnapshot
    /// Pages of a heap image that break off at byte `payloadOffset`.
    case damagedMemory(payloadOffset: Int)
    /// A heap image that was not written to its end, or lacks some parts: `parts` were read, and `expected` is the
    /// number that its end gives.
    case incompleteSnapshot(number: UInt32, parts: UInt32, expected: UInt32?)
    /// More words in a heap image without an end than the file justifies.
    case tooMuchMemory(words: UInt64)
    /// A heap image that would have taken more memory than it may: `words` of it were read.
    case overMemoryLimit(words: UInt64, limit: ByteCount)
    /// The file could not be read here.
    case readFailed(errno: Int32)
  }

  package var kind: Kind
  package var place: Place?
  /// Index of the chunk among the sound chunks of the trace, where one is meant.
  package var chunk: Int?

  package init(_ kind: Kind, at place: Place? = nil, chunk: Int? = nil) {
    self.kind = kind
    self.place = place
    self.chunk = chunk
  }
}

/// The diagnostics of one trace. Keeps the first thousand, and counts the rest, so that a hostile file cannot fill the
/// memory with them.
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
