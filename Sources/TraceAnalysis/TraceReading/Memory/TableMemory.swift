// Memory of large tables with random access.

import Glibc

/// Memory for plain values. Large tables are on huge pages, if the system has them. In a table of many megabytes, the
/// address translation costs as much as the read, and more on a virtual machine.
package enum TableMemory {
  private static let largePage = 2 << 20

  /// Returns uninitialised memory; the caller frees it with `deallocate`. Traps if there is not enough memory.
  /// `isSparse`: perhaps only the beginning of the memory will be used.
  package static func allocate<Element: BitwiseCopyable>(
    _ type: Element.Type, capacity: Int, isSparse: Bool = false
  ) -> UnsafeMutablePointer<Element> {
    let size = max(1, capacity * MemoryLayout<Element>.stride)
    let isLarge = size >= largePage
    var memory: UnsafeMutableRawPointer?
    guard posix_memalign(&memory, isLarge ? largePage : 64, size) == 0, let memory else {
      preconditionFailure("no memory for a table of \(size) bytes")
    }
    if isLarge { madvise(memory, size, isSparse ? MADV_NOHUGEPAGE : MADV_HUGEPAGE) }
    return memory.bindMemory(to: Element.self, capacity: capacity)
  }

  /// Returns zeroed memory; the caller frees it with `deallocate`. Only written pages take physical memory. Traps if
  /// there is not enough memory.
  package static func allocateZeroed<Element: BitwiseCopyable>(
    _ type: Element.Type, capacity: Int
  ) -> UnsafeMutablePointer<Element> {
    let size = max(1, capacity * MemoryLayout<Element>.stride)
    guard let memory = calloc(1, size) else { preconditionFailure("no memory for a table of \(size) bytes") }
    if size >= largePage {
      // madvise needs whole pages. The first page begins with the allocator's header, so start at the next page.
      let page = Int(sysconf(Int32(_SC_PAGESIZE)))
      let start = (UInt(bitPattern: memory) + UInt(page) - 1) & ~(UInt(page) - 1)
      madvise(UnsafeMutableRawPointer(bitPattern: start), size - page, MADV_NOHUGEPAGE)
    }
    return memory.bindMemory(to: Element.self, capacity: capacity)
  }

  package static func deallocate<Element: BitwiseCopyable>(_ memory: UnsafeMutablePointer<Element>) { free(memory) }
}

/// Owns the memory of tables, and frees it in its `deinit`. The tables are plain pointers, valid as long as their
/// owner. With classes, each event of the replay would retain and release several tables, and check for exclusive
/// access.
final class TableOwner {
  private var endings: [() -> Void] = []

  init() {}
  deinit { for end in endings { end() } }

  /// Calls `end` when the owner is deinitialised.
  func own(_ end: @escaping () -> Void) { endings.append(end) }
}
