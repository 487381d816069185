// The properties of a heap image: its time and reason, the threads, and the memory mappings.

import CTraceFormat
import Glibc
import TextWriting

/// The event that caused a heap image.
package enum SnapshotReason: Hashable, Sendable {
  case exit, signal, request, call
  /// An object was still live at the deadline of the program's expectation. The label is `expectation NUMBER: NAME`.
  case expectation
  /// A round of repeated work had ended. The label is the repetition's name; empty if the round was declared from
  /// outside the program.
  case round
  /// Another process read the memory of the process, which was not recorded.
  case inspection
  /// The interval since the previous image had passed.
  case interval
  /// The process had more resident memory than the limit that triggers an image.
  case size
  /// The trace had reached its limit.
  case limit
  case other(UInt32)

  init(rawValue: UInt32) {
    switch Int(rawValue) {
    case Int(LT_SNAPSHOT_EXIT): self = .exit
    case Int(LT_SNAPSHOT_SIGNAL): self = .signal
    case Int(LT_SNAPSHOT_REQUEST): self = .request
    case Int(LT_SNAPSHOT_CALL): self = .call
    case Int(LT_SNAPSHOT_EXPECTATION): self = .expectation
    case Int(LT_SNAPSHOT_ROUND): self = .round
    case Int(LT_SNAPSHOT_INSPECTION): self = .inspection
    case Int(LT_SNAPSHOT_INTERVAL): self = .interval
    case Int(LT_SNAPSHOT_SIZE): self = .size
    case Int(LT_SNAPSHOT_LIMIT): self = .limit
    default: self = .other(rawValue)
    }
  }

  var rawValue: UInt32 {
    switch self {
    case .exit: UInt32(LT_SNAPSHOT_EXIT)
    case .signal: UInt32(LT_SNAPSHOT_SIGNAL)
    case .request: UInt32(LT_SNAPSHOT_REQUEST)
    case .call: UInt32(LT_SNAPSHOT_CALL)
    case .expectation: UInt32(LT_SNAPSHOT_EXPECTATION)
    case .round: UInt32(LT_SNAPSHOT_ROUND)
    case .inspection: UInt32(LT_SNAPSHOT_INSPECTION)
    case .interval: UInt32(LT_SNAPSHOT_INTERVAL)
    case .size: UInt32(LT_SNAPSHOT_SIZE)
    case .limit: UInt32(LT_SNAPSHOT_LIMIT)
    case .other(let n): n
    }
  }
}

/// A thread's state when an image was taken.
package struct SnapshotThread: Hashable, Sendable {
  package var osThread: UInt32
  /// The lowest address of the stack that is in use; nil if the thread could not be stopped.
  package var stackPointer: UInt64?
  /// The address of the thread's control block; 0 if unknown.
  package var threadPointer: UInt64
  package var instructionPointer: UInt64
  /// The registers in the recorder's order. Registers that did not look like pointers are 0; at the end, they are left
  /// out.
  package var registers: [UInt64]
  /// True if this thread took the image.
  package var isSelf: Bool
  /// True if the thread slept in a system call when it was stopped. Older recorders did not write this, so in their
  /// traces it is always false.
  package var isWaiting: Bool

  package init(
    osThread: UInt32, stackPointer: UInt64?, threadPointer: UInt64, instructionPointer: UInt64 = 0,
    registers: [UInt64] = [], isSelf: Bool = false,
    isWaiting: Bool = false
  ) {
    self.osThread = osThread
    self.stackPointer = stackPointer
    self.threadPointer = threadPointer
    self.instructionPointer = instructionPointer
    self.registers = registers
    self.isSelf = isSelf
    self.isWaiting = isWaiting
  }
}

/// A memory mapping of the traced process.
package struct MemoryRegion: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case anonymous, programBreak, mainStack, file, shared, recorder
    case other(UInt32)
  }

  package var range: Range<UInt64>
  package var kind: Kind
  package var isWritable: Bool
  package var isExecutable: Bool
  /// True if the words of the mapping are in the image.
  package var isCaptured: Bool

  package init(
    range: Range<UInt64>, kind: Kind, isWritable: Bool = true, isExecutable: Bool = false, isCaptured: Bool = true
  ) {
    self.range = range
    self.kind = kind
    self.isWritable = isWritable
    self.isExecutable = isExecutable
    self.isCaptured = isCaptured
  }
}

