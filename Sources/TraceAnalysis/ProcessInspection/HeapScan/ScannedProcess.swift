// A process's memory, for the scan in C.

import CHeapScan
import Glibc
import TraceReading

/// Gives C code the memory of an inspected process. Caches pages, because metadata is read word by word.
///
/// For one thread at a time. `memory` is valid as long as this object exists.
final class ScannedProcess {
  /// The memory, for C functions that read it.
  let memory: UnsafeMutablePointer<lt_memory>
  let process: any ProcessMemory

  private static let pageSize = 4096
  /// The number of cached pages. Metadata and object headers that are read repeatedly take a few hundred pages.
  private static let keptPages = 1024
  private let pages: UnsafeMutableRawBufferPointer
  private var addresses = [UInt64](repeating: 0, count: keptPages)

  init(_ process: any ProcessMemory) {
    self.process = process
    pages = .allocate(byteCount: Self.keptPages * Self.pageSize, alignment: Self.pageSize)
    memory = .allocate(capacity: 1)
    memory.initialize(
      to: lt_memory(
        read: { memory, address, to, size in
          guard let memory, let to else { return false }
          return Unmanaged<ScannedProcess>.fromOpaque(memory.pointee.context).takeUnretainedValue().read(
            address, UnsafeMutableRawBufferPointer(start: to, count: size))
        },
        allocate: { size in
          let mapped = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
          return mapped == MAP_FAILED ? nil : mapped
        },
        release: { address, size in _ = munmap(address!, size) },
        context: nil))
    memory.pointee.context = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    pages.deallocate()
    memory.deallocate()
  }

  private func read(_ address: UInt64, _ buffer: UnsafeMutableRawBufferPointer) -> Bool {
    var done = 0
    while done < buffer.count {
      let (at, overflow) = address.addingReportingOverflow(UInt64(done))
      guard !overflow, let page = page(at & ~UInt64(Self.pageSize - 1)) else { return false }
      let offset = Int(at & UInt64(Self.pageSize - 1))
      let count = min(buffer.count - done, Self.pageSize - offset)
      buffer.baseAddress!.advanced(by: done).copyMemory(from: page + offset, byteCount: count)
      done += count
    }
    return true
  }

  /// Returns the bytes of a page, which stay valid until another page takes its place in the cache; nil if no byte of
  /// the page is known.
  private func page(_ address: UInt64) -> UnsafeMutableRawPointer? {
    guard address != 0 else { return nil }
    let place = Int(address / UInt64(Self.pageSize) % UInt64(Self.keptPages))
    let kept = pages.baseAddress! + place * Self.pageSize
    if addresses[place] == address { return kept }
    addresses[place] = 0
    let buffer = UnsafeMutableRawBufferPointer(start: kept, count: Self.pageSize)
    let count = process.read(RuntimeAddress(address), into: buffer)
    if count == 0 { return nil }
    // A file may end inside its last page; the rest of the page reads as zeros.
    if count < buffer.count { memset(kept + count, 0, buffer.count - count) }
    addresses[place] = address
    return kept
  }
}
