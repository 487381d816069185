// A process's memory as the scan in C sees it.

import CHeapScan
import Glibc
import TraceReading

/// Gives C code the memory of an inspected process. Pages that were read are kept for a while, since metadata is read a
/// word at a time.
///
/// Not to be shared between threads. `memory` is valid as long as this is.
final class ScannedProcess {
  /// For C functions that read.
  let memory: UnsafeMutablePointer<lt_memory>
  let process: any ProcessMemory

  private static let pageSize = 4096
  /// Pages that are kept: metadata and the heads of objects that are looked at again and again take some hundred.
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

  /// The bytes of a page, kept until another takes its place; nil if none of it is known.
  private func page(_ address: UInt64) -> UnsafeMutableRawPointer? {
    guard address != 0 else { return nil }
    let place = Int(address / UInt64(Self.pageSize) % UInt64(Self.keptPages))
    let kept = pages.baseAddress! + place * Self.pageSize
    if addresses[place] == address { return kept }
    addresses[place] = 0
    let buffer = UnsafeMutableRawBufferPointer(start: kept, count: Self.pageSize)
    let count = process.read(RuntimeAddress(address), into: buffer)
    if count == 0 { return nil }
    // A file may end inside its last page; the rest of that reads as zeros.
    if count < buffer.count { memset(kept + count, 0, buffer.count - count) }
    addresses[place] = address
    return kept
  }
}
