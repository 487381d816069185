// A process's memory, for the C code that reads allocator metadata.

import CHeapScan
import CTraceFormat
import TraceReading

/// Gives C code the memory that it needs to read an allocator's metadata. `metadata` is valid as long as this object
/// exists.
///
/// For one thread at a time.
final class AllocatorMemory {
  let metadata: UnsafeMutablePointer<lt_allocator_memory>
  let process: any ProcessMemory

  private let scan: ScannedProcess
  private let regions: UnsafeMutableBufferPointer<lt_snapshot_region>
  private let threads: UnsafeMutableBufferPointer<lt_snapshot_thread>
  private let data: UnsafeMutableBufferPointer<lt_address_range>
  private let written: WrittenMemory

  /// - Parameter threads: All threads of the process; may be empty.
  init(_ process: any ProcessMemory, threads: [InspectedThread]) {
    self.process = process
    scan = ScannedProcess(process)
    written = WrittenMemory(process)
    let libc = LibcImage(in: process)
    regions = Self.buffer(SnapshotRegions.regions(of: process.mappings, threads: threads))
    self.threads = Self.buffer(
      threads.map {
        var thread = lt_snapshot_thread()
        thread.threadPointer = $0.threadPointer
        return thread
      })
    data = Self.buffer(libc.data.map { lt_address_range(start: $0.lowerBound, end: $0.upperBound) })
    metadata = .allocate(capacity: 1)
    metadata.initialize(to: lt_allocator_memory())
    metadata.pointee.memory = UnsafePointer(scan.memory)
    metadata.pointee.regions = UnsafePointer(regions.baseAddress)
    metadata.pointee.regionCount = UInt32(regions.count)
    metadata.pointee.threads = UnsafePointer(self.threads.baseAddress)
    metadata.pointee.threadCount = UInt32(threads.count)
    metadata.pointee.data = UnsafePointer(data.baseAddress)
    metadata.pointee.dataCount = UInt32(data.count)
    metadata.pointee.libcRelease = libc.release
    metadata.pointee.pageSize = UInt32(process.pageSize)
    metadata.pointee.variables = process.processor == .arm64 ? LT_VARIABLES_ABOVE : LT_VARIABLES_BELOW
    metadata.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    metadata.pointee.readOn = { metadata, address, to, size in
      AllocatorMemory.of(metadata).process.read(
        RuntimeAddress(address), into: UnsafeMutableRawBufferPointer(start: to, count: size))
    }
    metadata.pointee.nextPresent = { metadata, start, end, run in
      guard let next = AllocatorMemory.of(metadata).written.next(from: start, to: end) else { return false }
      run!.pointee = lt_address_range(start: next.lowerBound, end: next.upperBound)
      return true
    }
  }

  deinit {
    metadata.deallocate()
    regions.deallocate()
    threads.deallocate()
    data.deallocate()
  }

  private static func of(_ metadata: UnsafePointer<lt_allocator_memory>?) -> AllocatorMemory {
    Unmanaged<AllocatorMemory>.fromOpaque(metadata!.pointee.context).takeUnretainedValue()
  }

  private static func buffer<Element>(_ elements: [Element]) -> UnsafeMutableBufferPointer<Element> {
    let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(1, elements.count))
    _ = buffer.initialize(from: elements)
    return UnsafeMutableBufferPointer(start: buffer.baseAddress, count: elements.count)
  }
}
