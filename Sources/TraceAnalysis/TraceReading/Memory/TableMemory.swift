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

  /// Returns zeroed memory for a part of a table that grows; the caller frees it with `deallocatePart`. Traps if there
  /// is not enough memory. `isSparse`: perhaps only the beginning of the memory will be used.
  ///
  /// Large memory is mapped by itself. The C library's `free` keeps blocks of many megabytes, after it has seen a few of
  /// them. A replay frees half of its memory before the report is made.
  static func allocatePart<Element: BitwiseCopyable>(
    _ type: Element.Type, capacity: Int, isSparse: Bool = false
  ) -> UnsafeMutablePointer<Element> {
    let size = max(1, capacity * MemoryLayout<Element>.stride)
    guard size >= largePage else { return allocateZeroed(type, capacity: capacity) }
    // The address space beside whole large pages is given back.
    guard let mapped = mmap(nil, size + largePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
      mapped != MAP_FAILED
    else { preconditionFailure("no memory for a table of \(size) bytes") }
    let before = -Int(bitPattern: mapped) & (largePage - 1)
    if before > 0 { munmap(mapped, before) }
    let start = mapped + before
    let end = (size + pageSize - 1) & -pageSize
    munmap(start + end, size + largePage - before - end)
    madvise(start, end, isSparse ? MADV_NOHUGEPAGE : MADV_HUGEPAGE)
    return start.bindMemory(to: Element.self, capacity: capacity)
  }

  /// Frees memory of `allocatePart`, which had the same capacity.
  static func deallocatePart<Element: BitwiseCopyable>(_ memory: UnsafeMutablePointer<Element>, capacity: Int) {
    let size = max(1, capacity * MemoryLayout<Element>.stride)
    if size >= largePage { munmap(memory, size) } else { free(memory) }
  }

  private static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

  /// Returns zeroed memory; the caller frees it with `deallocate`. Only written pages take physical memory. Traps if
  /// there is not enough memory.
  package static func allocateZeroed<Element: BitwiseCopyable>(
    _ type: Element.Type, capacity: Int
  ) -> UnsafeMutablePointer<Element> {
    let size = max(1, capacity * MemoryLayout<Element>.stride)
    guard let memory = calloc(1, size) else { preconditionFailure("no memory for a table of \(size) bytes") }
    if size >= largePage {
      // madvise needs whole pages. The first page begins with the allocator's header, so start at the next page.
      let start = (UInt(bitPattern: memory) + UInt(pageSize) - 1) & ~(UInt(pageSize) - 1)
      madvise(UnsafeMutableRawPointer(bitPattern: start), size - pageSize, MADV_NOHUGEPAGE)
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
