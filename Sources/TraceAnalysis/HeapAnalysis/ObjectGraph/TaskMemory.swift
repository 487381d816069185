// The memory where tasks allocate the frames of their functions, and the parts in use.

import CHeapScan

/// Finds the slabs of tasks, and the parts of slabs in use. A task allocates its functions' frames as a stack, in
/// slabs. The first slab is usually in the task's own block; the others are malloc blocks. Freed frames follow a slab's
/// bytes in use. Their words are no longer references.
///
/// Source: swiftlang/swift, stdlib/public/runtime/StackAllocator.h and stdlib/public/Concurrency/TaskPrivate.h; seen
/// with Swift 6.1.2 and 6.3.1. There, a task's allocator begins at byte 112, with the addresses of the last allocation
/// and of the first slab. This type finds the allocator by the word that leads to a slab.
struct TaskMemory {
  /// The task of each slab, by the slab's block.
  private(set) var taskOfSlab: [UInt32: UInt32] = [:]
  /// The outer task of each slab that belongs to an inner task. The key is the slab's block. `async let` makes an inner
  /// task among the outer task's frames. Such a slab counts as an ordinary malloc block. Only the references that its
  /// words keep differ.
  private(set) var outerTaskOfSlab: [UInt32: UInt32] = [:]
  /// Addresses among the frames of tasks that look like other tasks. Some of these tasks may have ended without their
  /// memory being overwritten.
  private(set) var innerTasks: Set<UInt64> = []
  /// The words after the last frame in a task or a slab, by block.
  private(set) var unused: [UInt32: Range<UInt64>] = [:]

  private let heap: LiveHeap
  private let image: HeapImage
  private let isSlabMetadata: (UInt64) -> Bool

  /// Byte offsets in a task of the two words that link the task into its scheduler's queue. Source: swiftlang/swift,
  /// include/swift/ABI/Task.h, Job.
  static let queueLinks: Range<UInt64> = 16..<32
  /// These offsets count from the start of a slab.
  private static let nextOffset = UInt64(SWIFT_SLAB_NEXT)
  private static let countsOffset = UInt64(SWIFT_SLAB_COUNTS)
  static let headerSize = UInt64(SWIFT_SLAB_HEADER)
  /// Offset in an allocation's header. The header begins with the address of the previous allocation.
  private static let slabOffset = UInt64(SWIFT_SLAB_ALLOCATION_SLAB)
  private static let allocationHeaderSize = UInt64(SWIFT_SLAB_ALLOCATION_HEADER)
  /// The offsets where a task's allocator may be: after the scheduler's words and the flags.
  private static let allocatorRange: Range<UInt64> = 64..<512
  /// The allocator's offset in the runtimes that were examined.
  private static let allocatorOffset: UInt64 = 112
  /// Smaller blocks are not slabs: the runtime requests at least 1 KiB less some bytes.
  private static let minSlabSize: UInt64 = 256
  private static let slabLimit = 1 << 16

  /// - Parameter isSlabMetadata: returns whether an address is the address of a metadata record that no type has.
  init(heap: LiveHeap, image: HeapImage, isSlabMetadata: @escaping (UInt64) -> Bool) {
    self.heap = heap
    self.image = image
    self.isSlabMetadata = isSlabMetadata
  }

  private struct Slab {
    var start: UInt64
    /// The slab's own block, or the task's block that contains the slab.
    var block: BlockID
    /// The number of bytes after the slab's header, and the number of those bytes in use. Nil if the recorder did not
    /// recognise the slab; the heap image then lacks these numbers.
    var counts: (capacity: UInt64, used: UInt64)?
    var next: UInt64?
  }

