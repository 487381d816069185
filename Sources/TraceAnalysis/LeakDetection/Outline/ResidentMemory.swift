// The parts of a process's resident memory when a heap image was taken.

import HeapAnalysis
import TraceReading

/// Resident memory by what it is for. Tells a leak from memory that the allocator keeps. Bytes; a value.
package struct ResidentMemory: Hashable, Sendable {
  /// Of the process without the recorder, measured before the image or after it.
  package var resident: UInt64
  /// Blocks of the heap, as large as they were asked for.
  package var liveBlocks: UInt64
  /// Stacks of threads as far as they were in use.
  package var stacks: UInt64
  /// Private memory that is neither: what the allocator holds free or needs for itself, variables of images, memory that
  /// was mapped without the allocator.
  package var otherPrivate: UInt64
  /// Code and files, and memory shared with other processes.
  package var mapped: UInt64

  /// Larger stacks are none: a thread may stand in memory of any kind.
  private static let largestStack: UInt64 = 64 << 20

  /// `privateBytes`: private memory that can be written and is there, without the recorder's. Nil if these figures
  /// contradict each other, as they do when the process grew after the sample.
  package init?(
    resident: UInt64, privateBytes: UInt64, liveBlocks: UInt64, threads: [SnapshotThread], regions: [MemoryRegion]
  ) {
    guard privateBytes > 0, privateBytes <= resident else { return nil }
    self.resident = resident
    mapped = resident - privateBytes
    // Blocks that the program has not written to take no memory.
    self.liveBlocks = min(liveBlocks, privateBytes)
    var stacks: UInt64 = 0
    for thread in threads {
      guard let pointer = thread.stackPointer, let region = regions.first(where: { $0.range.contains(pointer) }),
        region.range.upperBound - pointer <= Self.largestStack
      else { continue }
      stacks &+= region.range.upperBound - pointer
    }
    self.stacks = min(stacks, privateBytes - self.liveBlocks)
    otherPrivate = privateBytes - self.liveBlocks - self.stacks
  }

  /// The allocator is likely to hold much that the program gave back: so much private memory that is in no block
  /// deserves a remark.
  package var deservesRemark: Bool { otherPrivate >= Self.remarkableSize && otherPrivate > liveBlocks }
  private static let remarkableSize: UInt64 = 64 << 20

  /// For people who wonder where their memory is.
  package var remark: String {
    "\(Decimal.bytes(otherPrivate)) of private memory is in no live block (live: \(Decimal.bytes(liveBlocks))), so it has not "
      + "leaked: mostly the allocator keeps it for later. malloc_trim(0) gives back what is free; fewer arenas "
      + "(MALLOC_ARENA_MAX=2) or jemalloc keep less"
  }
}

extension LeakAnalysis {
  /// The parts of resident memory at the heap image; nil if its size was not recorded. Takes the measurement before the
  /// image or the one after it, whichever is nearer and agrees with the image: on a busy machine a program may have grown
  /// much between a measurement and its image. O(blocks).
  package var residentMemory: ResidentMemory? {
    guard let end = snapshot.end, end.error == 0 else { return nil }
    let time = snapshot.time
    func distance(_ sample: MemorySample) -> UInt64 { max(sample.time, time) - min(sample.time, time) }
    let neighbours = [memorySamples.last { $0.time <= time }, memorySamples.first { $0.time > time }].compactMap { $0 }
    let liveBlocks = graph.heap.blocks.reduce(UInt64(0)) { $0 &+ $1.size }
    return neighbours.sorted { distance($0) < distance($1) }.lazy.compactMap { [snapshot] sample in
      ResidentMemory(
        resident: sample.residentOfProgram, privateBytes: end.capturedBytes, liveBlocks: liveBlocks,
        threads: snapshot.threads, regions: snapshot.regions)
    }.first
  }
}