/// A heap image in a trace, without its words; see `HeapImage`.
package struct TraceSnapshot: Hashable, Sendable {
  /// The number of the image in its process, from 1.
  package var number: UInt32
  package var reason: SnapshotReason
  /// Ticks. Events up to and including this time come before the image.
  package var time: UInt64
  /// Nanoseconds of CLOCK_MONOTONIC.
  package var monotonic: UInt64
  /// True if all other threads were stopped.
  package var isFrozen: Bool
  /// True if the image's words have all bits of a reference, including the top byte, where an enumeration may store its
  /// case.
  package var hasReferenceTags: Bool
  /// True if the image also has words that consist only of an enumeration's case byte, in instances of classes and in
  /// elements of arrays. So if the image lacks a word there, the word's lowest byte is 0.
  package var hasCaseBytes: Bool
  /// True if `hasCaseBytes` also holds for the values of dictionaries.
  package var hasValueCaseBytes = false
  /// True if the image's list of blocks is incomplete, because some of the allocator's memory was not found.
  var lacksBlocks = false
  /// True if the recorder sampled. The image's blocks then come from a list, not from events.
  package var isListed = false
  /// True if the process ran on arm64.
  package var isArm64 = false
  /// The number of bytes next to a thread pointer that hold thread-local variables. They lie below it, on arm64 above
  /// it.
  package var staticTLSSize: UInt64
  package var threads: [SnapshotThread]
  /// In order of address, without overlaps.
  package var regions: [MemoryRegion]
  package var label: String

  /// True if the image shows the state before the program handled SIGTERM or SIGINT. The label of such an image is the
  /// signal's name.
  package var isOfEndingSignal: Bool { reason == .request && ["SIGTERM", "SIGINT"].contains(label) }
  /// The image's end record; nil if the image was not written to its end.
  package var end: End?
  /// The indices of the image's memory chunks in the reader's chunks.
  package var memoryChunks: [Int] = []
  /// The indices of the chunks that list the image's blocks, in the reader's chunks.
  var blockChunks: [Int] = []

  package struct End: Hashable, Sendable {
    /// The errno that ended the image early; 0 if the image is whole.
    package var error: Int32
    package var partCount: UInt32
    /// The number of unreadable pages in readable mappings, such as guard pages.
    package var unreadablePages: UInt32
    package var pageCount: UInt64
    package var wordCount: UInt64
    /// The bytes of resident memory that were read.
    package var capturedBytes: UInt64
    /// The length of time that other threads were stopped.
    package var pauseNanoseconds: UInt64
    package var totalNanoseconds: UInt64

    package init(
      error: Int32 = 0, partCount: UInt32 = 0, unreadablePages: UInt32 = 0, pageCount: UInt64 = 0,
      wordCount: UInt64 = 0, capturedBytes: UInt64 = 0, pauseNanoseconds: UInt64 = 0, totalNanoseconds: UInt64 = 0
    ) {
      self.error = error
      self.partCount = partCount
      self.unreadablePages = unreadablePages
      self.pageCount = pageCount
      self.wordCount = wordCount
      self.capturedBytes = capturedBytes
      self.pauseNanoseconds = pauseNanoseconds
      self.totalNanoseconds = totalNanoseconds
    }
  }

  package init(
    number: UInt32 = 1, reason: SnapshotReason = .exit, time: UInt64, monotonic: UInt64 = 0, isFrozen: Bool = true,
    hasReferenceTags: Bool = true, hasCaseBytes: Bool = false,
    staticTLSSize: UInt64 = 0, threads: [SnapshotThread] = [], regions: [MemoryRegion] = [], label: String = "",
    end: End? = End()
  ) {
    self.number = number
    self.reason = reason
    self.time = time
    self.monotonic = monotonic
    self.isFrozen = isFrozen
    self.hasReferenceTags = hasReferenceTags
    self.hasCaseBytes = hasCaseBytes
    self.staticTLSSize = staticTLSSize
    self.threads = threads
    self.regions = regions
    self.label = label
    self.end = end
  }

  /// True if all parts of the image were written and found.
  package var isWhole: Bool { end?.error == 0 && end.map { Int($0.partCount) } == memoryChunks.count }
}

extension TraceSnapshot {
  /// The bytes of a thread in the format.
  private static func threadSize(isArm64: Bool) -> Int {
    MemoryLayout<lt_snapshot_thread_state>.size
      + 8 * Int(isArm64 ? LT_SNAPSHOT_REGISTERS_ARM64 : LT_SNAPSHOT_REGISTERS_X86_64)
  }

