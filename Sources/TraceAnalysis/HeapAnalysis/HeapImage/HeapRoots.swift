// Roots: memory that is in use without a reference to it. Reachability begins at the roots.

import CHeapScan
import PlatformRules
import TextWriting
import TraceReading
import TraceSymbolication

/// A piece of memory whose words keep their targets in use.
package struct HeapRoot: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Variables of a loaded image (executable or library). `image` is an index into `HeapRoots.images`.
    case global(image: Int)
    /// A thread's stack from its stack pointer up. `thread` is an index into the snapshot's threads.
    case stack(thread: Int)
    case registers(thread: Int)
    case threadLocal(thread: Int)
    /// Memory that the program or the loader mapped directly.
    case mapping
    /// Memory of the allocator between known blocks, if calls are missing from the trace. The memory may contain blocks
    /// that are in use.
    case unseen
  }

  package var kind: Kind
  package var ranges: [Range<UInt64>]
  /// The values of registers; empty for other kinds.
  package var values: [UInt64] = []
  /// True if pointers into the middle of a block keep the block in use. False for the C library's variables: they
  /// include the allocator's own pointers, which may point into blocks.
  var acceptsInterior = true
  /// True for a pool thread between two work items: it has just finished one, or is about to begin one. The thread may
  /// hold a work item, but uses no object. So its words do not keep an object if other references account for the
  /// object's whole reference count. They do not keep a task that another block holds strongly.
  var isBetweenWork = false
  /// True for a thread between two work items that is in no function of the Swift runtime. A finished task is no work
  /// item, so the thread's words do not keep one.
  var isOutsideRuntime = false

  /// Returns whether this is the stack or the registers of a thread that may be in any function of the program. False
  /// for the thread that exits the process: all its functions except the outermost have returned, so its stack holds
  /// old words.
  package func isOfRunningThread(in snapshot: TraceSnapshot) -> Bool {
    switch kind {
    case .stack(let thread), .registers(let thread): snapshot.reason != .exit || !snapshot.threads[thread].isSelf
    default: false
    }
  }
}

/// The library that owns the code at an address. The owners of a thread's active functions show whether the thread
/// waits for work.
package enum WaitingCode: Sendable {
  /// The thread pool of libdispatch.
  case pool
  /// The C library and the loader. Every thread begins there, and every wait is a call into the C library.
  case cLibrary
  /// The Swift runtime. A thread enters it between one function of a task and the next.
  case runtime
  case other
}

