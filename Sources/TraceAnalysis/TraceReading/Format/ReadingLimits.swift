// Limits on the work that a file of some size may cause a reader.

/// The work that a trace pays for with its bytes. A few bytes can stand for very much: zstd makes 64 MiB of 2 KiB, five
/// bytes push a million frames. Each kind of work has a limit, so that no file keeps a reader busy without end: an
/// amount for any file, and an amount for each byte of it. Work beyond it is refused, and the reader says so.
///
/// The limits are far beyond what recorders write, and low enough that a file of 1 MB is read within seconds.
package struct ReadingLimits: Hashable, Sendable {
  /// Live blocks beyond this number are left out, whatever a file pays for: the graph has room for so many, and for the
  /// roots.
  package static let blockLimit = 1 << 30

  /// An amount for any file, and another for each byte of it.
  private struct Rate {
    var least: UInt64
    var perByte: UInt64

    func limit(_ fileSize: UInt64) -> UInt64 { least + min(fileSize, 1 << 40) * perByte }
  }

  /// Bytes of definitions and of the frames of heap images, decompressed. Types, paths and times compress some ten to
  /// one.
  private static let definitions = Rate(least: 64 << 20, perByte: 64)
  /// Bytes of events, decompressed; each event has one at least. The most that a recorder writes for a byte of its file
  /// comes of a single thread that allocates and frees one block without end: 308, of a hundred million such pairs.
  /// References to one object that are counted without end: 160, a thousand events between two times, which take five
  /// bytes.
  private static let events = Rate(least: 4 << 20, perByte: 310)
  /// The same for all passes over the events together; the first is always made. Programs write less than 40 bytes of
  /// events for a byte of a trace; references to one object may be read twice.
  private static let replayedEvents = Rate(least: 32 << 20, perByte: 320)
  /// The same for all traces of a comparison together: larger ones are to be digested trace by trace.
  private static let comparedEvents = Rate(least: 96 << 20, perByte: 64)
  /// Times that the merge goes from one thread to another. Each has an event with its time, of which no two bytes are
  /// like those before.
  private static let turns = Rate(least: 4 << 20, perByte: 4)
  /// Bytes of the pages and block lists of heap images, decompressed. A page that is full of one reference has 577: this is half a
  /// terabyte of memory for each gigabyte of file.
  private static let memory = Rate(least: 256 << 20, perByte: 128)
  /// Frames that a recursion pushes by one token. A recorder has to unwind as many.
  private static let copiedFrames = Rate(least: 128 << 20, perByte: 128)
  /// Distinct stacks: one for so many bytes of the file, besides those for any file, in which a recursion of a million
  /// frames may allocate in each. Programs that walk trees have one for some twenty bytes of their traces.
  private static let (leastStacks, bytesForStack) = (5 << 18, 4)
  /// Frames that decoders keep of the stacks they are in, with room to grow.
  private static let decoderFrames = Rate(least: 4 << 20, perByte: 8)
  /// Distinct allocation sites: fewer than stacks, and some hundred bytes each to the reader. One for so many bytes of
  /// the file, besides those for any file: as many as a recursion has that fills a stack of 8 MiB with frames of 48
  /// bytes.
  private static let (leastSites, bytesForSite) = (3 << 16, 8)
  /// Distinct frames that are looked up in the program's files. Each takes as long as some hundred events; a program
  /// has some ten thousand places that call anything.
  private static let (leastFrames, bytesForFrame) = (1 << 16, 16)
  /// Images that were loaded: one for so many bytes of the file, besides those for any file. A plugin that is loaded
  /// again and again takes about as many each time.
  private static let (leastImages, bytesForImage) = (1 << 16, 16)
  /// Marks; each takes some bytes.
  private static let marks = Rate(least: 4 << 20, perByte: 1)
  /// Blocks that are live at once.
  private static let liveBlocks = Rate(least: 6 << 20, perByte: 2)
  /// Allocations while so many blocks are live that each waits for memory. A file says of most of them where they are,
  /// in a byte or more each.
  private static let farAllocations = Rate(least: 16 << 20, perByte: 24)
  /// Steps past threads that wait for another thread's event. Clocks disagree by less than a microsecond, so that
  /// hardly any do.
  private static let waiting = Rate(least: 32 << 20, perByte: 16)
  /// Births and deaths in scopes within scopes, by scope. Most programs have a scope or two around anything.
  private static let scopes = Rate(least: 32 << 20, perByte: 16)
  /// Frames of stacks that are named, whole stacks at a time. A site has some dozens, and takes some bytes.
  private static let namedFrames = Rate(least: 1 << 20, perByte: 8)
  /// Events of blocks whose history is asked for.
  private static let historyEvents = Rate(least: 4 << 20, perByte: 2)
  /// The same, with those of blocks that are counted but not kept.
  private static let collectedEvents = Rate(least: 4 << 20, perByte: 4)
  /// Callers that are looked at to fold the recursions of stacks. Programs' stacks have some dozens each, and some
  /// bytes.
  private static let recursions = Rate(least: 64 << 20, perByte: 64)
  /// Bytes of text for printed records, unless all of it is asked for, and so many for each line: a line takes as long
  /// as so much text. Some four million events are printed of any trace.
  private static let text = Rate(least: 768 << 20, perByte: 256)
  package static let textOfLine: UInt64 = 64
  /// Bytes of chunks that are checksummed in vain since their payload turns out to be damaged: one damaged length may
  /// take in the chunks after it.
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

  /// Bytes of events, decompressed, that traces of so many bytes may have together to be compared at once.
  package static func comparedBytes(fileSize: UInt64) -> UInt64 { comparedEvents.limit(fileSize) }

  /// Returns for how many heap images a graph may be built of so many live blocks, with a pass over so many bytes of
  /// events each: as often as there might be events, but once at least.
  func replays(ofBytes bytes: UInt64, blocks: Int) -> Int {
    Int(clamping: max(1, min(eventBytes / (1 + bytes + UInt64(blocks) * Self.eventsForNode), Self.mostReplays)))
  }

  /// Bytes of the events that are read, decompressed.
  package static func eventBytes(of chunks: [TraceChunk]) -> UInt64 {
    chunks.reduce(0) { $0 + ($1.kind == .events && !$1.isRefused ? $1.plausibleRawSize : 0) }
  }

  /// A node of a graph costs about as much as so many events.
  private static let eventsForNode: UInt64 = 64
  private static let mostReplays: UInt64 = 64

  /// Returns the chunks, by index, that would take more than the file pays for: their payloads are not read. Goes in
  /// the order of the file, so that the beginning is read.
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