  /// Nil if the payload is shorter than its header states.
  init?(decoding bytes: UnsafeRawBufferPointer) {
    let headSize = MemoryLayout<lt_snapshot>.size
    guard bytes.count >= headSize else { return nil }
    let head = bytes.loadUnaligned(as: lt_snapshot.self)
    isArm64 = head.flags & UInt32(LT_SNAPSHOT_ARM64) != 0
    let threadSize = Self.threadSize(isArm64: isArm64)
    let regionSize = MemoryLayout<lt_snapshot_region>.size
    let threadsEnd = headSize + Int(head.threadCount) * threadSize
    let regionsEnd = threadsEnd + Int(head.regionCount) * regionSize
    guard UInt64(head.labelSize) <= ByteCursor.textLimit, bytes.count >= regionsEnd + Int(head.labelSize) else {
      return nil
    }
    number = head.number
    reason = SnapshotReason(rawValue: head.reason)
    time = head.time
    monotonic = head.monotonic
    isFrozen = head.flags & UInt32(LT_SNAPSHOT_FROZEN) != 0
    hasReferenceTags = head.flags & UInt32(LT_SNAPSHOT_REFERENCE_TAGS) != 0
    hasCaseBytes = head.flags & UInt32(LT_SNAPSHOT_CASE_BYTES) != 0
    hasValueCaseBytes = head.flags & UInt32(LT_SNAPSHOT_VALUE_CASE_BYTES) != 0
    lacksBlocks = head.flags & UInt32(LT_SNAPSHOT_BLOCKS_MISSING) != 0
    isListed = head.flags & UInt32(LT_SNAPSHOT_LISTED) != 0
    staticTLSSize = head.staticTLSSize
    threads = (0..<Int(head.threadCount)).map { index in
      let start = headSize + index * threadSize
      let thread = bytes.loadUnaligned(fromByteOffset: start, as: lt_snapshot_thread_state.self)
      let isKnown = thread.flags & UInt32(LT_SNAPSHOT_THREAD_REGISTERS) != 0
      var registers = stride(from: MemoryLayout<lt_snapshot_thread_state>.size, to: threadSize, by: 8).map {
        bytes.loadUnaligned(fromByteOffset: start + $0, as: UInt64.self)
      }
      while registers.last == 0 { registers.removeLast() }
      return SnapshotThread(
        osThread: thread.osThread, stackPointer: isKnown ? thread.stackPointer : nil,
        threadPointer: thread.threadPointer,
        instructionPointer: thread.instructionPointer, registers: registers,
        isSelf: thread.flags & UInt32(LT_SNAPSHOT_THREAD_SELF) != 0,
        isWaiting: thread.flags & UInt32(LT_SNAPSHOT_THREAD_WAITING) != 0)
    }
    var regions: [MemoryRegion] = []
    var last: UInt64 = 0
    for index in 0..<Int(head.regionCount) {
      let region = bytes.loadUnaligned(fromByteOffset: threadsEnd + index * regionSize, as: lt_snapshot_region.self)
      // No real mapping is out of order, empty, or at the end of the address space.
      guard region.start >= last, region.end > region.start, region.end <= RuntimeAddress.limit else { continue }
      last = region.end
      regions.append(MemoryRegion(region))
    }
    self.regions = regions
    label = String(
      decoding: UnsafeRawBufferPointer(rebasing: bytes[regionsEnd..<regionsEnd + Int(head.labelSize)]), as: UTF8.self)
  }

