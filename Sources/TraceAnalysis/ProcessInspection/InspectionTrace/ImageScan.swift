// Takes the heap image of another process.

import CHeapScan
import CTraceFormat
import Glibc
import TraceReading

/// Runs the C code's heap scan over a process's memory, and writes the results. For one use, by one thread.
final class ImageScan {
  private let scan: ScannedProcess
  private let types: [lt_scanned_type]
  private let threads: [InspectedThread]
  private let writer: TraceFileWriter
  private let facts: InspectedFacts

  /// A cached piece of the process's memory. The scan gets pointers into it.
  private let window: UnsafeMutableRawBufferPointer
  private var windowStart: UInt64 = 0
  private var windowSize = 0
  private let written: WrittenMemory
  private var failure: TraceFormatError?

  private static let windowBytes = 256 << 10
  /// Uncompressed bytes of one part of the heap image, as in a recorder's heap image.
  private static let partBytes = 4 << 20
  private static let page = MemoryWindow.pageSize

  init(
    _ scan: ScannedProcess, _ types: [lt_scanned_type], _ threads: [InspectedThread], _ writer: TraceFileWriter,
    _ facts: InspectedFacts
  ) {
    self.scan = scan
    written = WrittenMemory(scan.process)
    self.types = types
    self.threads = threads
    self.writer = writer
    self.facts = facts
    window = .allocate(byteCount: Self.windowBytes, alignment: Int(Self.page))
  }

  deinit { window.deallocate() }

  func run(threadLocalBytes: UInt64, lacksMemory: Bool, keepsTaskNames: Bool) throws {
    var regions = SnapshotRegions.regions(of: scan.process.mappings, threads: threads)
    var snapshotThreads = threads.map(\.snapshotThread)
    var scannedThreads = snapshotThreads.map { lt_snapshot_thread($0.state, $0.registers) }
    // The scan compares the numbers of threads with the owners of locks. In a container, a lock has the other number.
    for (index, thread) in threads.enumerated() where thread.ownNumber != 0 {
      scannedThreads[index].osThread = UInt32(clamping: thread.ownNumber)
    }
    let state = UnsafeMutablePointer<lt_memory_scan>.allocate(capacity: 1)
    state.initialize(to: lt_memory_scan())
    let part = UnsafeMutablePointer<UInt8>.allocate(capacity: Self.partBytes)
    defer {
      part.deallocate()
      state.deallocate()
    }
    var end = lt_snapshot_end()
    try types.withUnsafeBufferPointer { types in
      try regions.withUnsafeMutableBufferPointer { regions in
        try scannedThreads.withUnsafeMutableBufferPointer { threads in
          state.pointee.memory = UnsafePointer(scan.memory)
          state.pointee.regions = regions.baseAddress
          state.pointee.regionCount = UInt32(regions.count)
          state.pointee.types = types.baseAddress
          state.pointee.typeCount = UInt32(types.count)
          state.pointee.threads = UnsafePointer(threads.baseAddress)
          state.pointee.threadCount = UInt32(threads.count)
          state.pointee.redZone = scan.process.processor == .arm64 ? 0 : 128
          state.pointee.argumentRegister =
            scan.process.processor == .arm64 ? LT_SNAPSHOT_ARGUMENT_ARM64 : LT_SNAPSHOT_ARGUMENT_X86_64
          state.pointee.snapshotNumber = 1
          state.pointee.partBuffer = part
          state.pointee.partSize = Self.partBytes
          state.pointee.context = Unmanaged.passUnretained(self).toOpaque()
          state.pointee.knowsWrittenPages = true
          state.pointee.keepsTaskNames = keepsTaskNames
          state.pointee.page = { scan, address in
            let words = ImageScan.of(scan).page(address)
            // Both passes call this, so count unreadable pages in the first one only.
            if words == nil, scan!.pointee.isFirstPass { scan!.pointee.unreadablePages += 1 }
            return words
          }
          state.pointee.firstPresent = { scan, region, address in
            let end = region!.pointee.end
            guard let part = ImageScan.of(scan).written.next(from: address, to: end) else { return end }
            return part.lowerBound & ~(ImageScan.page - 1)
          }
          state.pointee.lookUpResidence = { scan, region, address, pages, residence in
            ImageScan.of(scan).lookUpResidence(region!.pointee, address, pages, residence!)
          }
          state.pointee.writePart = { scan, bytes, size in
            ImageScan.of(scan).write(UnsafeBufferPointer(start: bytes, count: size))
          }
          defer { lt_memory_scan_free(state) }
          var error = lt_memory_scan_prepare(state)
          // Clear registers that hold no address of the process, since they may hold a user's private data.
          for index in snapshotThreads.indices {
            for register in snapshotThreads[index].registers.indices {
              let value = snapshotThreads[index].registers[register] & LT_WORD_ADDRESS_MASK
              let isAddress = error == 0 && lt_address_index_has(&state.pointee.index, value)
              snapshotThreads[index].registers[register] = isAddress ? value : 0
            }
          }
          var head = lt_snapshot()
          head.number = 1
          head.reason = UInt32(LT_SNAPSHOT_INSPECTION)
          head.time = facts.nanoseconds
          head.monotonic = facts.nanoseconds
          head.flags = UInt32(
            LT_SNAPSHOT_FROZEN | LT_SNAPSHOT_REFERENCE_TAGS | LT_SNAPSHOT_CASE_BYTES | LT_SNAPSHOT_VALUE_CASE_BYTES
              | (scan.process.processor == .arm64 ? LT_SNAPSHOT_ARM64 : 0))
          head.staticTLSSize = threadLocalBytes
          try writer.appendSnapshot(head, threads: snapshotThreads, regions: Array(regions))
          if error == 0 { error = lt_memory_scan_run(state) }
          // If memory is missing, its references are missing too, and reachable objects would look lost.
          if error == 0, lacksMemory { error = -ENODATA }
          end = lt_snapshot_end(
            number: 1, error: -error, partCount: state.pointee.partCount,
            unreadablePages: state.pointee.unreadablePages,
            pageCount: state.pointee.pageCount, wordCount: state.pointee.wordCount,
            capturedBytes: state.pointee.capturedBytes, pauseNanoseconds: facts.pauseNanoseconds,
            totalNanoseconds: 0)
        }
      }
    }
    if let failure { throw failure }
    try writer.appendSnapshotEnd(end, time: facts.nanoseconds)
  }

