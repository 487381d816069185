// The blocks of a process, read from the metadata of its allocators.

import CHeapScan
import TraceReading

/// The live blocks of a process's allocators.
package struct AllocatorHeap: Sendable {
  /// The live blocks of all allocators in order of addresses, without overlaps.
  package private(set) var blocks: [AllocatedBlock] = []
  package private(set) var glibc: GlibcHeap?
  package private(set) var jemalloc: JemallocHeap?
  package private(set) var replacement: ReplacementHeap?
  /// Whether some of the allocators' blocks were not found.
  package private(set) var isIncomplete = false
  /// Sentences about facts that could not be determined.
  package private(set) var remarks: [String] = []

  /// Reads the blocks of all known allocators. Returns nil if no block was found.
  ///
  /// - Parameter threads: All threads of the process.
  /// - Complexity: Linear in the allocators' metadata.
  package init?(in memory: any ProcessMemory, threads: [InspectedThread]) {
    let source = AllocatorMemory(memory, threads: threads)
    glibc = GlibcHeap(source)
    jemalloc = JemallocHeap(source)
    replacement = ReplacementHeap(source)
    // libc may have an arena even if the program uses another malloc, since early code may have called libc's malloc.
    let lists = [glibc?.blocks, jemalloc?.blocks, replacement?.blocks].compactMap { $0 }
    guard lists.contains(where: { !$0.isEmpty }) else { return nil }
    if let glibc {
      isIncomplete = glibc.isIncomplete || glibc.breaks > 0
      if glibc.areCachesUnread {
        remarks.append(
          "no thread's cache of glibc was found, though this release has such caches: freed blocks in them count as live"
        )
      }
    }
    if let jemalloc {
      isIncomplete = isIncomplete || jemalloc.isIncomplete
      if jemalloc.threadCaches == 0 {
        remarks.append(
          "no thread's cache of jemalloc was found: freed blocks that are in one count as live")
      }
    }
    if let replacement {
      isIncomplete = isIncomplete || replacement.isIncomplete
      remarks += replacement.remarks
    }
    blocks = Self.merged(lists)
  }

  private static func merged(_ lists: [[AllocatedBlock]]) -> [AllocatedBlock] {
    let lists = lists.filter { !$0.isEmpty }
    if lists.count == 1 { return lists[0] }
    var blocks = lists.joined().sorted { $0.address < $1.address }
    var end: UInt64 = 0
    blocks.removeAll { block in
      // Two allocators never share memory. So if a block lies inside another allocator's block, the words that describe
      // it are not metadata.
      if block.address < end { return true }
      end = block.address &+ block.usableSize
      return false
    }
    return blocks
  }
}

extension AllocatorHeap {
  /// Returns the allocators' figures as records of a trace. Allocators without a block are left out.
  package func records(time: UInt64) -> [AllocatorRecord] {
    [glibc?.record, jemalloc?.record, replacement?.record].compactMap { record in
      var record = record
      record?.time = time
      return record
    }
  }
}

extension AllocatorRecord {
  /// Returns nil for an allocator that has no block.
  init?(_ allocator: lt_allocator_figures) {
    guard let kind = Kind(rawValue: allocator.kind) else { return nil }
    self.init(
      time: 0, kind: kind,
      figures: withUnsafeBytes(of: allocator.figures) { Array($0.bindMemory(to: UInt64.self)) },
      pins: withUnsafeBytes(of: allocator.pins) { pins in
        pins.bindMemory(to: lt_allocator_pin.self).prefix(Int(allocator.pinCount)).map {
          Pin(freeBelow: $0.freeBelow, freeAbove: $0.freeAbove, address: $0.address, bytes: $0.bytes)
        }
      })
  }
}