  /// Returns the bytes that the recorder writes for the image's beginning.
  func encoded() -> [UInt8] {
    var head = lt_snapshot()
    head.number = number
    head.reason = reason.rawValue
    head.time = time
    head.monotonic = monotonic
    head.flags =
      (isFrozen ? UInt32(LT_SNAPSHOT_FROZEN) : 0) | (hasReferenceTags ? UInt32(LT_SNAPSHOT_REFERENCE_TAGS) : 0)
      | (hasCaseBytes ? UInt32(LT_SNAPSHOT_CASE_BYTES) : 0)
      | (hasValueCaseBytes ? UInt32(LT_SNAPSHOT_VALUE_CASE_BYTES) : 0)
      | (lacksBlocks ? UInt32(LT_SNAPSHOT_BLOCKS_MISSING) : 0) | (isListed ? UInt32(LT_SNAPSHOT_LISTED) : 0)
      | (isArm64 ? UInt32(LT_SNAPSHOT_ARM64) : 0)
    head.threadCount = UInt32(threads.count)
    head.regionCount = UInt32(regions.count)
    head.labelSize = UInt32(label.utf8.count)
    head.staticTLSSize = staticTLSSize
    var bytes = rawBytes(of: head)
    for thread in threads {
      var raw = lt_snapshot_thread_state()
      raw.osThread = thread.osThread
      raw.flags =
        (thread.stackPointer != nil ? UInt32(LT_SNAPSHOT_THREAD_REGISTERS) : 0)
        | (thread.isSelf ? UInt32(LT_SNAPSHOT_THREAD_SELF) : 0)
        | (thread.isWaiting ? UInt32(LT_SNAPSHOT_THREAD_WAITING) : 0)
      raw.stackPointer = thread.stackPointer ?? 0
      raw.threadPointer = thread.threadPointer
      raw.instructionPointer = thread.instructionPointer
      bytes += rawBytes(of: raw)
      let count = (Self.threadSize(isArm64: isArm64) - MemoryLayout<lt_snapshot_thread_state>.size) / 8
      for index in 0..<count { bytes += rawBytes(of: index < thread.registers.count ? thread.registers[index] : 0) }
    }
    for region in regions { bytes += rawBytes(of: region.raw) }
    return bytes + Array(label.utf8)
  }
}

extension MemoryRegion {
  init(_ raw: lt_snapshot_region) {
    range = raw.start..<raw.end
    switch Int(raw.kind) {
    case Int(LT_REGION_ANONYMOUS): kind = .anonymous
    case Int(LT_REGION_BREAK): kind = .programBreak
    case Int(LT_REGION_MAIN_STACK): kind = .mainStack
    case Int(LT_REGION_FILE): kind = .file
    case Int(LT_REGION_SHARED): kind = .shared
    case Int(LT_REGION_RECORDER): kind = .recorder
    default: kind = .other(raw.kind)
    }
    isWritable = raw.flags & UInt32(LT_REGION_WRITABLE) != 0
    isExecutable = raw.flags & UInt32(LT_REGION_EXECUTABLE) != 0
    isCaptured = raw.flags & UInt32(LT_REGION_CAPTURED) != 0
  }

  var raw: lt_snapshot_region {
    let number: UInt32 =
      switch kind {
      case .anonymous: UInt32(LT_REGION_ANONYMOUS)
      case .programBreak: UInt32(LT_REGION_BREAK)
      case .mainStack: UInt32(LT_REGION_MAIN_STACK)
      case .file: UInt32(LT_REGION_FILE)
      case .shared: UInt32(LT_REGION_SHARED)
      case .recorder: UInt32(LT_REGION_RECORDER)
      case .other(let n): n
      }
    let flags =
      UInt32(LT_REGION_READABLE) | (isWritable ? UInt32(LT_REGION_WRITABLE) : 0)
      | (isExecutable ? UInt32(LT_REGION_EXECUTABLE) : 0)
      | (isCaptured ? UInt32(LT_REGION_CAPTURED) : 0)
    return lt_snapshot_region(start: range.lowerBound, end: range.upperBound, kind: number, flags: flags)
  }
}

extension TraceSnapshot.End {
  init(_ raw: lt_snapshot_end) {
    error = raw.error
    partCount = raw.partCount
    unreadablePages = raw.unreadablePages
    pageCount = raw.pageCount
    wordCount = raw.wordCount
    capturedBytes = raw.capturedBytes
    pauseNanoseconds = raw.pauseNanoseconds
    totalNanoseconds = raw.totalNanoseconds
  }
}

extension TraceReader {
  /// Returns the compressed bytes of an image's beginning and memory in the trace. Linear in the trace's chunks.
  package func storedSize(of snapshot: TraceSnapshot) -> ByteCount {
    let parts = snapshot.memoryChunks.lazy.filter { self.chunks.indices.contains($0) }.map {
      UInt64(self.chunks[$0].storedSize)
    }
    let frame =
      chunks.lazy.filter { $0.kind == .snapshot && $0.firstTime == snapshot.time }.map { UInt64($0.storedSize) }.first
      ?? 0
    return ByteCount(parts.reduce(frame) { $0 &+ $1 })
  }
}

