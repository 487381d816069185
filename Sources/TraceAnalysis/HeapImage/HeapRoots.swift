// Where reachability begins: the memory that is in use for its own sake.

/// A piece of memory whose words keep alive what they point to.
public struct HeapRoot: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    /// Variables of an image: index into `HeapRoots.images`.
    case global(image: Int)
    /// A thread's stack from its stack pointer up: index into the snapshot's threads.
    case stack(thread: Int)
    case registers(thread: Int)
    case threadLocal(thread: Int)
    /// Memory that the program mapped itself, or the loader.
    case mapping
  }

  public var kind: Kind
  public var ranges: [Range<UInt64>]
  /// For registers.
  public var values: [UInt64] = []
  /// A pointer into the middle of a block counts. Not so in the C library's own variables: the allocator's point close to blocks.
  public var acceptsInterior = true
}

/// The roots of one snapshot.
public struct HeapRoots: Sendable {
  public let roots: [HeapRoot]
  /// Images that were loaded when the snapshot was taken.
  public let images: [LoadedImage]

  /// - Parameter isWaitingCode: whether a code address belongs to functions in which threads of a pool wait.
  ///
  /// Linear in the regions and their pages.
  public init(
    _ snapshot: TraceSnapshot, images: [LoadedImage], heap: LiveHeap, image: HeapImage, isWaitingCode: @escaping (UInt64, LoadedImage) -> Bool = { _, _ in false }
  ) {
    self.images = images.sorted { $0.range.lowerBound < $1.range.lowerBound }
    var roots: [HeapRoot] = []
    for (index, one) in self.images.enumerated() {
      let name = fileName(ofPath: one.path)
      if name.hasPrefix("libleaktrace") { continue }
      roots.append(
        HeapRoot(
          kind: .global(image: index), ranges: [one.range.lowerBound.rawValue..<one.range.upperBound.rawValue],
          acceptsInterior: !(name.hasPrefix("libc.") || name.hasPrefix("libc-2") || name.hasPrefix("ld-linux") || name.hasPrefix("ld-2"))))
    }
    let regions = snapshot.regions
    func region(at address: UInt64) -> MemoryRegion? { Self.region(at: address, regions) }
    var stackRegions: Set<UInt64> = []
    let loaded = self.images
    let isWaiting: (UInt64) -> Bool = { address in
      guard let index = loaded.lastIndex(where: { $0.range.lowerBound.rawValue <= address }), loaded[index].range.contains(RuntimeAddress(address)) else {
        return false
      }
      return isWaitingCode(address, loaded[index])
    }
    let controlBlockSize: UInt64 = 4096
    for (index, thread) in snapshot.threads.enumerated() {
      if let pointer = thread.stackPointer, let found = region(at: pointer) {
        stackRegions.insert(found.range.lowerBound)
        var end = found.range.upperBound
        // Above a thread's control block another mapping may follow without a gap.
        if found.kind != .mainStack, thread.threadPointer > pointer, thread.threadPointer < end { end = min(end, thread.threadPointer + controlBlockSize) }
        let isIdle =
          !thread.isSelf && found.kind != .mainStack
          && Self.isIdle(pointer..<min(end, max(pointer, thread.threadPointer)), image, regions, isWaiting)
        if !isIdle {
          roots.append(HeapRoot(kind: .stack(thread: index), ranges: [max(found.range.lowerBound, pointer &- (thread.isSelf ? 0 : 128))..<end]))
          roots.append(HeapRoot(kind: .registers(thread: index), ranges: [], values: thread.registers))
        }
      }
      if thread.threadPointer != 0, let found = region(at: thread.threadPointer) {
        let size = min(snapshot.staticTLSSize, thread.threadPointer - found.range.lowerBound)
        roots.append(
          HeapRoot(
            kind: .threadLocal(thread: index),
            ranges: [thread.threadPointer - size..<min(found.range.upperBound, thread.threadPointer + controlBlockSize)]))
      }
    }
    let controlBlocks = Set(snapshot.threads.map(\.threadPointer))
    var mapped: [Range<UInt64>] = []
    for region in regions where region.isCaptured && region.isWritable {
      switch region.kind {
      case .anonymous, .shared: break
      case .mainStack where !snapshot.isFrozen && !stackRegions.contains(region.range.lowerBound): break
      default: continue
      }
      if stackRegions.contains(region.range.lowerBound) { continue }
      if self.images.contains(where: { $0.range.lowerBound.rawValue < region.range.upperBound && region.range.lowerBound < $0.range.upperBound.rawValue }) {
        continue
      }
      let first = heap.lowerBound(region.range.lowerBound)
      if first < heap.count, heap.blocks[first].address < region.range.upperBound { continue }
      if Self.isArena(region, image) { continue }
      if snapshot.isFrozen, Self.isLeftStack(region, image, controlBlocks) { continue }
      mapped.append(region.range)
    }
    if !mapped.isEmpty { roots.append(HeapRoot(kind: .mapping, ranges: mapped)) }
    self.roots = roots
  }

  /// Whether an address lies in an image.
  func isImage(_ address: UInt64) -> Bool { image(at: address) != nil }

  func image(at address: UInt64) -> LoadedImage? {
    var low = 0
    var high = images.count
    while low < high {
      let middle = (low + high) / 2
      if images[middle].range.upperBound.rawValue <= address { low = middle + 1 } else { high = middle }
    }
    return low < images.count && images[low].range.contains(RuntimeAddress(address)) ? images[low] : nil
  }

  /// A thread that waits for work in a pool runs nobody's code: the words on its stack are what its last work left behind. All code that its
  /// stack leads back to is the pool's, the C library's or the runtime's way of waiting.
  private static func isIdle(_ range: Range<UInt64>, _ image: HeapImage, _ regions: [MemoryRegion], _ isWaitingCode: (UInt64) -> Bool) -> Bool {
    guard range.count < 16 << 10 else { return false }
    var hasCode = false
    var isIdle = true
    image.forEachWord(in: range) { _, value in
      guard isIdle, let region = Self.region(at: value, regions), region.isExecutable else { return }
      hasCode = true
      if !isWaitingCode(value) { isIdle = false }
    }
    return hasCode && isIdle
  }

  private static func region(at address: UInt64, _ regions: [MemoryRegion]) -> MemoryRegion? {
    var low = 0
    var high = regions.count
    while low < high {
      let middle = (low + high) / 2
      if regions[middle].range.upperBound <= address { low = middle + 1 } else { high = middle }
    }
    return low < regions.count && regions[low].range.contains(address) ? regions[low] : nil
  }

  /// glibc's further arenas begin at multiples of 64 MiB with a pointer to their state, which follows at once in the first of a chain.
  private static func isArena(_ region: MemoryRegion, _ image: HeapImage) -> Bool {
    let size: UInt64 = 64 << 20
    guard region.range.lowerBound % size == 0, let state = image.word(at: region.range.lowerBound) else { return false }
    return state % size < 256
  }

  /// The stack of a thread that has ended: the C library keeps some for new threads. At its top stands a control block, which points to
  /// itself twice, and no thread has it.
  private static func isLeftStack(_ region: MemoryRegion, _ image: HeapImage, _ controlBlocks: Set<UInt64>) -> Bool {
    let low = max(region.range.lowerBound, region.range.upperBound &- (64 << 10))
    var found = false
    image.forEachWord(in: low..<region.range.upperBound) { address, value in
      if value == address, image.word(at: address + 16) == address, !controlBlocks.contains(address) { found = true }
    }
    return found
  }
}