  /// Adds the slabs of a task. `isPlain` returns whether a block is not an object. Linear in the task's own words and
  /// its slabs.
  mutating func add(_ task: BlockID, isPlain: (BlockID) -> Bool) {
    let block = heap[task]
    guard block.size > Self.allocatorRange.lowerBound else { return }
    let end = block.address &+ min(block.size, Self.allocatorRange.upperBound)
    var first: (allocator: UInt64, slab: Slab)?
    image.forEachWord(in: block.address &+ Self.allocatorRange.lowerBound..<end) { address, word in
      if first == nil, let slab = slab(at: word, of: task, isPlain) { first = (address &- 8, slab) }
    }
    guard let first else { return }
    var slabs: [Slab] = []
    var next: Slab? = first.slab
    while let slab = next, slabs.count < Self.slabLimit, slab.block == task || taskOfSlab[slab.block.rawValue] == nil {
      // The task's own block has only one slab, the first.
      if slab.block == task, !slabs.isEmpty { break }
      slabs.append(slab)
      if slab.block != task { taskOfSlab[slab.block.rawValue] = task.rawValue }
      next = slab.next.flatMap { self.slab(at: $0, of: task, isPlain) }
    }
    markUnused(
      slabs, lastAllocation: image.word(at: first.allocator),
      isKnownPlace: first.allocator - block.address == Self.allocatorOffset)
  }

  /// Adds the slabs of inner tasks among the frames of `tasks`, and recursively the slabs of their own inner tasks.
  /// Call `add` for `tasks` first. Linear in the words of frames and in the slabs.
  mutating func addInner(of tasks: [BlockID], isPlain: (BlockID) -> Bool) {
    let metadata = Set(tasks.compactMap { image.word(at: heap[$0].address) })
    // If a slab was seen before, so were all slabs after it in the list. So each list is followed only once, even in a
    // forged trace.
    var followed: Set<UInt64> = []
    var pending = tasks.map { (block: $0, task: $0.rawValue) }
    pending += taskOfSlab.sorted { $0.key < $1.key }.map { (BlockID($0.key), $0.value) }
    while let (block, task) = pending.popLast() {
      let (start, size) = (heap[block].address, heap[block].size)
      let used = start &+ 16..<max(start &+ 16, min(start &+ size, unused[block.rawValue]?.lowerBound ?? .max))
      var inner: [UInt64] = []
      image.forEachWord(in: used) { address, word in
        if address & 15 == 0, metadata.contains(word) { inner.append(address) }
      }
      for child in inner {
        innerTasks.insert(child)
        var next = image.word(at: child &+ Self.allocatorOffset &+ 8)
        while let slab = next, image.word(at: slab).map(isSlabMetadata) == true,
          let found = heap.block(containing: slab), followed.insert(slab).inserted
        {
          next = image.word(at: slab &+ Self.nextOffset)
          // The child's first slab is usually among the same frames as the child.
          if found.rawValue == task || taskOfSlab[found.rawValue] == task { continue }
          guard heap[found].address == slab, heap[found].size >= Self.minSlabSize, isPlain(found),
            taskOfSlab[found.rawValue] == nil, outerTaskOfSlab[found.rawValue] == nil
          else { break }
          outerTaskOfSlab[found.rawValue] = task
          pending.append((found, task))
        }
      }
    }
  }

  /// Returns whether all of a task's frames are freed. True only if the allocator is at its known offset, and its first
  /// slab has counts.
  func hasNoFrames(taskAt address: UInt64) -> Bool {
    let allocator = address &+ Self.allocatorOffset
    guard image.word(at: allocator) == nil, let first = image.word(at: allocator &+ 8),
      image.word(at: first).map(isSlabMetadata) == true, let counts = image.word(at: first &+ Self.countsOffset)
    else { return false }
    return counts >> 32 == 0
  }