/// A heap image that could not be taken.
package struct FailedSnapshot: Hashable, Sendable {
  package var number: UInt32
  /// An errno, or a code LT_METADATA_… if the allocator's metadata is not as expected. ECHILD means that the kernel
  /// killed the copy of the process that was to write the image.
  package var error: Int32

  package init(number: UInt32, error: Int32) {
    self.number = number
    self.error = error
  }

  /// The reason in words, to be printed after a colon.
  package var explanation: String {
    if let failure = lt_metadata_failure_text(error) {
      return
        "the blocks of the allocator were not read: \(String(cString: failure)). A full recording ('leaktrace record' without --light) needs no metadata"
    }
    return switch error {
    case ENOMEM:
      "there was no memory for it (\(systemErrorText(error))). A limit on the process's address space ('ulimit -v') or on its container has to leave room for it"
    case ECHILD: "the copy of the process that was to write it was killed, as the kernel does when memory is short"
    case EPROTONOSUPPORT:
      "the program's allocator is not glibc's, is of a version whose metadata leaktrace does not know, or was never used: nothing says which blocks there are. A full recording ('leaktrace record' without --light) sees them all"
    case ENOTSUP:
      "the program's children are in a PID namespace of their own, which ends with its first process; the copy that writes it would have been one of them"
    case ETIMEDOUT:
      "the kernel did not finish the copy of the process in time. A userfaultfd with unread events prevents it"
    case ENODATA: "memory of the process is missing that may hold its objects"
    case EFBIG, ENOSPC, EDQUOT:
      "there was no room for it in the file system, or the limit on file sizes was reached (\(systemErrorText(error)))"
    default: systemErrorText(error)
    }
  }
}

extension TraceSnapshot {
  /// The reason why the image is not whole, in words to be printed after a colon; nil if the image is whole.
  package var problem: String? {
    if isWhole { return nil }
    guard let end else { return "it was not written to its end" }
    if end.error != 0 { return FailedSnapshot(number: number, error: end.error).explanation }
    return "parts of it are missing or damaged"
  }
}

/// Collects the chunks of each image, which may be scattered over the file.
struct SnapshotCollector {
  private var snapshots: [UInt32: TraceSnapshot] = [:]
  private var ends: [UInt32: TraceSnapshot.End] = [:]
  private var memory: [UInt64: [Int]] = [:]
  private var blocks: [UInt64: [Int]] = [:]

  /// The number of further payload bytes that may be kept, and the most images.
  private var budget: UInt64
  private let limit: Int

  init(limits: ReadingLimits) { (budget, limit) = (limits.snapshotBytes, limits.snapshotCount) }

  /// Adds the beginning or the end of an image. Returns the problem of the payload; nil if there is none. If two images
  /// or two ends have the same number, keeps the first.
  mutating func take(_ bytes: UnsafeRawBufferPointer, of chunk: TraceChunk) -> TraceDiagnostic.Kind? {
    if chunk.kind == .snapshotEnd {
      guard bytes.count >= MemoryLayout<lt_snapshot_end>.size else { return .damagedSnapshot }
      let raw = bytes.loadUnaligned(as: lt_snapshot_end.self)
      if ends.count < limit, ends[raw.number] == nil { ends[raw.number] = TraceSnapshot.End(raw) }
      return nil
    }
    guard UInt64(bytes.count) <= budget else {
      return .implausibleSize(claimed: ByteCount(UInt64(bytes.count)), justified: ByteCount(budget))
    }
    guard let snapshot = TraceSnapshot(decoding: bytes) else { return .damagedSnapshot }
    if snapshots.count < limit, snapshots[snapshot.number] == nil {
      snapshots[snapshot.number] = snapshot
      budget -= UInt64(bytes.count)
    }
    return nil
  }

  /// Adds a chunk of an image's memory. `time`: the time in the chunk's header, which is the image's time.
  mutating func takeMemory(chunk: Int, time: UInt64) { memory[time, default: []].append(chunk) }

  /// Adds a chunk that lists an image's blocks. `time`: the image's time.
  mutating func takeBlocks(chunk: Int, time: UInt64) { blocks[time, default: []].append(chunk) }

  /// The images that have only an end record, with the reason of their failure.
  var failures: [FailedSnapshot] {
    ends.filter { snapshots[$0.key] == nil && $0.value.error != 0 }.map {
      FailedSnapshot(number: $0.key, error: $0.value.error)
    }.sorted { $0.number < $1.number }
  }

  func finish() -> [TraceSnapshot] {
    snapshots.values.map { snapshot in
      var snapshot = snapshot
      snapshot.end = ends[snapshot.number]
      snapshot.memoryChunks = memory[snapshot.time] ?? []
      snapshot.blockChunks = blocks[snapshot.time] ?? []
      return snapshot
    }.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
  }
}
