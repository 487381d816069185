// Conversion between the fixed structs of the format and Swift values.

import CTraceFormat

/// CRC-32C of `bytes`, continuing from `seed`.
func checksum(_ bytes: UnsafeRawBufferPointer, continuing seed: UInt32 = 0) -> UInt32 {
  lt_crc32c(seed, bytes.baseAddress, bytes.count)
}

enum FormatMagic {
  static let trace: [UInt8] = [0x89, 0x4C, 0x4B, 0x54, 0x52, 0x43, 0x0D, 0x0A]
  static let live: [UInt8] = [0x89, 0x4C, 0x4B, 0x4C, 0x49, 0x56, 0x0D, 0x0A]
}

/// The bytes of a C struct without pointers.
func rawBytes<Value>(of value: Value) -> [UInt8] {
  withUnsafeBytes(of: value) { Array($0) }
}

extension TraceHeader {
  /// Decodes the header page's first 128 bytes.
  init(decoding bytes: [UInt8]) throws(TraceFormatError) {
    guard bytes.count >= 8 else {
      if !bytes.isEmpty, FormatMagic.trace.starts(with: bytes) {
        throw .truncatedHeader(size: ByteCount(UInt64(bytes.count)))
      }
      throw .notATrace(firstBytes: bytes)
    }
    if bytes.starts(with: FormatMagic.live) { throw .isLiveFile }
    guard bytes.starts(with: FormatMagic.trace) else { throw .notATrace(firstBytes: Array(bytes.prefix(8))) }
    guard bytes.count >= MemoryLayout<lt_trace_header>.size else {
      throw .truncatedHeader(size: ByteCount(UInt64(bytes.count)))
    }
    let raw = bytes.withUnsafeBytes { $0.loadUnaligned(as: lt_trace_header.self) }
    // Check the version first: a later version may keep its checksum elsewhere.
    if raw.version > UInt32(LT_FORMAT_THINNED_VERSION) {
      throw .newerVersion(found: raw.version, known: UInt32(LT_FORMAT_THINNED_VERSION))
    }
    let found = bytes.withUnsafeBytes { checksum(UnsafeRawBufferPointer(rebasing: $0[0..<124])) }
    if found != raw.headerChecksum { throw .damagedHeader(expected: raw.headerChecksum, found: found) }
    if raw.version == 0 { throw .implausibleHeader(field: "version", value: 0, offset: FileOffset(8)) }
    if raw.version < UInt32(LT_FORMAT_OLDEST_VERSION) {
      throw .olderVersion(found: raw.version, oldest: UInt32(LT_FORMAT_OLDEST_VERSION))
    }
    if raw.headerSize != UInt32(LT_TRACE_HEADER_SIZE) {
      throw .implausibleHeader(field: "headerSize", value: UInt64(raw.headerSize), offset: FileOffset(12))
    }
    if raw.pageSize != 0, !Self.pageSizes.contains(raw.pageSize) {
      throw .implausibleHeader(
        field: "pageSize", value: UInt64(raw.pageSize),
        offset: FileOffset(UInt64(MemoryLayout<lt_trace_header>.offset(of: \.pageSize)!)))
    }
    version = raw.version
    machine = raw.machine
    pointerSize = raw.pointerSize
    clock =
      switch Int(raw.clockKind) {
      case Int(LT_CLOCK_TSC): .timeStampCounter
      case Int(LT_CLOCK_MONOTONIC): .monotonic
      default: .unknown(raw.clockKind)
      }
    // A header without a page size is from a kernel with the smallest pages.
    pageSize = raw.pageSize == 0 ? Self.pageSizes[0] : raw.pageSize
    processID = raw.processID
    parentProcessID = raw.parentProcessID
    traceID = raw.traceID
    sessionID = raw.sessionID
    startRealtime = raw.startRealtime
    startMonotonic = raw.startMonotonic
    startTime = raw.startTime
    ticksPerSecond = raw.ticksPerSecond
    options = raw.options
    referenceCounting =
      switch Int(raw.arcMode) {
      case Int(LT_ARC_STACKS): .withStacks
      case Int(LT_ARC_COUNTS): .countsOnly
      case Int(LT_ARC_OFF): .off
      default: .unknown(raw.arcMode)
      }
    stackDepthLimit = raw.stackDepthLimit
    liveSlotSize = raw.liveSlotSize
    samplePeriod = raw.samplePeriod
    firstSamples = raw.firstSamples
  }

