// The raw records of a trace as text, one record per line.

import HeapAnalysis
import TextWriting
import TraceReading
import Wording

/// Formats records as lines of named fields, so that they can be searched. One space separates fields. Strings come
/// last, with escaped control characters.
package struct RecordDump {
  package enum Part: Hashable, Sendable {
    case events, definitions, chunks
    /// Heap images, one line each.
    case snapshots
    /// The threads, regions and words of heap images.
    case memory
  }

  /// The records need more text than the size of the file justifies. The lines written before this error are the
  /// beginning of the text.
  package struct BeyondFileSize: Error {}
  /// The amount of text to write.
  package enum Extent: Hashable, Sendable {
    /// At most as much text as the size of the file justifies, because a few bytes may encode millions of records.
    case asFileJustifies
    case everything
  }

  private let reader: TraceReader
  private let extent: Extent
  private let clock: TraceClock
  private let parts: Set<Part>

  package init(_ reader: TraceReader, parts: Set<Part>, extent: Extent = .asFileJustifies) {
    self.reader = reader
    self.extent = extent
    clock = reader.clock
    self.parts = parts
  }

  /// Passes all lines, each with its newline, to `write`, in the order of the file. Keeps one chunk in memory, or one
  /// heap image while its words are written. Throws the errors of `write`, and `BeyondFileSize`.
  package func write(_ write: (String) throws -> Void) throws {
    var spare = spareText
    try writeAll { line in
      try spare.take(line)
      try write(line)
    }
  }

  /// Counts the bytes that may still be written.
  private struct SpareText {
    var bytes: UInt64

    mutating func take(_ line: String) throws {
      let cost = UInt64(line.utf8.count) + ReadingLimits.textOfLine
      guard cost <= bytes else { throw BeyondFileSize() }
      bytes -= cost
    }
  }

  private var spareText: SpareText { SpareText(bytes: extent == .everything ? .max : reader.limits.textBytes) }

  private func writeAll(_ write: (String) throws -> Void) throws {
    if parts.contains(.chunks) { try write(header) }
    let walker = ChunkWalker(reader)
    var knownStacks = 2
    var snapshots = Dictionary(reader.snapshots.map { ($0.number, $0) }) { first, _ in first }
    for (index, chunk) in reader.chunks.enumerated() {
      if parts.contains(.chunks) { try write(line(of: chunk, index)) }
      switch chunk.kind {
      case .definitions where parts.contains(.definitions):
        try walker.definitions(inChunk: index) { definition, offset in
          try write("\(place(chunk))+\(offset) \(line(of: definition))\n")
        }
      case .events where parts.contains(.events):
        let place = place(chunk)
        let failure = try walker.events(inChunk: index) { event in
          try writeNewStacks(upTo: &knownStacks, write)
          try write("\(place)+\(event.payloadOffset) \(line(of: event))\n")
        }
        if let failure { try write("\(place) damaged \(failure.kind)\n") }
      case .closing where parts.contains(.chunks):
        if let closing = walker.closing(inChunk: index) { try write("\(place(chunk)) \(line(of: closing))\n") }
      case .names where parts.contains(.chunks):
        for line in storedFileLines { try write("\(place(chunk)) \(line)\n") }
      case .snapshot where parts.contains(.snapshots) || parts.contains(.memory):
        // If several heap images have the same number, write only the first.
        guard let number = walker.snapshotNumber(inChunk: index), let snapshot = snapshots.removeValue(forKey: number)
        else { continue }
        try write("\(place(chunk)) \(line(of: snapshot))\n")
        if parts.contains(.memory) { try writeMemory(of: snapshot, write) }
      default: break
      }
    }
  }

  private var storedFileLines: [String] {
    guard let stored = reader.storedFiles else { return [] }
    let state = "names \(stored.isComplete ? "complete" : "incomplete") tool=\(PlainText.escaped(stored.toolVersion))"
    return [state]
      + stored.files.map {
        "file chunks=\($0.chunks.lowerBound)..<\($0.chunks.upperBound) size=\($0.size)"
          + " buildID=\(Hexadecimal.digits($0.buildID)) path=\(PlainText.escaped($0.path))"
      }
  }

  /// Writes only events, with the events of all threads merged in order of time.
  package func writeEventsByTime(_ write: @escaping (String) throws -> Void) throws {
    var spare = spareText
    var knownStacks = 2
    func writeWithinLimit(_ line: String) throws {
      try spare.take(line)
      try write(line)
    }
    try reader.forEachEvent { event in
      try writeNewStacks(upTo: &knownStacks, writeWithinLimit)
      try writeWithinLimit("\(place(reader.chunks[Int(event.chunk)]))+\(event.payloadOffset) \(line(of: event))\n")
    }
  }

  /// Writes a line for each stack that was added since the previous call. The caller calls this before it writes an
  /// event, so that the event's stack is already defined. A caller's line precedes its callees' lines.
  private func writeNewStacks(upTo known: inout Int, _ write: (String) throws -> Void) rethrows {
    let stacks = reader.definitions.stacks
    while known < stacks.nodeCount {
      let stack = StackID(UInt32(known))
      let frame = stacks.frame(of: stack).map { self.frame($0.key.encoded) } ?? "cut"
      try write("stack id=\(known) caller=\(stacks.parent(of: stack).rawValue) frame=\(frame)\n")
      known += 1
    }
  }

  private func place(_ chunk: TraceChunk) -> String {
    switch chunk.place {
    case .trace(let offset): "\(offset.rawValue)"
    case .live(let offset): "live:\(offset.rawValue)"
    }
  }

  private func time(_ ticks: UInt64) -> String {
    guard let seconds = clock.seconds(at: ticks) else { return "time=\(ticks)t" }
    return "time=\(Decimal.fixed(seconds, places: 9))"
  }

  private var header: String {
    let h = reader.header
    return "header version=\(h.version) machine=\(h.machine) pid=\(h.processID) ppid=\(h.parentProcessID)"
      + " trace=\(Hexadecimal.text(h.traceID)) session=\(Hexadecimal.text(h.sessionID)) start=\(h.startRealtime) ticks=\(h.startTime)"
      + " rate=\(h.ticksPerSecond) options=\(Hexadecimal.text(UInt64(h.options))) depth=\(h.stackDepthLimit)"
      + " state=\(reader.status.state) errno=\(reader.status.stopErrno)\n"
  }

  private func line(of chunk: TraceChunk, _ index: Int) -> String {
    "\(place(chunk)) chunk index=\(index) kind=\(chunk.kind.name.replacing(" ", with: "_")) thread=\(chunk.thread) sequence=\(chunk.sequence)"
      + " stored=\(chunk.storedSize) raw=\(chunk.rawSize) events=\(chunk.eventCount)"
      + (chunk.kind == .events ? " \(time(chunk.firstTime)) last\(time(chunk.lastTime))" : "") + "\n"
  }

  private func line(of event: TraceEvent) -> String {
    if event.operation == .mark {
      return "thread=\(event.thread) \(time(event.time)) \(line(of: reader.marks.marks[Int(event.size)]))"
    }
    var line =
      "thread=\(event.thread) \(time(event.time)) \(event.operation.name) address=\(Hexadecimal.text(event.address))"
    if event.operation.hasOperands { line += event.operation.hasCount ? " count=\(event.size)" : " size=\(event.size)" }
    if event.operation == .object { line += " type=\(event.type)" }
    if event.task != 0 { line += " task=\(Hexadecimal.text(event.task))" }
    return line + " stack=\(event.stack.rawValue)"
  }

  private func line(of mark: TraceMark) -> String {
    let name = PlainText.escaped(reader.marks.text(mark.name))
    let place = "line=\(mark.line) file=\(PlainText.escaped(reader.marks.text(mark.file))) name=\(name)"
    switch mark.kind {
    case .scopeBegin: return "scope_begin number=\(mark.number) \(place)"
    case .scopeEnd: return "scope_end number=\(mark.number) grace=\(mark.grace)"
    case .generation: return "generation \(place)"
    case .expectation:
      return
        "expectation number=\(mark.number) address=\(Hexadecimal.text(mark.address)) due_\(time(mark.deadline)) \(place)"
    case .round:
      return
        "round repetition=\(mark.number) round=\(mark.round) snapshot=\(mark.snapshot) scope=\(mark.scope) \(place)"
    case .end: return "end"
    }
  }

  private func line(of closing: TraceClosing) -> String {
    "closing reason=\(closing.reason) wait=\(closing.waitStatus) \(time(closing.time)) events=\(closing.eventCount)"
      + " resident=\(closing.residentBytes) peakResident=\(closing.peakResidentBytes) recorder=\(closing.recorderBytes)"
      + " threads=\(closing.threadCount) untracedChildren=\(closing.untracedChildren)"
      + " drops=\(closing.drops.counts.map { String($0) }.joined(separator: ","))"
  }

  private func line(of snapshot: TraceSnapshot) -> String {
    var line =
      "snapshot number=\(snapshot.number) reason=\(name(snapshot.reason)) \(time(snapshot.time)) threads=\(snapshot.threads.count)"
    line +=
      " regions=\(snapshot.regions.count) frozen=\(snapshot.isFrozen) tls=\(snapshot.staticTLSSize) parts=\(snapshot.memoryChunks.count)"
    if let end = snapshot.end {
      line +=
        " pages=\(end.pageCount) words=\(end.wordCount) captured=\(end.capturedBytes) pause=\(end.pauseNanoseconds)ns"
      line += " total=\(end.totalNanoseconds)ns unreadable=\(end.unreadablePages) errno=\(end.error)"
    }
    let state = snapshot.isWhole ? "yes" : snapshot.end == nil ? "no_end" : "no"
    return line + " whole=\(state) label=\(PlainText.escaped(snapshot.label))"
  }

  private func name(_ reason: SnapshotReason) -> String {
    if case .other(let number) = reason { "\(number)" } else { reason.key }
  }

  /// Writes the threads, regions and words of a heap image. Linear in the words.
  private func writeMemory(of snapshot: TraceSnapshot, _ write: (String) throws -> Void) throws {
    let number = snapshot.number
    for thread in snapshot.threads {
      let registers = thread.registers.map { Hexadecimal.text($0) }.joined(separator: ",")
      try write(
        "snapshot_thread snapshot=\(number) os=\(thread.osThread) sp=\(thread.stackPointer.map { Hexadecimal.text($0) } ?? "unknown")"
          + " tp=\(Hexadecimal.text(thread.threadPointer)) ip=\(Hexadecimal.text(thread.instructionPointer)) self=\(thread.isSelf) waiting=\(thread.isWaiting) registers=\(registers)\n"
      )
    }
    for region in snapshot.regions {
      let access = "\(region.isWritable ? "w" : "-")\(region.isExecutable ? "x" : "-")"
      try write(
        "snapshot_region snapshot=\(number) first=\(Hexadecimal.text(region.range.lowerBound)) end=\(Hexadecimal.text(region.range.upperBound))"
          + " kind=\(name(region.kind)) access=\(access) captured=\(region.isCaptured)\n")
    }
    var diagnostics = TraceDiagnostics()
    let image = HeapImage(snapshot, in: reader, diagnostics: &diagnostics)
    var next: UInt64 = 0
    while let address = image.firstWord(in: next..<UInt64.max), let word = image.word(at: address) {
      try write("word snapshot=\(number) address=\(Hexadecimal.text(address)) value=\(Hexadecimal.text(word))\n")
      guard address <= UInt64.max - 16 else { break }
      next = address + 8
    }
    for diagnostic in diagnostics.first { try write("snapshot_damaged snapshot=\(number) \(diagnostic.explanation)\n") }
  }

  private func name(_ kind: MemoryRegion.Kind) -> String {
    switch kind {
    case .anonymous: "anonymous"
    case .programBreak: "break"
    case .mainStack: "main_stack"
    case .file: "file"
    case .shared: "shared"
    case .recorder: "recorder"
    case .other(let number): "\(number)"
    }
  }

  private func line(of definition: Definition) -> String {
    switch definition {
    case .type(let type):
      return "type id=\(type.id) metadata=\(Hexadecimal.text(type.metadata.rawValue)) kind=\(type.kind.rawValue)"
        + " descriptor=\(Hexadecimal.text(type.descriptor.rawValue)) superclass=\(type.superclass) name=\(PlainText.escaped(type.name))"
    case .imageLoaded(let image, let ticks):
      let buildID = image.buildID.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      return
        "image_loaded first=\(Hexadecimal.text(image.range.lowerBound.rawValue)) end=\(Hexadecimal.text(image.range.upperBound.rawValue))"
        + " bias=\(Hexadecimal.text(image.loadBias)) \(time(ticks)) buildID=\(buildID) path=\(PlainText.escaped(image.path))"
    case .imageUnloaded(let first, let end, let ticks):
      return
        "image_unloaded first=\(Hexadecimal.text(first.rawValue)) end=\(Hexadecimal.text(end.rawValue)) \(time(ticks))"
    case .clock(let sample):
      return "clock ticks=\(sample.time) monotonic=\(sample.monotonic)\(sample.boot.map { " boot=\($0)" } ?? "")"
    case .memory(let sample):
      return
        "memory \(time(sample.time)) resident=\(sample.resident) recorder=\(sample.recorder) peakResident=\(sample.peakResident)"
    case .allocator(let record):
      let limit = record.arenaLimit.map { "\($0)" } ?? "unknown"
      return
        "allocator \(time(record.time)) kind=\(record.kind.name) inUse=\(record.inUse) free=\(record.free) cached=\(record.cached) top=\(record.top) mapped=\(record.mapped) freePages=\(record.freePages) system=\(record.system) arenas=\(record.arenas) arenaLimit=\(limit) freeInOtherArenas=\(record.freeInOtherArenas) pins=\(record.pins.map { "\(Hexadecimal.text($0.address)):\($0.bytes):\($0.freeBelow):\($0.freeAbove)" }.joined(separator: ","))"
    case .residence(let record):
      return
        "residence \(time(record.time)) anonymous=\(record.anonymous) other=\(record.other) hugePages=\(record.hugePages) swapped=\(record.swapped)"
    case .process(let process):
      return "process flags=\(Hexadecimal.text(process.flags)) executable=\(PlainText.escaped(process.executable))"
    case .pause(let pause): return "\(pause.begins ? "pause" : "resume") \(time(pause.time))"
    case .thread(let thread): return "thread number=\(thread.thread) os=\(thread.osThread) \(time(thread.time))"
    case .warning(let text): return "warning text=\(PlainText.escaped(text))"
    case .threadStack(let stack):
      let frames = stack.frames.map { "\(frame($0.key.encoded))/\(Hexadecimal.text($0.stackPointer))" }
      return
        "thread_stack os=\(stack.osThread) own=\(stack.ownNumber) activity=\(name(stack.activity)) end=\(stack.end) frames=\(frames.joined(separator: ",")) name=\(PlainText.escaped(stack.name))"
    case .sampleTotals(let totals):
      return
        "sample_totals \(time(totals.time)) allocatedObjects=\(totals.allocatedObjects) allocatedBytes=\(totals.allocatedBytes) freedObjects=\(totals.freedObjects) freedBytes=\(totals.freedBytes) samples=\(totals.samples) withoutStack=\(totals.withoutStack) leftOut=\(totals.leftOut)"
    case .sampledSite(let site):
      return
        "sampled_site \(time(site.time)) number=\(site.number) allocated=\(text(site.allocated)) freed=\(text(site.freed)) frames=\(site.frames.map { frame($0.encoded) }.joined(separator: ","))"
    case .limit(let limit):
      return "limit \(time(limit.time)) bytes=\(limit.bytes) samplePeriod=\(limit.samplePeriod)"
    case .unknown(let kind, let size): return "unknown kind=\(kind) size=\(size)"
    }
  }

  private func text(_ sums: SampledSite.Sums) -> String {
    "\(sums.samples):\(sums.objects):\(sums.bytes):\(sums.variance)"
  }

  private func name(_ activity: ThreadStack.Activity) -> String {
    switch activity {
    case .computing: "computing"
    case .inCall(let number): "call_\(number)"
    case .unknown: "unknown"
    }
  }

  private func frame(_ key: UInt64) -> String {
    let frame = FrameKey(encoded: key)
    return Hexadecimal.text(frame.address.rawValue) + (frame.isAsync ? "@async" : frame.isExact ? "@exact" : "")
  }
}
