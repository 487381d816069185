// Limits on the work that a file of some size may cause a reader.

/// The amount of work that a trace's size allows. A few bytes can expand to a lot of work: zstd makes 64 MiB of 2 KiB,
/// and five bytes push a million frames. Each kind of work has a limit, so that no file keeps a reader busy without
/// end: a fixed amount for any file, and an amount for each byte of it. Work beyond the limit is refused, and the
/// reader reports it.
///
/// The limits are far beyond what recorders write, and low enough that a file of 1 MB is read within seconds.
package struct ReadingLimits: Hashable, Sendable {
  /// The most live blocks that are read, whatever a file's size allows: the graph has room for this number, and for the
  /// roots.
  package static let blockLimit = 1 << 30

  /// An amount for any file, and another for each byte of it.
  private struct Rate {
    var least: UInt64
    var perByte: UInt64

    func limit(_ fileSize: UInt64) -> UInt64 { least + min(fileSize, 1 << 40) * perByte }
  }

  /// Bytes of definitions and of the frames of heap images, decompressed. Types, paths and times compress about ten to
  /// one.
  private static let definitions = Rate(least: 64 << 20, perByte: 64)
  /// Bytes of events, decompressed; each event has one at least. A recorder writes the most for a byte of its file if a
  /// single thread allocates and frees one block without end: 308, for a hundred million such pairs. If references to
  /// one object are counted without end, it is 160: a thousand events between two times, which take five bytes.
  private static let events = Rate(least: 4 << 20, perByte: 310)
  /// Bytes of events for all passes together; the first pass is always made. Programs write less than 40 bytes of
  /// events for a byte of a trace; references to one object may be read twice.
  private static let replayedEvents = Rate(least: 32 << 20, perByte: 320)
  /// Bytes of events for all traces of a comparison together. A comparison of larger traces must digest them one by
  /// one.
  private static let comparedEvents = Rate(least: 96 << 20, perByte: 64)
  /// Switches of the merge from one thread to another. Each needs an event with its time, and no two bytes of that
  /// event repeat earlier ones.
  private static let turns = Rate(least: 4 << 20, perByte: 4)
  /// Bytes of the pages and block lists of heap images, decompressed. A page that is full of one reference has 577:
  /// this is half a terabyte of memory for each gigabyte of file.
  private static let memory = Rate(least: 256 << 20, perByte: 128)
  /// Frames that recursions push by copy tokens. A recorder has to unwind the same number of frames.
  private static let copiedFrames = Rate(least: 128 << 20, perByte: 128)
  /// Distinct stacks: one for each `bytesForStack` bytes of the file, and `leastStacks` for any file. In such a file a
  /// recursion of a million frames may allocate in each frame. Programs that walk trees have one stack for some twenty
  /// bytes of their traces.
  private static let (leastStacks, bytesForStack) = (5 << 18, 4)
  /// Frames that decoders keep of their current stacks, with room to grow.
  private static let decoderFrames = Rate(least: 4 << 20, perByte: 8)
  /// Distinct allocation sites: fewer than stacks, and some hundred bytes each to the reader. One for each
  /// `bytesForSite` bytes of the file, and `leastSites` for any file: the sites of a recursion that fills a stack of 8
  /// MiB with frames of 48 bytes.
  private static let (leastSites, bytesForSite) = (3 << 16, 8)
  /// Distinct frames that are looked up in the program's files. Each takes as long as some hundred events. A program
  /// has some ten thousand places with calls.
  private static let (leastFrames, bytesForFrame) = (1 << 16, 16)
  /// Loaded images: one for each `bytesForImage` bytes of the file, and `leastImages` for any file. A plugin that is
  /// loaded again and again takes about that many bytes each time.
  private static let (leastImages, bytesForImage) = (1 << 16, 16)
  /// Marks; each takes some bytes.
  private static let marks = Rate(least: 4 << 20, perByte: 1)
  /// Blocks that are live at once.
  private static let liveBlocks = Rate(least: 6 << 20, perByte: 2)
  /// Allocations while the blocks no longer fit a processor's cache, so that each waits for memory. For most of them
  /// the file has the address, in a byte or more each.
  private static let farAllocations = Rate(least: 16 << 20, perByte: 24)
  /// Steps past threads that wait for another thread's event. Clocks disagree by less than a microsecond, so hardly any
  /// threads wait.
  private static let waiting = Rate(least: 32 << 20, perByte: 16)
  /// Births and deaths in nested scopes, counted once for each scope. Most programs have a scope or two around
  /// anything.
  private static let scopes = Rate(least: 32 << 20, perByte: 16)
  /// Frames of stacks that are named, whole stacks at a time. A site has some dozens of frames, and takes some bytes.
  private static let namedFrames = Rate(least: 1 << 20, perByte: 8)
  /// Events of blocks whose history is requested.
  private static let historyEvents = Rate(least: 4 << 20, perByte: 2)
  /// Events of those blocks, and of blocks that are counted but not kept.
  private static let collectedEvents = Rate(least: 4 << 20, perByte: 4)
  /// Callers that are read to fold the recursions of stacks. Programs' stacks have some dozens each, and take some
  /// bytes.
  private static let recursions = Rate(least: 64 << 20, perByte: 64)
  /// Bytes of text for printed records, unless all of the text is requested. Each line costs `textOfLine` bytes more:
  /// it takes as long as that much text. Some four million events are printed of any trace.
  private static let text = Rate(least: 768 << 20, perByte: 256)
  package static let textOfLine: UInt64 = 64
  /// Bytes of chunks that are checksummed in vain because their payload is damaged: one damaged length may cover the
  /// chunks after it.
  private static let damage = Rate(least: 64 << 20, perByte: 8)

  /// Bytes, decompressed.
  var definitionBytes: UInt64
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
  package var liveBlocks: Int
  var farAllocations: UInt64
  var waitingSteps: UInt64
  var scopeSteps: UInt64
  var damagedBytes: UInt64
  package var recursionSteps: UInt64
  package var namedFrames: Int
  var historyEvents: Int
  var collectedEvents: Int
  package var textBytes: UInt64

  /// `fileSize`: bytes of the trace and of the part of its live file that is read.
  package init(fileSize: UInt64) {
    func count(_ rate: Rate, atMost limit: Int) -> Int { Int(min(UInt64(limit), rate.limit(fileSize))) }
    definitionBytes = Self.definitions.limit(fileSize)
    eventBytes = Self.events.limit(fileSize)
    replayedBytes = Self.replayedEvents.limit(fileSize)
    turns = Self.turns.limit(fileSize)
    memoryBytes = Self.memory.limit(fileSize)
    copiedFrames = Self.copiedFrames.limit(fileSize)
    stackCount = min(Self.leastStacks + Int(min(fileSize, 1 << 40)) / Self.bytesForStack, Int(Int32.max))
    decoderFrames = count(Self.decoderFrames, atMost: Int(Int32.max))
    siteCount = Self.leastSites + Int(min(fileSize, 1 << 32)) / Self.bytesForSite
    frameCount = Self.leastFrames + Int(min(fileSize, 1 << 40)) / Self.bytesForFrame
    imageCount = Self.leastImages + Int(min(fileSize, 1 << 32)) / Self.bytesForImage
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
  }

  /// Bytes of events, decompressed, that traces with `fileSize` bytes may have together to be compared at once.
  package static func comparedBytes(fileSize: UInt64) -> UInt64 { comparedEvents.limit(fileSize) }

  /// Returns the number of heap images whose graphs may be built, for this number of live blocks and a pass over
  /// `bytes` of events each. The graphs and passes may cost the limit on events, but at least one is allowed.
  func replays(ofBytes bytes: UInt64, blocks: Int) -> Int {
    Int(clamping: max(1, min(eventBytes / (1 + bytes + UInt64(blocks) * Self.eventsForNode), Self.mostReplays)))
  }

  /// Bytes of the events that are read, decompressed.
  package static func eventBytes(of chunks: [TraceChunk]) -> UInt64 {
    chunks.reduce(0) { $0 + ($1.kind == .events && !$1.isRefused ? $1.plausibleRawSize : 0) }
  }

  /// The cost of a graph's node, in events.
  private static let eventsForNode: UInt64 = 64
  private static let mostReplays: UInt64 = 64

  /// Returns the chunks, by index, that would exceed the limits: their payloads are not read. Follows the order of the
  /// file, so that the beginning is read.
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