  /// Returns the task that a timer resumes. The context of the timer's source is a record at `address`, and `slab` is
  /// the block that contains the record.
  ///
  /// A sleep with a tolerance uses a dispatch source. The source's context is a record among the task's frames, with
  /// the addresses of the source and the task. For a sleep without a tolerance, the timer's context is the task itself.
  /// Source: swiftlang/swift, stdlib/public/Concurrency/DispatchGlobalExecutor.cpp; seen with Swift 6.3.1.
  func task(ofTimerRecordAt address: UInt64, in slab: BlockID) -> UInt32? {
    guard let task = taskOfSlab[slab.rawValue], image.word(at: address &+ 8) == heap[BlockID(task)].address,
      let source = image.word(at: address),
      let found = heap.block(containing: source), heap[found].address == source
    else { return nil }
    return task
  }

  /// Returns the words after the last frame of a suspended inner task, by block. `record` is the record of the task's
  /// wait. The record is the task's last allocation, so the frames end with the record.
  func unused(behind record: Range<UInt64>) -> [(block: UInt32, words: Range<UInt64>)] {
    guard let slab = image.word(at: record.lowerBound &- Self.allocationHeaderSize &+ Self.slabOffset),
      slab < record.lowerBound, image.word(at: slab).map(isSlabMetadata) == true,
      let found = heap.block(containing: slab),
      let counts = image.word(at: slab &+ Self.countsOffset)
    else { return [] }
    let (capacity, used) = (counts & 0xFFFF_FFFF, counts >> 32)
    let (start, end) = (slab &+ Self.headerSize, heap[found].address &+ heap[found].size)
    guard start < end, used < capacity, capacity <= end - start, start + used == record.upperBound else { return [] }
    return [(found.rawValue, record.upperBound..<start + capacity)]
  }

  private func slab(at address: UInt64, of task: BlockID, _ isPlain: (BlockID) -> Bool) -> Slab? {
    guard address & 15 == 0, let block = heap.block(containing: address), let metadata = image.word(at: address),
      isSlabMetadata(metadata)
    else { return nil }
    if block != task {
      guard heap[block].address == address, heap[block].size >= Self.minSlabSize, isPlain(block) else { return nil }
    }
    let room = heap[block].address + heap[block].size - address
    var counts: (capacity: UInt64, used: UInt64)?
    if let word = image.word(at: address &+ Self.countsOffset) {
      let (capacity, used) = (word & 0xFFFF_FFFF, word >> 32)
      if used <= capacity, used % 16 == 0, room >= Self.headerSize, capacity <= room - Self.headerSize {
        counts = (capacity, used)
      }
    }
    return Slab(start: address, block: block, counts: counts, next: image.word(at: address &+ Self.nextOffset))
  }

  /// Marks the unused words of a task's slabs. Slabs after the slab of the last allocation are empty. If any word
  /// contradicts this, all slabs count as in use.
  private mutating func markUnused(_ slabs: [Slab], lastAllocation: UInt64?, isKnownPlace: Bool) {
    var inUse = 0
    if let lastAllocation {
      guard let slab = image.word(at: lastAllocation &+ Self.slabOffset),
        let index = slabs.firstIndex(where: { $0.start == slab }),
        lastAllocation >= slab &+ Self.headerSize
      else { return }
      if let used = slabs[index].counts?.used,
        lastAllocation - slab - Self.headerSize + Self.allocationHeaderSize > used
      {
        return
      }
      inUse = index + 1
    }
    if slabs[inUse...].contains(where: { $0.counts.map { $0.used > 0 } ?? false }) { return }
    // No frame is allocated, for example in a task that has not begun. This is certain only if the allocator is at its
    // known offset, or if a slab has counts.
    if inUse == 0, !isKnownPlace, !slabs.contains(where: { $0.counts != nil }) { return }
    for (index, slab) in slabs.enumerated() {
      let block = heap[slab.block]
      let used = index < inUse ? slab.counts?.used : 0
      guard let used else { continue }
      // The slab extends to the end of its block, even in a task's own block: stdlib/public/Concurrency/Task.cpp.
      let end = block.address + block.size
      let start = slab.start + Self.headerSize + used
      if start < end { unused[slab.block.rawValue] = start..<end }
    }
  }
}