  /// The 128 bytes at the start of a trace.
  func encoded() -> [UInt8] {
    var raw = lt_trace_header()
    withUnsafeMutableBytes(of: &raw.magic) { $0.copyBytes(from: FormatMagic.trace) }
    raw.version = version
    raw.headerSize = UInt32(LT_TRACE_HEADER_SIZE)
    raw.machine = machine
    raw.pointerSize = pointerSize
    raw.clockKind =
      switch clock {
      case .timeStampCounter: UInt8(LT_CLOCK_TSC)
      case .monotonic: UInt8(LT_CLOCK_MONOTONIC)
      case .unknown(let n): n
      }
    raw.pageSize = pageSize
    raw.processID = processID
    raw.parentProcessID = parentProcessID
    raw.traceID = traceID
    raw.sessionID = sessionID
    raw.startRealtime = startRealtime
    raw.startMonotonic = startMonotonic
    raw.startTime = startTime
    raw.ticksPerSecond = ticksPerSecond
    raw.options = options
    raw.arcMode =
      switch referenceCounting {
      case .withStacks: UInt8(LT_ARC_STACKS)
      case .countsOnly: UInt8(LT_ARC_COUNTS)
      case .off: UInt8(LT_ARC_OFF)
      case .unknown(let n): n
      }
    raw.stackDepthLimit = stackDepthLimit
    raw.liveSlotSize = liveSlotSize
    raw.samplePeriod = samplePeriod
    raw.firstSamples = firstSamples
    raw.headerChecksum = withUnsafeBytes(of: raw) { checksum(UnsafeRawBufferPointer(rebasing: $0[0..<124])) }
    return rawBytes(of: raw)
  }
}

extension TraceStatus {
  init(decoding bytes: [UInt8]) {
    precondition(bytes.count >= MemoryLayout<lt_trace_status>.size)
    let raw = bytes.withUnsafeBytes { $0.loadUnaligned(as: lt_trace_status.self) }
    state = raw.state
    stopErrno = raw.stopErrno
    stopTime = raw.stopTime
    eventCount = raw.eventCount
    drops = DropCounts(counts: withUnsafeBytes(of: raw.drops) { Array($0.bindMemory(to: UInt64.self)) })
  }
}

extension TraceClosing {
  /// Nil if there are fewer bytes than the struct has. Further bytes are of a later version, and are ignored.
  init?(decoding bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= MemoryLayout<lt_closing>.size else { return nil }
    let raw = bytes.loadUnaligned(as: lt_closing.self)
    reason =
      switch Int(raw.reason) {
      case Int(LT_CLOSE_EXIT): .exit
      case Int(LT_CLOSE_EXEC): .exec
      case Int(LT_CLOSE_STOPPED): .stopped
      case Int(LT_CLOSE_RECOVERED): .recovered
      case Int(LT_CLOSE_UNDERSCORE_EXIT): .underscoreExit
      case Int(LT_CLOSE_DETACHED): .detached
      default: .unknown(raw.reason)
      }
    waitStatus = raw.waitStatus
    time = raw.time
    monotonic = raw.monotonic
    eventCount = raw.eventCount
    residentBytes = raw.residentBytes
    peakResidentBytes = raw.peakResidentBytes
    recorderBytes = raw.recorderBytes
    threadCount = raw.threadCount
    untracedChildren = raw.untracedChildren
    drops = DropCounts(counts: withUnsafeBytes(of: raw.drops) { Array($0.bindMemory(to: UInt64.self)) })
  }

  func encoded() -> [UInt8] {
    var raw = lt_closing()
    raw.reason =
      switch reason {
      case .exit: UInt32(LT_CLOSE_EXIT)
      case .exec: UInt32(LT_CLOSE_EXEC)
      case .stopped: UInt32(LT_CLOSE_STOPPED)
      case .recovered: UInt32(LT_CLOSE_RECOVERED)
      case .underscoreExit: UInt32(LT_CLOSE_UNDERSCORE_EXIT)
      case .detached: UInt32(LT_CLOSE_DETACHED)
      case .unknown(let n): n
      }
    raw.waitStatus = waitStatus
    raw.time = time
    raw.monotonic = monotonic
    raw.eventCount = eventCount
    raw.residentBytes = residentBytes
    raw.peakResidentBytes = peakResidentBytes
    raw.recorderBytes = recorderBytes
    raw.threadCount = threadCount
    raw.untracedChildren = untracedChildren
    withUnsafeMutableBytes(of: &raw.drops) { target in
      let words = target.bindMemory(to: UInt64.self)
      for (index, count) in drops.counts.prefix(words.count).enumerated() { words[index] = count }
    }
    return rawBytes(of: raw)
  }
}
