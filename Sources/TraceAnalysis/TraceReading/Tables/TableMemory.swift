// Memory of large tables with random access.

import Glibc

/// Memory for plain values. Large tables lie on large pages where the system has them: in a table of many megabytes,
/// finding the page costs as much as reading it, and more on a virtual machine.
package enum TableMemory {
  private static let largePage = 2 << 20

  /// Returns uninitialised memory; the caller frees it with `deallocate`. Traps if there is none. `isSparse`: perhaps
  /// only its beginning will be used.
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

  /// Returns zeroed memory; the caller frees it with `deallocate`. Only written pages take memory of the machine. Traps
  /// if there is none.
  package static func allocateZeroed<Element: BitwiseCopyable>(
    _ type: Element.Type, capacity: Int
  ) -> UnsafeMutablePointer<Element> {
    let size = max(1, capacity * MemoryLayout<Element>.stride)
    guard let memory = calloc(1, size) else { preconditionFailure("no memory for a table of \(size) bytes") }
    if size >= largePage {
      // Whole pages: the first page begins with the allocator's header.
      let page = Int(sysconf(Int32(_SC_PAGESIZE)))
      let start = (UInt(bitPattern: memory) + UInt(page) - 1) & ~(UInt(page) - 1)
      madvise(UnsafeMutableRawPointer(bitPattern: start), size - page, MADV_NOHUGEPAGE)
    }
    return memory.bindMemory(to: Element.self, capacity: capacity)
  }

  package static func deallocate<Element: BitwiseCopyable>(_ memory: UnsafeMutablePointer<Element>) { free(memory) }
}

/// Keeps the memory of tables until it goes itself. The tables are plain pointers, valid as long as it is: the replay
/// changes several with every event, and would count references to them, and check for exclusive access, as often.
final class TableOwner {
  private var endings: [() -> Void] = []

  init() {}
  deinit { for end in endings { end() } }

  /// Calls `end` when the owner goes.
  func own(_ end: @escaping () -> Void) { endings.append(end) }
}
