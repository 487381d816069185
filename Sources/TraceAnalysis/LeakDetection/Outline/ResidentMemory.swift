// The parts of a process's resident memory when a heap image was taken.

import HeapAnalysis
import TraceReading

/// Resident memory by what it is for. Tells a leak from memory that the allocator keeps. Bytes; a value.
package struct ResidentMemory: Hashable, Sendable {
  /// Of the process without the recorder, at the sample nearest to the image.
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
  /// The parts of resident memory at the heap image; nil if its size was not recorded. O(blocks).
  package var residentMemory: ResidentMemory? {
    guard let end = snapshot.end, end.error == 0 else { return nil }
    func distance(_ time: UInt64) -> UInt64 { time > snapshot.time ? time - snapshot.time : snapshot.time - time }
    guard let sample = memorySamples.min(by: { distance($0.time) < distance($1.time) }) else { return nil }
    return ResidentMemory(
      resident: sample.residentOfProgram, privateBytes: end.capturedBytes,
      liveBlocks: graph.heap.blocks.reduce(0) { $0 &+ $1.size }, threads: snapshot.threads, regions: snapshot.regions)
  }
}
