// The blocks of a process by the books of the allocators that it has.

import TraceReading

/// What the allocators of a process have given out.
package struct AllocatorHeap: Sendable {
  /// In order of their addresses, none overlapping.
  package private(set) var blocks: [AllocatedBlock] = []
  package private(set) var glibc: GlibcHeap?
  package private(set) var jemalloc: JemallocHeap?
  /// Some of the allocators' blocks were not found.
  package private(set) var isIncomplete = false
  /// Sentences on what is not known.
  package private(set) var remarks: [String] = []

  /// Nil if no allocator is known.
  ///
  /// - Parameter threads: All of the process.
  /// - Complexity: That of the allocators' books.
  package init?(in memory: any ProcessMemory, threads: [InspectedThread]) {
    glibc = GlibcHeap(in: memory, threads: threads)
    jemalloc = JemallocHeap(in: memory, threads: threads)
    // A libc whose malloc nobody calls has an arena all the same, where something has asked it early.
    guard glibc?.blocks.isEmpty == false || jemalloc?.blocks.isEmpty == false else { return nil }
    if let glibc {
      isIncomplete = glibc.isIncomplete || glibc.breaks > 0
      if glibc.areCachesUnread {
        remarks.append(
          "this release of glibc keeps freed blocks in threads' caches of a layout that leaktrace does not know: they count as live"
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
    blocks = Self.merged(glibc?.blocks ?? [], jemalloc?.blocks ?? [])
  }

  private static func merged(_ first: [AllocatedBlock], _ second: [AllocatedBlock]) -> [AllocatedBlock] {
    if second.isEmpty { return first }
    if first.isEmpty { return second }
    var blocks = (first + second).sorted { $0.address < $1.address }
    var end: UInt64 = 0
    blocks.removeAll { block in
      // Both cannot have the same memory: what one of them seems to have is inside of what the other has.
      if block.address < end { return true }
      end = block.address &+ block.usableSize
      return false
    }
    return blocks
  }
}

extension AllocatorHeap {
  /// What the allocators have, as a trace has it.
  package func records(time: UInt64) -> [AllocatorRecord] {
    [glibc?.record(time: time), jemalloc?.record(time: time)].compactMap { $0 }
  }
}

extension GlibcHeap {
  /// Arenas whose pins are told.
  private static let toldPins = 8

  fileprivate func record(time: UInt64) -> AllocatorRecord? {
    if blocks.isEmpty { return nil }
    var record = AllocatorRecord(time: time, kind: .glibc)
    for arena in arenas {
      record.inUse &+= arena.blockBytes
      record.free &+= arena.freeBytes
      record.cached &+= arena.cachedBytes &+ arena.fastBytes
      record.top &+= arena.topBytes
      record.freePages &+= arena.freePageBytes
      record.system &+= arena.systemBytes
      if !arena.isMain {
        record.freeInOtherArenas &+= arena.freeBytes &+ arena.topBytes &+ arena.cachedBytes &+ arena.fastBytes
      }
    }
    record.inUse &+= mappedBytes
    record.mapped = mappedBytes
    record.arenas = UInt64(arenas.count)
    record.arenaLimit = arenaLimit.map { UInt64($0) }
    for arena in arenas.sorted(by: { $0.freeBytes > $1.freeBytes }).prefix(Self.toldPins) {
      guard let pin = arena.pin, pin.use == .block, arena.freeBytes > 0 else { continue }
      record.pins.append(
        AllocatorRecord.Pin(
          freeBelow: arena.freeBytes, freeBehind: arena.topBytes, address: pin.address, bytes: pin.bytes))
    }
    return record
  }
}

extension JemallocHeap {
  fileprivate func record(time: UInt64) -> AllocatorRecord? {
    if blocks.isEmpty { return nil }
    var record = AllocatorRecord(time: time, kind: .jemalloc)
    record.inUse = blocks.reduce(0) { $0 &+ $1.usableSize }
    record.free = slabFreeBytes &+ dirtyBytes &+ muzzyBytes
    record.cached = cachedBytes
    record.freePages = dirtyBytes &+ muzzyBytes
    record.system = record.inUse &+ record.held
    return record
  }
}
