import Testing
import TraceTestSupport

@testable import HeapAnalysis
@testable import TraceReading

@Suite struct HeapRootsTests {
  private let base: UInt64 = 0x7000_0000_0000

  private func block(_ address: UInt64, _ size: UInt64) -> LiveBlock {
    LiveBlock(address: address, size: size, birthTime: 0, site: SiteID(0))
  }

  private func image(_ path: String, _ range: Range<UInt64>) -> LoadedImage {
    LoadedImage(
      path: path, buildID: [], loadBias: range.lowerBound,
      range: RuntimeAddress(range.lowerBound)..<RuntimeAddress(range.upperBound))
  }

  private func roots(
    _ regions: [MemoryRegion], threads: [SnapshotThread] = [], images: [LoadedImage] = [], blocks: [LiveBlock] = [],
    words: [(address: UInt64, value: UInt64)] = [],
    isFrozen: Bool = true, isArm64: Bool = false, tls: UInt64 = 256, pageSize: UInt64 = 4096,
    code: @escaping (UInt64, LoadedImage) -> WaitingCode = { _, _ in .other },
    frames: [UInt64]? = nil
  ) -> HeapRoots {
    var snapshot = TraceSnapshot(time: 8, isFrozen: isFrozen, staticTLSSize: tls, threads: threads, regions: regions)
    snapshot.isArm64 = isArm64
    return HeapRoots(
      snapshot, images: images,
      heap: LiveHeap(blocks), image: HeapImage(words: words, kernelPageSize: pageSize),
      waitingCode: code, frames: { _ in frames })
  }

  private func ranges(_ roots: HeapRoots, _ isWanted: (HeapRoot.Kind) -> Bool) -> [Range<UInt64>] {
    roots.roots.filter { isWanted($0.kind) }.flatMap(\.ranges)
  }
  private func mappings(_ roots: HeapRoots) -> [Range<UInt64>] { ranges(roots) { $0 == .mapping } }
  private func stacks(_ roots: HeapRoots) -> [Range<UInt64>] {
    ranges(roots) { if case .stack = $0 { true } else { false } }
  }
  private func threadLocals(_ roots: HeapRoots) -> [Range<UInt64>] {
    ranges(roots) { if case .threadLocal = $0 { true } else { false } }
  }

  private func region(_ start: UInt64, _ size: UInt64, _ kind: MemoryRegion.Kind = .anonymous) -> MemoryRegion {
    MemoryRegion(range: start..<start + size, kind: kind)
  }

  @Test func onlyMemoryMappedByTheProgramIsAMapping() {
    var readOnly = region(0x1_0000, 0x1000)
    readOnly.isWritable = false
    var outside = region(0x2_0000, 0x1000)
    outside.isCaptured = false
    let withBlocks = region(0x3_0000, 0x1000)
    let ofImage = region(0x4_0000, 0x1000)
    let own = region(0x5_0000, 0x1000)
    let shared = region(0x6_0000, 0x1000, .shared)
    let others = [
      region(0x7_0000, 0x1000, .file), region(0x8_0000, 0x1000, .programBreak), region(0x9_0000, 0x1000, .recorder),
      region(0xA_0000, 0x1000, .mainStack),
    ]
    let found = roots(
      [readOnly, outside, withBlocks, ofImage, own, shared] + others, images: [image("/bin/app", 0x3_F800..<0x4_1000)],
      blocks: [block(0x3_0FF0, 16)])
    #expect(mappings(found) == [own.range, shared.range])
  }

