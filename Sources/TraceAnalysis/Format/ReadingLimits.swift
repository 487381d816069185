// How much a file of some size may have a reader do.

/// What a trace pays for with its bytes. A few bytes can stand for very much: zstd makes 64 MiB of 2 KiB, five bytes push a million frames. So that no file keeps
/// a reader busy without end, each kind of work has a limit: so much for any file, and so much for each byte of it. What goes beyond is refused, and the reader says so.
///
/// The limits are far beyond what recorders write, and low enough that a file of 1 MB is read within seconds.
struct ReadingLimits: Hashable, Sendable {
  /// So much in any case, and so much more for each byte of the file.
  private struct Rate {
    var least: UInt64
    var perByte: UInt64

    func limit(_ fileSize: UInt64) -> UInt64 { least + min(fileSize, 1 << 40) * perByte }
  }

  /// Bytes of definitions and of the frames of heap images, decompressed. Types, paths and times compress some ten to one.
  private static let definitions = Rate(least: 64 << 20, perByte: 64)
  /// Bytes of events, decompressed; each event has one at least. The most that a recorder writes for a byte of its file comes of a single thread that allocates and frees one block
  /// without end: 308, of a hundred million such pairs. References to one object that are counted without end: 160, a thousand events between two times, which take five bytes.
  private static let events = Rate(least: 32 << 20, perByte: 336)
  /// Bytes of the pages of heap images, decompressed. A page that is full of one reference has 577: this is half a terabyte of memory for each gigabyte of file.
  private static let memory = Rate(least: 256 << 20, perByte: 128)
  /// Frames that a recursion pushes by one token. A recorder has to unwind as many.
  private static let copiedFrames = Rate(least: 128 << 20, perByte: 128)
  /// Distinct stacks. Programs that walk trees have one for some twenty bytes of their traces.
  private static let stacks = Rate(least: 2 << 20, perByte: 4)
  /// Frames that decoders keep of the stacks they are in, with room to grow.
  private static let decoderFrames = Rate(least: 4 << 20, perByte: 8)
  /// Distinct allocation sites: fewer than stacks, and some hundred bytes each to the reader.
  private static let sites = Rate(least: 1 << 18, perByte: 1)
  /// Images that were loaded: one for so many bytes of the file, besides those for any file. A plugin that is loaded again and again takes about as many each time.
  private static let (leastImages, bytesForImage) = (1 << 16, 16)
  /// What the program says of itself; each is some bytes.
  private static let marks = Rate(least: 4 << 20, perByte: 1)
  /// Blocks that are live at once.
  private static let liveBlocks = Rate(least: 6 << 20, perByte: 2)
  /// Allocations while so many blocks are live that each waits for memory. A file says of most of them where they are, in a byte or more each.
  private static let farAllocations = Rate(least: 16 << 20, perByte: 24)
  /// Steps past threads that wait for another thread's event. Clocks disagree by less than a microsecond, so that hardly any do.
  private static let waiting = Rate(least: 32 << 20, perByte: 16)
  /// Births and deaths in scopes within scopes, by scope. Most programs have a scope or two around anything.
  private static let scopes = Rate(least: 32 << 20, perByte: 16)
  /// Frames of stacks that are named, whole stacks at a time. A site has some dozens, and takes some bytes.
  private static let namedFrames = Rate(least: 1 << 20, perByte: 8)
  /// Events of blocks whose history is asked for.
  private static let historyEvents = Rate(least: 4 << 20, perByte: 2)
  /// Callers that are looked at to fold the recursions of stacks. Programs' stacks have some dozens each, and some bytes.
  private static let recursions = Rate(least: 64 << 20, perByte: 64)
  /// Bytes of text that records are put into, unless all of it is asked for, and so many for each line: a line takes as long as so much text.
  /// Some four million events are printed of any trace.
  private static let text = Rate(least: 768 << 20, perByte: 256)
  static let textOfLine: UInt64 = 64
  /// Bytes that are summed up for nothing, of chunks whose payload turns out to be damaged: one damaged length may take in the chunks after it.
  private static let damage = Rate(least: 64 << 20, perByte: 8)

  /// Bytes, decompressed.
  var definitionBytes: UInt64
  var eventBytes: UInt64
  var memoryBytes: UInt64
  var copiedFrames: UInt64
  var stackCount: Int
  var decoderFrames: Int
  var siteCount: Int
  var imageCount: Int
  var markCount: Int
  var liveBlocks: Int
  var farAllocations: UInt64
  var waitingSteps: UInt64
  var scopeSteps: UInt64
  var damagedBytes: UInt64
  var recursionSteps: UInt64
  var namedFrames: Int
  var historyEvents: Int
  var textBytes: UInt64

  /// `fileSize`: bytes of the trace and of what is read of its live file.
  init(fileSize: UInt64) {
    func count(_ rate: Rate, atMost limit: Int) -> Int { Int(min(UInt64(limit), rate.limit(fileSize))) }
    definitionBytes = Self.definitions.limit(fileSize)
    eventBytes = Self.events.limit(fileSize)
    memoryBytes = Self.memory.limit(fileSize)
    copiedFrames = Self.copiedFrames.limit(fileSize)
    stackCount = count(Self.stacks, atMost: Int(Int32.max))
    decoderFrames = count(Self.decoderFrames, atMost: Int(Int32.max))
    siteCount = count(Self.sites, atMost: Int(Int32.max))
    imageCount = Self.leastImages + Int(min(fileSize, 1 << 32)) / Self.bytesForImage
    markCount = count(Self.marks, atMost: Int(Int32.max))
    liveBlocks = count(Self.liveBlocks, atMost: LiveHeap.blockLimit)
    farAllocations = Self.farAllocations.limit(fileSize)
    waitingSteps = Self.waiting.limit(fileSize)
    scopeSteps = Self.scopes.limit(fileSize)
    damagedBytes = Self.damage.limit(fileSize)
    textBytes = Self.text.limit(fileSize)
    historyEvents = count(Self.historyEvents, atMost: .max)
    namedFrames = count(Self.namedFrames, atMost: .max)
    recursionSteps = Self.recursions.limit(fileSize)
  }

  /// For how many heap images the events may be replayed once more and a graph be built of so many live blocks: as often as there might be events, but once at least.
  func replays(of chunks: [TraceChunk], blocks: Int) -> Int {
    let bytes = chunks.reduce(UInt64(1)) { $0 + ($1.kind == .events && !$1.isRefused ? $1.plausibleRawSize : 0) }
    return Int(clamping: max(1, min(eventBytes / (bytes + UInt64(blocks) * Self.eventsForNode), Self.mostReplays)))
  }

  /// A node of a graph costs about as much as so many events.
  private static let eventsForNode: UInt64 = 64
  private static let mostReplays: UInt64 = 64

  /// Those chunks, by index, that would take more than the file pays for: their payloads are not read. In order of the file, so that the beginning is.
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
      case .memory: spend(index, &memory)
      case .definitions, .closing, .snapshot, .snapshotEnd: spend(index, &definitions)
      case .unknown: break
      }
    }
    return refused
  }
}