  private static func of(_ scan: UnsafeMutablePointer<lt_memory_scan>?) -> ImageScan {
    Unmanaged<ImageScan>.fromOpaque(scan!.pointee.context).takeUnretainedValue()
  }

  private func write(_ part: UnsafeBufferPointer<UInt8>) -> Int32 {
    do throws(TraceFormatError) {
      try writer.appendMemory(part, time: facts.nanoseconds)
      return 0
    } catch {
      failure = error
      return -EIO
    }
  }

  private func page(_ address: UInt64) -> UnsafePointer<UInt64>? {
    let page = Int(Self.page)
    if address < windowStart || address - windowStart >= UInt64(windowSize) {
      windowStart = address
      windowSize = scan.process.read(RuntimeAddress(address), into: window)
      // A file may end inside its last page; the rest of the page reads as zeros.
      let whole = (windowSize + page - 1) & ~(page - 1)
      if whole > windowSize { memset(window.baseAddress! + windowSize, 0, whole - windowSize) }
      windowSize = whole
    }
    guard windowSize > 0 else { return nil }
    return UnsafePointer((window.baseAddress! + Int(address - windowStart)).assumingMemoryBound(to: UInt64.self))
  }

  private func lookUpResidence(
    _ region: lt_snapshot_region, _ address: UInt64, _ pages: UInt32, _ residence: UnsafeMutablePointer<UInt8>
  ) {
    memset(residence, 0, Int(pages))
    let end = address + UInt64(pages) * Self.page
    var at = address
    while let part = written.next(from: at, to: end) {
      let first = Int((part.lowerBound - address) / Self.page)
      let last = Int((part.upperBound - address + Self.page - 1) / Self.page)
      memset(residence + first, Int32(LT_PAGE_PRESENT), last - first)
      at = part.upperBound
    }
  }
}

extension InspectedThread {
  fileprivate var snapshotThread: WrittenThread {
    var state = lt_snapshot_thread_state()
    state.osThread = UInt32(bitPattern: threadID)
    state.flags = UInt32(LT_SNAPSHOT_THREAD_REGISTERS)
    state.stackPointer = stackPointer
    state.threadPointer = threadPointer
    state.instructionPointer = instructionPointer
    if case .inCall(_, waits: true) = activity { state.flags |= UInt32(LT_SNAPSHOT_THREAD_WAITING) }
    let layout = RegisterLayout(processor)
    let known = registers.count == layout.count ? layout.recorded.map { registers[$0] } : []
    return WrittenThread(state, registers: known, processor)
  }
}

extension lt_snapshot_thread {
  /// A thread for the heap scan. The scan needs the registers with the arguments of system calls. Further registers of
  /// another processor are left out.
  fileprivate init(_ state: lt_snapshot_thread_state, _ values: [UInt64]) {
    self.init()
    (osThread, flags, stackPointer) = (state.osThread, state.flags, state.stackPointer)
    (threadPointer, instructionPointer) = (state.threadPointer, state.instructionPointer)
    withUnsafeMutableBytes(of: &registers) { bytes in
      let words = bytes.bindMemory(to: UInt64.self)
      for (index, value) in zip(words.indices, values) { words[index] = value }
    }
  }
}
