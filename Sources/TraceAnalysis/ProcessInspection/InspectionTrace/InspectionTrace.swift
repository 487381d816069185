// Writes a process that was never recorded as a trace.

import CHeapScan
import CTraceFormat
import Glibc
import TraceReading

/// The results of inspecting a process.
package struct InspectionSummary: Hashable, Sendable {
  package var blocks = 0
  package var objects = 0
  package var types = 0
  package var threads = 0
  /// Nanoseconds that the process was stopped; 0 for a core.
  package var pauseNanoseconds: UInt64 = 0
  /// Whether some of the allocator's blocks were not found.
  package var isIncomplete = false
  /// The size of the trace in bytes.
  package var traceSize: UInt64 = 0
  /// The files of the process; valid as long as the process exists.
  package var files = InspectedFiles()
}

/// Writes the blocks and the heap image of a process as a trace without history. The heap image has the same kinds of
/// words as a recorder's heap image.
package enum InspectionTrace {
  /// - Parameters:
  ///   - memory: Must not change while this function reads it.
  ///   - remarks: Sentences about facts of the process that could not be determined.
  ///   - lacksMemory: Whether some memory that may hold objects is missing.
  ///   - keepsTaskNames: Whether the image has the names of tasks.
  ///   - path: Must not exist yet.
  /// - Complexity: Linear in the process's resident memory, which is read three times.
  package static func write(
    _ memory: any ProcessMemory, threads: [InspectedThread], facts: InspectedFacts, remarks: [String] = [],
    lacksMemory: Bool = false, keepsTaskNames: Bool = false, to path: String
  ) throws -> InspectionSummary {
    var summary = InspectionSummary()
    let scan = ScannedProcess(memory)
    let types = ObjectTypes(scan)
    var remarks = remarks
    let heap = AllocatorHeap(in: memory, threads: threads)
    let blocks: InspectedBlocks
    if let heap {
      summary.isIncomplete = heap.isIncomplete
      remarks += heap.remarks
      blocks = InspectedBlocks(heap.blocks, types, memory)
    } else {
      // Without metadata, freed blocks cannot be distinguished from live ones.
      blocks = InspectedBlocks(PlausibleObjects.blocks(in: memory, threads: threads, types))
      if blocks.count == 0 { throw InspectionError.noAllocator }
      summary.isIncomplete = true
      remarks.append(Self.unreadAllocator(in: memory))
    }
    summary.blocks = blocks.count
    summary.objects = blocks.objectCount
    summary.types = types.types.count
    summary.threads = threads.count
    let images = MappedImages.images(in: memory)
    if summary.types == 0, !images.contains(where: { $0.image.path.contains("libswiftCore") }) {
      throw InspectionError.noSwift
    }

    let writer = try TraceFileWriter(path: path, header: Self.header(facts, memory))
    var process = ProcessRecord()
    process.executable = facts.executable.isEmpty ? images.first?.image.path ?? "" : facts.executable
    process.flags = UInt64(LT_PROCESS_SWIFT_HOOKS) | (summary.isIncomplete ? UInt64(LT_PROCESS_BLOCKS_MISSING) : 0)
    try writer.append([.process(process)])
    if let boot = facts.bootNanoseconds {
      try writer.append([.clock(ClockSample(time: facts.nanoseconds, monotonic: facts.nanoseconds, boot: boot))])
    }
    try writer.append(images.map { .imageLoaded($0.image, time: facts.startNanoseconds) })
    if facts.residentBytes > 0 {
      try writer.append([
        .memory(
          MemorySample(
            time: facts.nanoseconds, resident: facts.residentBytes, peakResident: facts.peakResidentBytes))
      ])
    }
    try writer.append((heap?.records(time: facts.nanoseconds) ?? []).map { .allocator($0) })
    if let residence = facts.residence { try writer.append([.residence(residence)]) }
    try writer.append(
      threads.enumerated().map {
        .thread(
          ThreadRecord(
            thread: UInt32($0.offset + 1), osThread: UInt64(UInt32(bitPattern: $0.element.threadID)),
            time: facts.nanoseconds))
      })
    let unwinder = ThreadUnwinder(memory, images: images)
    for thread in threads { try writer.append([.threadStack(unwinder.stack(of: thread))]) }
    try writer.append(remarks.map { .warning($0) })
    try writer.append(types.types.map { .type($0) })
    try writer.append(blocks, time: facts.nanoseconds & ~7)
    let job = ImageScan(scan, types.scanned, threads, writer, facts)
    let threadLocalBytes = images.reduce(Self.bytesBeforeVariables(memory.processor)) { $0 + $1.threadLocalBytes }
    try job.run(threadLocalBytes: threadLocalBytes, lacksMemory: lacksMemory, keepsTaskNames: keepsTaskNames)
    var closing = TraceClosing(reason: .stopped, time: facts.nanoseconds, eventCount: writer.eventCount)
    closing.monotonic = facts.nanoseconds
    closing.residentBytes = facts.residentBytes
    closing.peakResidentBytes = facts.peakResidentBytes
    closing.threadCount = UInt32(truncatingIfNeeded: threads.count)
    try writer.append(closing)
    summary.traceSize = writer.size
    return summary
  }

  /// Returns a sentence that names the allocator whose metadata was not read, with the reason.
  private static func unreadAllocator(in memory: any ProcessMemory) -> String {
    let name = OtherAllocators.name(in: memory).map { "the allocator is \($0), whose metadata leaktrace does not read" }
    let reason =
      name
      ?? GlibcHeap.failure(in: memory).map { "the allocator's metadata was not read: \($0)" }
      ?? "the C library's allocator has no block, and no other that leaktrace reads was found"
    return reason
      + ". The blocks are Swift objects that were found by their first words: other memory is not seen, and a freed object may be among them"
  }

  /// Bytes between the thread pointer and the first thread-local variable. On arm64, the control block has two words
  /// there (ELF for the Arm 64-bit Architecture).
  private static func bytesBeforeVariables(_ processor: Processor) -> UInt64 { processor == .arm64 ? 16 : 0 }

  private static func header(_ facts: InspectedFacts, _ memory: any ProcessMemory) -> TraceHeader {
    var header = TraceHeader()
    header.machine = memory.processor.rawValue
    header.pageSize = UInt32(memory.pageSize)
    header.clock = .monotonic
    header.ticksPerSecond = 1_000_000_000
    header.processID = facts.processID
    header.parentProcessID = facts.parentProcessID
    header.traceID = UInt64.random(in: 1...UInt64.max)
    header.startMonotonic = facts.startNanoseconds
    header.startTime = facts.startNanoseconds
    header.startRealtime = facts.startRealtime
    header.referenceCounting = .off
    header.options = UInt32(LT_OPTION_INSPECTED)
    return header
  }
}