  @Test func imageInTheGapOfAnotherOneHidesNoVariables() {
    let loader = image("/lib/ld-linux-aarch64.so.1", base..<base + 0x4_1000)
    let kernel = image("linux-vdso.so.1", base + 0x3_0000..<base + 0x3_1000)
    let found = roots([region(base, 0x5_0000, .file)], images: [loader, kernel])
    let globals = found.roots.map(\.ranges)
    #expect(
      globals == [[base..<base + 0x3_0000, base + 0x3_1000..<base + 0x4_1000], [base + 0x3_0000..<base + 0x3_1000]])
    #expect(found.image(at: base + 0x4_0000) == loader && found.image(at: base + 0x3_0800) == kernel)
    #expect(found.image(at: base + 0x4_1000) == nil && found.isImage(base))
  }

  @Test func allocatorArenasAreNotRoots() {
    let size: UInt64 = 64 << 20
    let arena = region(size * 100, 0x1000)
    let own = region(size * 101, 0x1000)
    // The first region's word points to its state nearby, as in an arena. The second region's word points elsewhere.
    let found = roots([arena, own], words: [(size * 100, size * 100 + 0x30), (size * 101, size * 101 + 0x300)])
    #expect(mappings(found) == [own.range])
  }

  @Test func onlyTheThreadVariableTableOfAnEndedThreadsStackIsARoot() {
    let left = region(base, 0x2_0000)
    let block = base + 0x1_F000
    let words: [(address: UInt64, value: UInt64)] = [(block, block), (block + 16, block)]
    #expect(mappings(roots([left], words: words)) == [block + 8..<block + 16])
    // The region ends before the table's address.
    let cut = MemoryRegion(range: base..<block + 16, kind: .anonymous)
    #expect(mappings(roots([cut], words: words)) == [cut.range])
    // The control block belongs to a thread that still exists.
    let thread = SnapshotThread(osThread: 1, stackPointer: nil, threadPointer: block)
    #expect(mappings(roots([left], threads: [thread], words: words)) == [left.range])
    // If threads were not stopped, a stack in use looks the same.
    #expect(mappings(roots([left], words: words, isFrozen: false)) == [left.range])
  }

  /// Since glibc 2.42, no guard pages separate the stacks of threads.
  @Test func regionMayContainSeveralStacksOfEndedThreads() {
    let joined = region(base, 0x8_0000)
    func stack(_ start: UInt64, _ size: UInt64, hasFields: Bool = true) -> [(address: UInt64, value: UInt64)] {
      let block = start + size - 0x940
      return [(block, block), (block + 16, block)] + (hasFields ? [(block + 0x690, start), (block + 0x698, size)] : [])
    }
    func table(_ start: UInt64, _ size: UInt64) -> Range<UInt64> { start + size - 0x938..<start + size - 0x930 }
    // A mapping of the program is between the second stack and the third.
    let words = stack(base, 0x2_0000) + stack(base + 0x2_0000, 0x2_0000) + stack(base + 0x6_0000, 0x2_0000)
    let tables = [table(base, 0x2_0000), table(base + 0x2_0000, 0x2_0000), table(base + 0x6_0000, 0x2_0000)]
    #expect(
      mappings(roots([joined], words: words)) == [tables[0], tables[1], base + 0x4_0000..<base + 0x6_0000, tables[2]])
    // The first stack now belongs to a thread. The memory above the last control block is the program's.
    let block = base + 0x2_0000 - 0x940
    let thread = SnapshotThread(osThread: 1, stackPointer: base + 0x1_0000, threadPointer: block)
    let found = roots([joined], threads: [thread], words: words)
    #expect(mappings(found) == [tables[1], base + 0x4_0000..<base + 0x6_0000, tables[2]])
    // If a stack's address is unknown, its memory counts as the program's.
    let unknown = stack(base, 0x2_0000) + stack(base + 0x6_0000, 0x2_0000, hasFields: false)
    #expect(mappings(roots([joined], words: unknown)) == [tables[0], base + 0x2_0000..<base + 0x8_0000])
  }

  /// glibc rounds a large block up to whole pages of the kernel. The last page belongs to the block.
  @Test(arguments: [0x4000, 0x1_0000] as [UInt64])
  func largeBlocksTakeWholePagesOfTheKernel(pageSize: UInt64) {
    let large = region(base, 0x20_0000)
    let blocks = [block(base + 0x2_0010, 0x2_0000), block(base + 0xA_0010, pageSize * 8 - 16)]
    #expect(
      mappings(roots([large], blocks: blocks, pageSize: pageSize)) == [
        base..<base + 0x2_0000, base + 0x4_0000 + pageSize..<base + 0xA_0000,
        base + 0xA_0000 + pageSize * 8..<base + 0x20_0000,
      ])
    // No mapped block has its header in the middle of a page.
    let inside = [block(base + 0x2_1010, 0x2_0000)]
    #expect(mappings(roots([large], blocks: inside, pageSize: pageSize)).isEmpty)
  }

  @Test(arguments: [0x1000, 0x4000, 0x1_0000] as [UInt64])
  func stackOfAnExitedThreadEndsWithAPageOfTheKernel(pageSize: UInt64) {
    // The control block takes the end of a page. Mappings of the program follow.
    let left = region(base, 0x20_0000)
    let controlBlock = base + 0xF_0000 + pageSize - 0x900
    let stack = (base + 0x1_0000, 0xE_0000 + pageSize)
    let words: [(address: UInt64, value: UInt64)] = [
      (controlBlock, controlBlock), (controlBlock + 16, controlBlock), (controlBlock + 0x690, stack.0),
      (controlBlock + 0x698, stack.1), (base + 0x1F_F000, 1),
    ]
    let end = region(base, 0xF_0000 + pageSize)
    #expect(
      mappings(roots([end], words: words, pageSize: pageSize)) == [
        base..<base + 0x1_0000, controlBlock + 8..<controlBlock + 16,
      ])
    // The thread still exists, so its stack ends with its last page.
    let thread = SnapshotThread(osThread: 1, stackPointer: base + 0x8_0000, threadPointer: controlBlock)
    #expect(
      mappings(roots([left], threads: [thread], words: words, pageSize: pageSize)) == [
        base + 0xF_0000 + pageSize..<base + 0x20_0000
      ])
  }

  @Test func mappingsMergedByTheKernelAreRoots() {
    // The mapping was joined to a library's data, whose variables end within the region.
    let joined = region(base, 0x5000)
    #expect(
      mappings(roots([joined], images: [image("/lib/a.so", base - 0x1000..<base + 0x2F00)])) == [
        base + 0x2F00..<base + 0x5000
      ])
    // The mapping was joined to the stack of a thread that has exited.
    let left = region(base, 0x8000)
    let block = base + 0x3740
    let words: [(address: UInt64, value: UInt64)] = [(block, block), (block + 16, block)]
    #expect(mappings(roots([left], words: words)) == [block + 8..<block + 16, base + 0x5000..<base + 0x8000])
    // The mapping was joined to large blocks of the allocator.
    let large = region(base, 0x10_0000)
    let blocks = [self.block(base + 0x2_0010, 0x1_FFF0), self.block(base + 0x6_0010, 0x2_0000)]
    #expect(
      mappings(roots([large], blocks: blocks)) == [
        base..<base + 0x2_0000, base + 0x4_0000..<base + 0x6_0000, base + 0x8_1000..<base + 0x10_0000,
      ])
    // The memory between small blocks is the allocator's own.
    let small = [self.block(base + 0x2_0010, 0x100), self.block(base + 0x6_0010, 0x2_0000)]
    #expect(mappings(roots([large], blocks: small)).isEmpty)
    // A large block of another allocator starts at the start of a page.
    #expect(mappings(roots([large], blocks: [self.block(base + 0x2_0000, 0x2_0000)])).isEmpty)
    // The mapping was joined to an arena, below the arena.
    let arena: UInt64 = (64 << 20) * 100
    let below = region(arena - 0x4000, 0x1_4000)
    #expect(
      mappings(roots([below], blocks: [self.block(arena + 0x1000, 64)], words: [(arena, arena + 0x30)])) == [
        arena - 0x4000..<arena
      ])
  }

  @Test func stacksSpanFromTheRedZoneToTheControlBlock() {
    let stack = region(base, 0x10_0000)
    let thread = SnapshotThread(
      osThread: 1, stackPointer: base + 0x8000, threadPointer: base + 0x4_0000, registers: [1, 2])
    var found = roots([stack], threads: [thread])
    #expect(stacks(found) == [base + 0x8000 - 128..<base + 0x4_1000])
    #expect(threadLocals(found) == [base + 0x4_0000 - 256..<base + 0x4_1000])
    #expect(found.roots.first { $0.kind == .registers(thread: 0) }?.values == [1, 2])
    // Another mapping follows directly.
    #expect(mappings(found) == [base + 0x4_1000..<base + 0x10_0000])
    // The thread that took the snapshot no longer uses its red zone.
    var own = thread
    own.isSelf = true
    #expect(stacks(roots([stack], threads: [own])) == [base + 0x8000..<base + 0x4_1000])
    // The red zone does not extend below the region.
    var low = thread
    low.stackPointer = base + 16
    #expect(stacks(roots([stack], threads: [low])) == [base..<base + 0x4_1000])
    // The main thread's variables are not on its stack.
    var main = thread
    main.threadPointer = 0
    found = roots([region(base, 0x10_0000, .mainStack)], threads: [main])
    #expect(stacks(found) == [base + 0x8000 - 128..<base + 0x10_0000])
    #expect(threadLocals(found).isEmpty)
  }

  @Test func arm64HasVariablesAboveTheThreadPointerAndNoRedZone() {
    let stack = region(base, 0x10_0000)
    let thread = SnapshotThread(osThread: 1, stackPointer: base + 0x8000, threadPointer: base + 0x4_0000)
    let found = roots([stack], threads: [thread], isArm64: true)
    #expect(stacks(found) == [base + 0x8000..<base + 0x4_0100])
    #expect(threadLocals(found) == [base + 0x3_F000..<base + 0x4_0100])
    // The words of the thread's description show its size.
    let described = roots([stack], threads: [thread], words: description(at: base + 0x4_0000), isArm64: true)
    #expect(threadLocals(described) == [base + 0x4_0000 - 0x720..<base + 0x4_0100])
    // Without variables, two words are at the thread pointer.
    #expect(
      threadLocals(roots([stack], threads: [thread], isArm64: true, tls: 0)) == [base + 0x3_F000..<base + 0x4_0010])
    // A damaged trace may state any size.
    #expect(threadLocals(roots([stack], threads: [thread], isArm64: true, tls: .max)).count == 1)
    // Neither the space above the pointer nor the space below it extends beyond the region.
    var edge = thread
    edge.threadPointer = base + 0x10_0000 - 16
    edge.stackPointer = base + 0x10_0000 - 0x800
    #expect(threadLocals(roots([stack], threads: [edge], isArm64: true)) == [base + 0xF_EFF0..<base + 0x10_0000])
    edge.threadPointer = .max - 8
    #expect(threadLocals(roots([stack], threads: [edge], isArm64: true)).isEmpty)
  }

  /// The words of a thread's description on arm64 (glibc 2.41): its table of variables is at the thread pointer.
  private func description(at threadPointer: UInt64) -> [(address: UInt64, value: UInt64)] {
    let start = threadPointer - 0x720
    return [(start + 216, start + 224), (start + 224, start + 224), (threadPointer, base + 0x100)]
  }

  @Test func onlyTheThreadVariableTableOfAnEndedThreadsStackIsARootOnArm64() {
    let left = region(base, 0x2_0000)
    let own = region(base + 0x10_0000, 0x2_0000)
    let threadPointer = base + 0x1_F800
    let running = base + 0x11_F800
    let thread = SnapshotThread(osThread: 1, stackPointer: base + 0x11_0000, threadPointer: running)
    let words = description(at: threadPointer) + description(at: running)
    let found = roots([left, own], threads: [thread], words: words, isArm64: true)
    #expect(mappings(found) == [threadPointer..<threadPointer + 8])
    // Nothing shows the size of a description, so any memory may be the program's.
    let unknown = roots([left], words: description(at: threadPointer), isArm64: true)
    #expect(mappings(unknown) == [left.range])
  }

  // Addresses in the code of the C library, the runtime, the thread pool, and the program.
  private static let cLibrary: UInt64 = 0x10_0000
  private static let runtime: UInt64 = 0x12_0000
  private static let pool: UInt64 = 0x14_0000
  private static let program: UInt64 = 0x18_0000

  /// Returns the number of stacks that are roots, if one thread has these words on its stack.
  private func stackCount(
    _ words: [(address: UInt64, value: UInt64)], _ thread: SnapshotThread, frames: [UInt64]? = nil
  ) -> Int {
    let code = MemoryRegion(range: 0x10_0000..<0x20_0000, kind: .file, isWritable: false, isExecutable: true)
    let found = roots(
      [code, region(base, 0x1_0000)], threads: [thread], images: [image("/lib/all", 0x10_0000..<0x20_0000)],
      words: words,
      code: { address, _ in address < Self.pool ? .cLibrary : address < Self.program ? .pool : .other }, frames: frames)
    return stacks(found).count
  }

  private var idle: SnapshotThread {
    SnapshotThread(
      osThread: 1, stackPointer: base + 0xE000, threadPointer: base + 0xF000, instructionPointer: Self.cLibrary + 16,
      registers: [5], isWaiting: true)
  }

  @Test func idlePoolThreadsHoldNothing() {
    let words: [(address: UInt64, value: UInt64)] = [(base + 0xE100, Self.pool), (base + 0xE200, Self.cLibrary)]
    #expect(stackCount(words, idle) == 0)
    #expect(stackCount(words + [(base + 0xE300, Self.program)], idle) == 1)
    // If the stack has no address of code, nothing is known.
    #expect(stackCount([(base + 0xE100, base)], idle) == 1)
    var own = idle
    own.isSelf = true
    #expect(stackCount(words, own) == 1)
  }

  @Test func staleReturnAddressesDoNotHideAnIdleThread() {
    let words: [(address: UInt64, value: UInt64)] = [(base + 0xE100, Self.pool), (base + 0xE200, Self.program)]
    #expect(stackCount(words, idle, frames: [Self.cLibrary, Self.pool, Self.cLibrary + 8]) == 0)
    #expect(stackCount(words, idle, frames: [Self.cLibrary, Self.program, Self.pool, Self.cLibrary + 8]) == 1)
    #expect(stackCount(words, idle, frames: [Self.cLibrary, Self.cLibrary + 8]) == 1)
    #expect(stackCount(words, idle) == 1)
  }

  /// The thread has ended some work and is about to wait, or is between two functions of a task.
  @Test(arguments: [
    ([cLibrary, pool, cLibrary], true, true), ([cLibrary, runtime, pool, cLibrary], true, false),
    ([cLibrary, program, pool, cLibrary], false, false), ([cLibrary, runtime, cLibrary], false, false),
  ])
  func poolThreadOutsideTheProgramsCodeIsBetweenWork(frames: [UInt64], isBetweenWork: Bool, isOutsideRuntime: Bool) {
    var thread = idle
    thread.isWaiting = false
    let code = MemoryRegion(range: 0x10_0000..<0x20_0000, kind: .file, isWritable: false, isExecutable: true)
    let found = roots(
      [code, region(base, 0x1_0000)], threads: [thread], images: [image("/lib/all", 0x10_0000..<0x20_0000)],
      code: { address, _ in
        switch address {
        case ..<Self.runtime: .cLibrary
        case ..<Self.pool: .runtime
        case ..<Self.program: .pool
        default: .other
        }
      }, frames: frames)
    let ofThread = found.roots.filter { $0.kind == .stack(thread: 0) || $0.kind == .registers(thread: 0) }
    #expect(ofThread.map(\.isBetweenWork) == [isBetweenWork, isBetweenWork])
    #expect(ofThread.map(\.isOutsideRuntime) == [isOutsideRuntime, isOutsideRuntime])
  }

  @Test func threadComputingInItsStartRoutineIsNotIdle() {
    // The stack has only an address in the C library, which called the routine.
    let words: [(address: UInt64, value: UInt64)] = [(base + 0xE100, Self.cLibrary)]
    var busy = idle
    busy.instructionPointer = Self.program + 8
    busy.isWaiting = false
    #expect(stackCount(words, busy) == 1)
    // The result is the same if a pool called the routine, or if the thread is in a function of the C library that does
    // not wait.
    #expect(stackCount(words + [(base + 0xE200, Self.pool)], busy) == 1)
    busy.instructionPointer = Self.cLibrary + 8
    #expect(stackCount(words + [(base + 0xE200, Self.pool)], busy) == 1)
  }

  @Test func poolThreadTakingWorkIsNotIdle() {
    // The work that it took is in a register.
    let words: [(address: UInt64, value: UInt64)] = [(base + 0xE100, Self.pool)]
    var taking = idle
    taking.instructionPointer = Self.pool + 8
    taking.isWaiting = false
    #expect(stackCount(words, taking) == 1)
  }

  @Test func threadWaitingInACallWithoutAPoolIsNotIdle() {
    // The start routine ended in a tail call to `read`, with a buffer in a register.
    #expect(stackCount([(base + 0xE100, Self.cLibrary)], idle) == 1)
  }

  @Test func cLibraryVariablesHoldOnlyBlockStarts() {
    let found = roots(
      [],
      images: [
        image("/lib/libleaktrace.so", 0x1000..<0x2000), image("/lib/libc.so.6", 0x3000..<0x4000),
        image("/bin/app", 0x5000..<0x6000),
      ])
    #expect(found.images.map(\.path) == ["/lib/libleaktrace.so", "/lib/libc.so.6", "/bin/app"])
    #expect(found.roots.map(\.kind) == [.global(image: 1), .global(image: 2)])
    #expect(found.roots.map(\.acceptsInterior) == [false, true])
    #expect(
      found.image(at: 0x3FFF)?.path == "/lib/libc.so.6" && found.image(at: 0x4000) == nil && found.isImage(0x5000))
  }

  @Test func rootsOfAKindNeverOverlapEvenWithManyThreads() {
    let stack = region(base, 0x100_0000)
    let threads = (0..<10_000).map { index in
      SnapshotThread(
        osThread: 1, stackPointer: base + UInt64(index % 100) * 8,
        threadPointer: base + 0x80_0000 + UInt64(index % 50) * 16)
    }
    let found = roots(
      [stack], threads: threads, images: (0..<1000).map { image("/a", 0x1000 + $0..<0x100_0000) }, tls: .max)
    for kind in [stacks(found), threadLocals(found), ranges(found) { if case .global = $0 { true } else { false } }] {
      let sorted = kind.filter { !$0.isEmpty }.sorted { $0.lowerBound < $1.lowerBound }
      #expect(!sorted.isEmpty)
      #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
    }
  }

  @Test func rangesAtBothEndsOfTheAddressSpaceAreValid() {
    let ends: [UInt64] = [0, 1, 8, 127, 128, 4095, 1 << 63, .max - 4096, .max - 4095, .max - 1, .max]
    let regions = [
      MemoryRegion(range: 0..<64, kind: .anonymous), MemoryRegion(range: 64..<RuntimeAddress.limit, kind: .anonymous),
    ]
    for pointer in ends {
      for threadPointer in ends {
        let thread = SnapshotThread(osThread: 1, stackPointer: pointer, threadPointer: threadPointer)
        let found = roots(
          regions, threads: [thread], images: [image("/a", pointer..<max(pointer, threadPointer))],
          words: [(0, 8), (8, .max), (.max - 7, 8)], tls: .max)
        #expect(stacks(found).count == (regions.contains { $0.range.contains(pointer) } ? 1 : 0))
      }
    }
  }
}