/// The roots of one snapshot.
package struct HeapRoots: Sendable {
  package let roots: [HeapRoot]
  /// The executable and the libraries that were loaded when the snapshot was taken.
  package let images: [LoadedImage]
  /// The image at each address. One image may lie in a gap of another one: the kernel puts its own image (vDSO) into
  /// the loader's gap on arm64.
  private let places: AddressMap

  private static let imagesWithoutInteriorPointers = RuleBook.shipped.table(.keepsBeginnings, by: .image)

  /// - Parameters:
  ///   - gaps: the calls that are missing from the trace.
  ///   - waitingCode: returns the owner of the code at an address in a loaded image.
  ///   - frames: returns the code addresses of a thread's functions, as `ThreadFrames.addresses` does.
  ///
  /// Linear in the regions and their pages.
  package init(
    _ snapshot: TraceSnapshot, images: [LoadedImage], heap: LiveHeap, image: HeapImage, gaps: TraceGaps = .none,
    waitingCode: @escaping (UInt64, LoadedImage) -> WaitingCode = { _, _ in .other },
    frames: (SnapshotThread) -> [UInt64]? = { _ in nil }
  ) {
    self.images = images.sorted { $0.range.lowerBound < $1.range.lowerBound }
    var roots: [HeapRoot] = []
    // Cut the ranges so that no two roots of a kind share memory, even in a corrupt trace. This limits how often each
    // word is read.
    let imagePlaces = AddressMap(
      self.images.enumerated().map {
        AddressMap.Entry(
          start: $0.element.range.lowerBound.rawValue, end: $0.element.range.upperBound.rawValue, value: $0.offset)
      })
    let imageParts = imagePlaces.parts
    let rangesOfImages = Dictionary(grouping: imageParts, by: \.value)
    places = imagePlaces
    for (index, one) in self.images.enumerated() {
      let name = fileName(ofPath: one.path)
      if name.hasPrefix("libleaktrace") { continue }
      roots.append(
        HeapRoot(
          kind: .global(image: index), ranges: rangesOfImages[index, default: []].map(\.range),
          acceptsInterior: !Self.imagesWithoutInteriorPointers.matches(name)))
    }
    let regions = snapshot.regions
    var stackRegions: Set<UInt64> = []
    let loaded = self.images
    let code: (UInt64) -> WaitingCode = { address in
      imagePlaces.value(at: address).map { waitingCode(address, loaded[$0]) } ?? .other
    }
    let threadBlocks = ThreadBlocks(snapshot, image: image)
    let placesOfThreads = snapshot.threads.map { Self.places(of: $0, in: snapshot, threadBlocks) }
    let stacks = Self.cutWhereTheyMeet(placesOfThreads.map { $0.stack ?? 0..<0 })
    let threadLocals = Self.cutWhereTheyMeet(placesOfThreads.map { $0.threadLocal ?? 0..<0 })
    for (index, thread) in snapshot.threads.enumerated() {
      if let pointer = thread.stackPointer, let region = placesOfThreads[index].stackRegion {
        stackRegions.insert(region.range.lowerBound)
        let stack = stacks[index]
        let lowest = max(stack.lowerBound, min(pointer, stack.upperBound))
        let mayBeOfPool = !thread.isSelf && region.kind != .mainStack
        let isIdle =
          mayBeOfPool && thread.isWaiting && code(thread.instructionPointer) == .cLibrary
          && Self.isIdle(
            thread, lowest..<min(stack.upperBound, max(lowest, threadBlocks.stackStart(thread.threadPointer))), image,
            regions, code, frames)
        if !isIdle {
          let active = mayBeOfPool ? frames(thread) ?? [] : []
          let isBetweenWork = Self.isOfPool(active, code, allowed: [.pool, .cLibrary, .runtime])
          let isOutsideRuntime = Self.isOfPool(active, code, allowed: [.pool, .cLibrary])
          roots.append(
            HeapRoot(
              kind: .stack(thread: index), ranges: [stack], isBetweenWork: isBetweenWork,
              isOutsideRuntime: isOutsideRuntime))
          roots.append(
            HeapRoot(
              kind: .registers(thread: index), ranges: [], values: thread.registers, isBetweenWork: isBetweenWork,
              isOutsideRuntime: isOutsideRuntime))
        }
      }
      if placesOfThreads[index].threadLocal != nil {
        roots.append(HeapRoot(kind: .threadLocal(thread: index), ranges: [threadLocals[index]]))
      }
    }
    // Several threads may have their stacks in one mapping of the program. The program owns the memory above the last
    // stack.
    var stackEnds: [UInt64: UInt64] = [:]
    for (thread, place) in zip(snapshot.threads, placesOfThreads) {
      guard let region = place.stackRegion, stackRegions.contains(region.range.lowerBound) else { continue }
      let isOnIt = thread.threadPointer > (thread.stackPointer ?? .max) && region.range.contains(thread.threadPointer)
      let end = isOnIt ? threadBlocks.stackEnd(thread.threadPointer) : region.range.upperBound
      stackEnds[region.range.lowerBound] = max(stackEnds[region.range.lowerBound] ?? 0, end)
    }
    var mappings = OwnMappings(
      heap: heap, image: image, imageRanges: imageParts.map(\.range),
      controlBlocks: Set(snapshot.threads.map(\.threadPointer)), threadBlocks: threadBlocks,
      isFrozen: snapshot.isFrozen)
    var mapped: [Range<UInt64>] = []
    var unseen: [Range<UInt64>] = []
    for region in regions where region.isCaptured && region.isWritable {
      let stackEnd = stackEnds[region.range.lowerBound]
      switch region.kind {
      case .anonymous, .shared: break
      case .programBreak where gaps.hideAllocations: break
      case .mainStack where !snapshot.isFrozen && stackEnd == nil:
        mapped.append(region.range)
        continue
      default: continue
      }
      if gaps.hideAllocations, stackEnd == nil {
        let isArena = OwnMappings.isArena(at: region.range.lowerBound, image)
        let first = heap.lowerBound(region.range.lowerBound)
        let hasBlocks = first < heap.count && heap.blocks[first].address < region.range.upperBound
        if hasBlocks || region.kind == .programBreak || isArena {
          if !Self.touches(region.range, mappings.imageRanges) {
            let own =
              region.kind == .programBreak
              ? Self.threadCacheSize : isArena ? Self.arenaStateSize + Self.threadCacheSize : 0
            Self.addPartsWithoutBlocks(of: region.range, ownBytes: own, heap, from: first, to: &unseen)
          }
          continue
        }
      }
      mapped += mappings.parts(of: region, above: stackEnd)
    }
    if !mapped.isEmpty { roots.append(HeapRoot(kind: .mapping, ranges: mapped)) }
    if gaps.hideAllocations { roots.append(HeapRoot(kind: .unseen, ranges: unseen, acceptsInterior: false)) }
    self.roots = roots
  }

  /// Sizes in bytes of a thread's cache and of an arena's state, which are at the beginning of the allocator's memory.
  /// Both list only freed blocks, and refer to no block in use. Seen with glibc 2.36.
  private static let threadCacheSize = lt_glibc_first_cache_bytes()
  private static let arenaStateSize = lt_glibc_arena_state_bytes()

  /// Adds the memory between blocks. `first`: the index of the first block in the range. `ownBytes`: the size of the
  /// allocator's own data at the beginning of the range.
  private static func addPartsWithoutBlocks(
    of range: Range<UInt64>, ownBytes: UInt64, _ heap: LiveHeap, from first: Int, to parts: inout [Range<UInt64>]
  ) {
    var start = range.lowerBound + min(ownBytes, range.upperBound - range.lowerBound)
    // The block before the range may extend into it.
    if first > 0 { start = max(start, heap.blocks[first - 1].address + heap.blocks[first - 1].size) }
    var index = first
    while index < heap.count, heap.blocks[index].address < range.upperBound {
      let block = heap.blocks[index]
      if start < block.address { parts.append(start..<block.address) }
      start = max(start, block.address + block.size)
      index += 1
    }
    if start < range.upperBound { parts.append(start..<range.upperBound) }
  }

  /// Calls `body` with each word in the stacks, registers and thread-local variables of all threads. Linear in these
  /// words.
  package func forEachWordOfThreads(in image: HeapImage, _ body: (UInt64) -> Void) {
    for root in roots {
      switch root.kind {
      case .stack, .registers, .threadLocal: break
      case .global, .mapping, .unseen: continue
      }
      root.values.forEach(body)
      for range in root.ranges { image.forEachWord(in: range) { body($1) } }
    }
  }

  /// Returns whether an address lies in a loaded image.
  package func isImage(_ address: UInt64) -> Bool { image(at: address) != nil }

  /// Returns the loaded image at an address. O(log images)
  package func image(at address: UInt64) -> LoadedImage? { places.value(at: address).map { images[$0] } }

  /// Returns the address ranges of a thread's stack and of its thread-local variables.
  private static func places(
    of thread: SnapshotThread, in snapshot: TraceSnapshot, _ threadBlocks: ThreadBlocks
  ) -> (stackRegion: MemoryRegion?, stack: Range<UInt64>?, threadLocal: Range<UInt64>?) {
    let regions = snapshot.regions
    var stackRegion: MemoryRegion?
    var stack: Range<UInt64>?
    if let pointer = thread.stackPointer, let found = region(at: pointer, regions) {
      stackRegion = found
      var end = found.range.upperBound
      // Another mapping may follow directly above a thread's control block.
      if found.kind != .mainStack, thread.threadPointer > pointer, thread.threadPointer < end {
        end = min(end, threadBlocks.end(thread.threadPointer))
      }
      let redZone = min(pointer - found.range.lowerBound, thread.isSelf || snapshot.isArm64 ? 0 : 128)
      stack = pointer - redZone..<end
    }
    var threadLocal: Range<UInt64>?
    if thread.threadPointer != 0, let found = region(at: thread.threadPointer, regions) {
      threadLocal = threadBlocks.range(threadPointer: thread.threadPointer, in: found.range)
    }
    return (stackRegion, stack, threadLocal)
  }

  /// Returns the same ranges, each cut where the next range begins. O(n log n).
  private static func cutWhereTheyMeet(_ ranges: [Range<UInt64>]) -> [Range<UInt64>] {
    var result = ranges
    var last: Int?
    for index in ranges.indices.filter({ !ranges[$0].isEmpty }).sorted(by: {
      ranges[$0].lowerBound < ranges[$1].lowerBound
    }) {
      if let last, result[last].upperBound > ranges[index].lowerBound {
        result[last] = result[last].lowerBound..<ranges[index].lowerBound
      }
      last = index
    }
    return result
  }

  /// Returns whether a range overlaps one of `others`, which are disjoint and in order of address. Logarithmic.
  private static func touches(_ range: Range<UInt64>, _ others: [Range<UInt64>]) -> Bool {
    var low = 0
    var high = others.count
    while low < high {
      let middle = (low + high) / 2
      if others[middle].upperBound <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    return low < others.count && others[low].lowerBound < range.upperBound
  }

  /// Returns whether a thread waits for work in a pool. Such a thread runs no code of the program, so the words on its
  /// stack are left over from its last work item.
  ///
  /// An idle thread sleeps in a call of the C library. All its other active functions belong to the pool or to the C
  /// library. If the innermost function is outside the C library, the thread is not idle: its registers may hold work
  /// that its stack does not show.
  ///
  /// If the stack cannot be unwound, every word on it that looks like a return address counts as a caller. An old
  /// return address may then make an idle thread look busy.
  private static func isIdle(
    _ thread: SnapshotThread, _ range: Range<UInt64>, _ image: HeapImage, _ regions: [MemoryRegion],
    _ code: (UInt64) -> WaitingCode,
    _ frames: (SnapshotThread) -> [UInt64]?
  ) -> Bool {
    guard range.upperBound - range.lowerBound < idleStackLimit else { return false }
    if let addresses = frames(thread) { return isOfPool(addresses, code, allowed: [.pool, .cLibrary]) }
    var isOfPool = false
    var isIdle = true
    image.forEachWord(in: range) { _, value in
      guard isIdle, let region = Self.region(at: value, regions), region.isExecutable else { return }
      switch code(value) {
      case .pool: isOfPool = true
      case .cLibrary: break
      case .runtime, .other: isIdle = false
      }
    }
    return isOfPool && isIdle
  }

  /// Returns whether a thread's active functions include a function of a pool, and every function's owner is in
  /// `allowed`.
  private static func isOfPool(
    _ addresses: [UInt64], _ code: (UInt64) -> WaitingCode, allowed: Set<WaitingCode>
  ) -> Bool {
    let codes = Set(addresses.map(code))
    return codes.contains(.pool) && codes.isSubset(of: allowed)
  }

  /// Maximum stack size of an idle thread, in bytes. The frames from a pool's start routine to its wait take a few
  /// hundred bytes. The thread that waits for events also has a buffer for events.
  private static let idleStackLimit: UInt64 = 16 << 10

  private static func region(at address: UInt64, _ regions: [MemoryRegion]) -> MemoryRegion? {
    var low = 0
    var high = regions.count
    while low < high {
      let middle = (low + high) / 2
      if regions[middle].range.upperBound <= address { low = middle + 1 } else { high = middle }
    }
    return low < regions.count && regions[low].range.contains(address) ? regions[low] : nil
  }
}
