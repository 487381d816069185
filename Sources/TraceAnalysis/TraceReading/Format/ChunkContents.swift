// The chunks of a trace, from its file and from its live file.

import CTraceFormat

/// The chunks of a trace. A number of a thread and kind appears only once.
struct ChunkContents {
  private struct Identity: Hashable {
    var thread: UInt32
    var kind: ChunkKind
    var sequence: UInt32
  }

  private(set) var chunks: [TraceChunk] = []
  private var known: Set<Identity> = []

  /// Scans a trace, and adds the payloads of its live file if given. Reports damaged and missing chunks.
  init(source: ByteSource, liveFile: LiveFile?, limits: ReadingLimits, diagnostics: inout TraceDiagnostics) {
    var scanner = ChunkScanner(source: source, damageLimit: limits.damagedBytes)
    scanner.scan()
    take(scanner.chunks, diagnostics: &diagnostics)
    if let liveFile {
      for diagnostic in liveFile.diagnostics { diagnostics.append(diagnostic) }
      add(liveFile.payloads)
    }
    for (index, diagnostic) in scanner.diagnostics.enumerated() {
      // The process may have died while it wrote this chunk. Nothing is lost if the live file has all of it, or if the
      // tool that finished the trace wrote it again.
      if let torn = scanner.torn[index], holds(torn) { continue }
      diagnostics.append(diagnostic)
    }
    if scanner.voidCount > 0 { chunks = Self.inOrderOfImages(chunks) }
    reportMissing(diagnostics: &diagnostics, hasVoids: scanner.voidCount > 0)
    for index in limits.refusedChunks(chunks) { chunks[index].isRefused = true }
  }

  private mutating func take(_ scanned: [TraceChunk], diagnostics: inout TraceDiagnostics) {
    for chunk in scanned {
      switch chunk.kind {
      case .definitions, .events:
        guard known.insert(Identity(thread: chunk.thread, kind: chunk.kind, sequence: chunk.sequence)).inserted else {
          diagnostics.append(.init(.duplicateChunk(thread: chunk.thread, sequence: chunk.sequence), at: chunk.place))
          continue
        }
      case .closing, .snapshot, .memory, .snapshotEnd, .blocks, .void, .fileParts, .names, .unknown: break
      }
      chunks.append(chunk)
    }
  }

  private mutating func add(_ payloads: [LivePayload]) {
    for (index, payload) in payloads.enumerated() {
      guard known.insert(Identity(thread: payload.thread, kind: payload.kind, sequence: payload.sequence)).inserted
      else { continue }
      chunks.append(TraceChunk(payload, at: index))
    }
  }

  /// Returns whether there is a sound chunk of the same thread, kind and number.
  private func holds(_ chunk: TraceChunk) -> Bool {
    known.contains(Identity(thread: chunk.thread, kind: chunk.kind, sequence: chunk.sequence))
  }

  /// Sorts the chunks of heap images in the order of their writing. Later images may have been written over older ones
  /// in the file.
  private static func inOrderOfImages(_ chunks: [TraceChunk]) -> [TraceChunk] {
    let images = chunks.filter(\.isOfImage).sorted {
      ($0.imageTime, $0.imageRank, $0.sequence) < ($1.imageTime, $1.imageRank, $1.sequence)
    }
    var next = 0
    return chunks.map { chunk in
      guard chunk.isOfImage else { return chunk }
      next += 1
      return images[next - 1]
    }
  }

  /// `hasVoids`: the recorder may have deleted lists of blocks together with their images, so these are not missing.
  private func reportMissing(diagnostics: inout TraceDiagnostics, hasVoids: Bool) {
    struct Row: Hashable {
      var thread: UInt32
      var kind: ChunkKind
    }
    var numbers: [Row: [UInt32]] = [:]
    for chunk in chunks where chunk.kind == .definitions || chunk.kind == .events {
      if hasVoids, chunk.thread == TraceChunk.threadOfLists { continue }
      numbers[Row(thread: chunk.thread, kind: chunk.kind), default: []].append(chunk.sequence)
    }
    for (row, sequences) in numbers.sorted(by: {
      ($0.key.thread, $0.key.kind.rawValue) < ($1.key.thread, $1.key.kind.rawValue)
    }) {
      var expected: UInt64 = 0
      for sequence in sequences.sorted() {
        if UInt64(sequence) > expected {
          diagnostics.append(
            .init(.missingChunks(thread: row.thread, kind: row.kind, sequences: UInt32(expected)...(sequence - 1))))
        }
        expected = UInt64(sequence) + 1
      }
    }
  }
}

extension TraceChunk {
  /// Makes a chunk from a payload of a live file. `index`: the payload's index in the loader.
  init(_ payload: LivePayload, at index: Int) {
    self.init(
      kind: payload.kind, thread: payload.thread, sequence: payload.sequence, firstTime: payload.firstTime,
      lastTime: payload.lastTime, eventCount: payload.eventCount, compression: 0,
      storedSize: UInt32(payload.bytes.count), rawSize: UInt32(payload.bytes.count),
      place: .live(FileOffset(payload.offset)), livePayload: index)
  }

  fileprivate var isOfImage: Bool {
    switch kind {
    case .snapshot, .memory, .snapshotEnd, .blocks: true
    case .definitions, .events: thread == Self.threadOfLists
    case .closing, .void, .fileParts, .names, .unknown: false
    }
  }

  /// The image's time, in the coarser unit of its list of blocks.
  fileprivate var imageTime: UInt64 { firstTime >> UInt64(LT_TIME_SHIFT) }

  /// The recorder writes an image's chunks in the order of their ranks.
  fileprivate var imageRank: Int {
    switch kind {
    case .definitions: 0
    case .events: 1
    case .blocks: 2
    case .snapshot: 3
    case .memory: 4
    case .snapshotEnd: 5
    case .closing, .void, .fileParts, .names, .unknown: 6
    }
  }
}
