// Limits on the work that reading a trace may take.

/// The amount of work that a reader may do for a trace.
///
/// A recorder's trace is read in full: only the memory limit (`MemoryLimit`) and an interrupt stop the reader. No rule
/// about sizes can be right for all programs, since some traces compress a thousand times better than others.
///
/// The trace of a stranger has further limits, by the size of its file. A few bytes can expand to a lot of work: zstd
/// expands 2 KiB to 64 MiB, and five bytes push a million frames. So each kind of work has a limit: a fixed amount for
/// any file, plus an amount for each byte of the file. The reader refuses work beyond the limit, and reports that it
/// did. A file of 1 MB is then read within seconds.
package struct ReadingLimits: Hashable, Sendable {
  /// The most live blocks that are read from a file of any size. The graph has room for this number of blocks, and for
  /// the roots.
  package static let blockLimit = 1 << 30

  /// An amount for any file, and a further amount for each byte of the file.
  private struct Rate {
    var least: UInt64
    var perByte: UInt64

    func limit(_ fileSize: UInt64) -> UInt64 { least + min(fileSize, 1 << 40) * perByte }
  }

  /// Decompressed bytes of definitions, and of the beginnings and ends of heap images. Types, paths and times compress
  /// about ten to one.
  private static let definitions = Rate(least: 64 << 20, perByte: 64)
  /// Decompressed bytes of events; each event takes at least one byte. Recorders write at most 308 bytes for each byte
  /// of the file: a single thread then allocates and frees one block a hundred million times. If a thread only retains
  /// and releases one object, it is 160 bytes: a thousand events between two time records, which take five bytes.
  private static let events = Rate(least: 4 << 20, perByte: 310)
  /// Decompressed bytes of events in all passes together. The first pass is always made. Programs write less than 40
  /// bytes of events for each byte of a trace. A trace that only retains and releases one object may be read twice.
  private static let replayedEvents = Rate(least: 32 << 20, perByte: 320)
  /// Decompressed bytes of events in all traces of a comparison together. Larger traces must be digested one by one
  /// (`leaktrace digest`) before they are compared.
  private static let comparedEvents = Rate(least: 96 << 20, perByte: 64)
  /// Switches of the merge from one thread to another. Each switch needs an event with its own time, whose bytes hardly
  /// compress.
  private static let turns = Rate(least: 4 << 20, perByte: 4)
  /// Decompressed bytes of the pages and block lists of heap images. A page that is full of one reference takes 577
  /// bytes, so the limit allows half a terabyte of such memory for each gigabyte of the file.
  private static let memory = Rate(least: 256 << 20, perByte: 128)
  /// Frames that recursions push by copy tokens. The recorder had to unwind as many frames.
  private static let copiedFrames = Rate(least: 128 << 20, perByte: 128)
  /// Distinct stacks: one for each `bytesForStack` bytes of the file, and `minStacks` for any file. The latter allows
  /// a recursion of a million frames that allocates in each frame. Programs that recurse over trees have one stack for
  /// about twenty bytes of their traces.
  private static let (minStacks, bytesForStack) = (5 << 18, 4)
  /// Frames of the decoders' current stacks, including room to grow.
  private static let decoderFrames = Rate(least: 4 << 20, perByte: 8)
  /// Distinct allocation sites. There are fewer sites than stacks, but each takes a few hundred bytes in the reader.
  /// One for each `bytesForSite` bytes of the file, and `minSites` for any file. The latter allows the sites of a
  /// recursion that fills a stack of 8 MiB with frames of 48 bytes.
  private static let (minSites, bytesForSite) = (3 << 16, 8)
  /// Distinct frames that are looked up in the program's files. A look-up takes as long as a few hundred events. A
  /// program has tens of thousands of places with calls.
  private static let (minFrames, bytesForFrame) = (1 << 16, 16)
  /// Loaded images: one for each `bytesForImage` bytes of the file, and `minImages` for any file. Each load of a
  /// plugin that is loaded repeatedly takes about `bytesForImage` bytes.
  private static let (minImages, bytesForImage) = (1 << 16, 16)
  /// Marks; each takes a few bytes.
  private static let marks = Rate(least: 4 << 20, perByte: 1)
  /// Bytes of the beginnings of heap images, which have the threads' stacks.
  private static let snapshots = Rate(least: 32 << 20, perByte: 64)
  private static let maxSnapshots = 1 << 16
  /// Bytes of chunks that are open at the same time, one for each thread.
  private static let openChunks = Rate(least: 256 << 20, perByte: 256)
  /// Bytes of the memory of a heap image without an end record, which would say how many words the image has.
  private static let imageMemory = Rate(least: 256 << 20, perByte: 256)
  /// Blocks that are live at the same time.
  private static let liveBlocks = Rate(least: 6 << 20, perByte: 2)
  /// Allocations while the blocks do not fit into a processor's cache, so that each allocation waits for memory. For
  /// most of them, the file has an address of one byte or more.
  private static let farAllocations = Rate(least: 16 << 20, perByte: 24)
  /// Steps past threads that wait for another thread's event. Clocks disagree by less than a microsecond, so threads
  /// rarely wait.
  private static let waiting = Rate(least: 32 << 20, perByte: 16)
  /// Births and deaths in nested scopes, counted once for each scope. In most programs, scopes are nested one or two
  /// deep.
  private static let scopes = Rate(least: 32 << 20, perByte: 16)
  /// Frames whose names are looked up, for whole stacks at a time. A site has dozens of frames, and takes a few bytes
  /// of the file.
  private static let namedFrames = Rate(least: 1 << 20, perByte: 8)
  /// Events of blocks whose history is requested.
  private static let historyEvents = Rate(least: 4 << 20, perByte: 2)
  /// Events of these blocks, and of blocks that are counted but not kept.
  private static let collectedEvents = Rate(least: 4 << 20, perByte: 4)
  /// Callers that are read to fold recursions in stacks. A stack has dozens of callers, and takes a few bytes of the
  /// file.
  private static let recursions = Rate(least: 64 << 20, perByte: 64)
  /// Bytes of text for printed records, unless all of the text is requested. Each line counts as `textOfLine` bytes
  /// more, because it takes as long as that much text. About four million events of any trace are printed.
  private static let text = Rate(least: 768 << 20, perByte: 256)
  package static let textOfLine: UInt64 = 64
  /// Bytes of damaged payloads that are checksummed. A damaged chunk may overlap the chunks after it, so their bytes
  /// are read again.
  private static let damage = Rate(least: 64 << 20, perByte: 8)

  /// True if the size of the file sets the limits.
  package let isBySize: Bool
  /// Decompressed bytes of definitions.
  var definitionBytes: UInt64
  /// Bytes of the beginnings of heap images, and the number of images.
  var snapshotBytes: UInt64
  var snapshotCount: Int
  /// Bytes of the memory of a heap image whose end record is missing.
  package var imageBytes: UInt64
  var eventBytes: UInt64
  var replayedBytes: UInt64
  var turns: UInt64
  var memoryBytes: UInt64
  var copiedFrames: UInt64
  var stackCount: Int
  var decoderFrames: Int
  var siteCount: Int
  package var frameCount: Int
  var imageCount: Int
  var markCount: Int
  var liveBlocks: Int
  /// Live blocks in the graphs of all heap images that are analysed together.
  package var graphBlocks: Int
  /// Heap images whose graphs are built.
  var graphs: UInt64
  /// Decompressed bytes of chunks that are open at the same time.
  var openChunkBytes: UInt64
  var farAllocations: UInt64
  var waitingSteps: UInt64
  var scopeSteps: UInt64
  var damagedBytes: UInt64
  package var recursionSteps: UInt64
  package var namedFrames: Int
  var historyEvents: Int
  var collectedEvents: Int
  package var textBytes: UInt64

  /// The limits for a trace that a recorder wrote.
  package static let ofRecorder = ReadingLimits()

  /// No limits, except for the numbers that the tables' rows can have.
  private init() {
    isBySize = false
    (definitionBytes, eventBytes, replayedBytes, turns, memoryBytes) = (.max, .max, .max, .max, .max)
    (snapshotBytes, snapshotCount, openChunkBytes) = (.max, .max, .max)
    (copiedFrames, stackCount, decoderFrames) = (.max, Int(Int32.max), .max)
    (siteCount, frameCount, imageCount, markCount) = (Int(Int32.max), .max, Int(Int32.max), Int(Int32.max))
    (liveBlocks, graphBlocks, graphs, farAllocations) = (Self.blockLimit, .max, .max, .max)
    (waitingSteps, scopeSteps, recursionSteps, namedFrames) = (.max, .max, .max, .max)
    (historyEvents, collectedEvents, textBytes, imageBytes) = (.max, .max, .max, .max)
    damagedBytes = Self.damage.limit(1 << 40)
  }

  /// The limits for a stranger's trace. `fileSize`: the bytes of the trace, and of the payloads in its live file.
  package init(fileSize: UInt64) {
    func count(_ rate: Rate, atMost limit: Int) -> Int { Int(min(UInt64(limit), rate.limit(fileSize))) }
    isBySize = true
    definitionBytes = Self.definitions.limit(fileSize)
    eventBytes = Self.events.limit(fileSize)
    replayedBytes = Self.replayedEvents.limit(fileSize)
    turns = Self.turns.limit(fileSize)
    memoryBytes = Self.memory.limit(fileSize)
    copiedFrames = Self.copiedFrames.limit(fileSize)
    stackCount = min(Self.minStacks + Int(min(fileSize, 1 << 40)) / Self.bytesForStack, Int(Int32.max))
    decoderFrames = count(Self.decoderFrames, atMost: Int(Int32.max))
    siteCount = Self.minSites + Int(min(fileSize, 1 << 32)) / Self.bytesForSite
    frameCount = Self.minFrames + Int(min(fileSize, 1 << 40)) / Self.bytesForFrame
    imageCount = Self.minImages + Int(min(fileSize, 1 << 32)) / Self.bytesForImage
    markCount = count(Self.marks, atMost: Int(Int32.max))
    liveBlocks = count(Self.liveBlocks, atMost: Self.blockLimit)
    farAllocations = Self.farAllocations.limit(fileSize)
    waitingSteps = Self.waiting.limit(fileSize)
    scopeSteps = Self.scopes.limit(fileSize)
    damagedBytes = Self.damage.limit(fileSize)
    textBytes = Self.text.limit(fileSize)
    historyEvents = count(Self.historyEvents, atMost: .max)
    collectedEvents = count(Self.collectedEvents, atMost: .max)
    namedFrames = count(Self.namedFrames, atMost: .max)
    recursionSteps = Self.recursions.limit(fileSize)
    snapshotBytes = Self.snapshots.limit(fileSize)
    openChunkBytes = Self.openChunks.limit(fileSize)
    imageBytes = Self.imageMemory.limit(fileSize)
    (snapshotCount, graphBlocks, graphs) = (Self.maxSnapshots, liveBlocks, Self.maxReplays)
  }

  /// Returns the number of heap images whose graphs may be built. Each graph has `blocks` live blocks, and needs a pass
  /// over `bytes` bytes of events. Graphs and passes together must stay within the limit on events, but at least one
  /// graph is allowed.
  func replays(ofBytes bytes: UInt64, blocks: Int) -> Int {
    Int(clamping: max(1, min(eventBytes / (1 + bytes + UInt64(blocks) * Self.eventsForNode), graphs)))
  }

  /// Returns the most decompressed bytes of events in strangers' traces that are compared together. `fileSize`: the
  /// bytes of all these traces.
  package static func comparedBytes(fileSize: UInt64) -> UInt64 { comparedEvents.limit(fileSize) }

  /// Returns the decompressed bytes of the events that are read.
  package static func eventBytes(of chunks: [TraceChunk]) -> UInt64 {
    chunks.reduce(0) { $0 + ($1.kind == .events && !$1.isRefused ? $1.plausibleRawSize : 0) }
  }

  /// The time to build a graph's node, in events.
  private static let eventsForNode: UInt64 = 64
  private static let maxReplays: UInt64 = 64

  /// Returns the indices of the chunks that would exceed the limits. Their payloads are not read. Spends the limits in
  /// file order, so the beginning of the file is read.
  func refusedChunks(_ chunks: [TraceChunk]) -> Set<Int> {
    var refused: Set<Int> = []
    var (definitions, events, memory) = (definitionBytes, eventBytes, memoryBytes)
    func spend(_ index: Int, _ budget: inout UInt64) {
      let cost = chunks[index].plausibleRawSize
      if cost > budget { refused.insert(index) } else { budget -= cost }
    }
    for index in chunks.indices {
      switch chunks[index].kind {
      case .events: spend(index, &events)
      case .memory, .blocks: spend(index, &memory)
      case .definitions, .closing, .snapshot, .snapshotEnd, .names: spend(index, &definitions)
      case .void, .fileParts, .unknown: break
      }
    }
    return refused
  }
}
