// A process's memory, for the C code that reads allocator metadata.

import CHeapScan
import CTraceFormat
import TraceReading

/// Gives C code the memory that it needs to read an allocator's metadata. `books` is valid as long as this object is.
///
/// Not to be shared between threads.
final class AllocatorMemory {
  let books: UnsafeMutablePointer<lt_books_memory>
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
    books = .allocate(capacity: 1)
    books.initialize(to: lt_books_memory())
    books.pointee.memory = UnsafePointer(scan.memory)
    books.pointee.regions = UnsafePointer(regions.baseAddress)
    books.pointee.regionCount = UInt32(regions.count)
    books.pointee.threads = UnsafePointer(self.threads.baseAddress)
    books.pointee.threadCount = UInt32(threads.count)
    books.pointee.data = UnsafePointer(data.baseAddress)
    books.pointee.dataCount = UInt32(data.count)
    books.pointee.libcRelease = libc.release
    books.pointee.context = Unmanaged.passUnretained(self).toOpaque()
    books.pointee.readOn = { books, address, to, size in
      AllocatorMemory.of(books).process.read(
        RuntimeAddress(address), into: UnsafeMutableRawBufferPointer(start: to, count: size))
    }
    books.pointee.nextPresent = { books, start, end, run in
      guard let next = AllocatorMemory.of(books).written.next(from: start, to: end) else { return false }
      run!.pointee = lt_address_range(start: next.lowerBound, end: next.upperBound)
      return true
    }
  }

  deinit {
    books.deallocate()
    regions.deallocate()
    threads.deallocate()
    data.deallocate()
  }

  private static func of(_ books: UnsafePointer<lt_books_memory>?) -> AllocatorMemory {
    Unmanaged<AllocatorMemory>.fromOpaque(books!.pointee.context).takeUnretainedValue()
  }

  private static func buffer<Element>(_ elements: [Element]) -> UnsafeMutableBufferPointer<Element> {
    let buffer = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(1, elements.count))
    _ = buffer.initialize(from: elements)
    return UnsafeMutableBufferPointer(start: buffer.baseAddress, count: elements.count)
  }
}
