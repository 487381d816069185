// Blocks from the metadata of glibc's allocator.

import TestRequirements
import Testing
import TraceTestSupport

@testable import ProcessInspection

@Suite struct GlibcHeapTests {
  /// Returns two arenas with chunks of all kinds, and mapped blocks.
  static func heap(
    protectsLinks: Bool = true, seed: UInt64 = 1, release: SyntheticHeap.Release = .to41
  ) -> SyntheticHeap {
    var random = SeededRandom(seed: seed)
    var heap = SyntheticHeap(release)
    heap.protectsLinks = protectsLinks
    for isMain in [true, false] {
      if isMain { heap.beginMain() } else { heap.beginSecond() }
      heap.addCache()
      var cached: [UInt64: Int] = [:]
      var wasFree = true
      for _ in 0..<200 {
        let size = 32 + 16 * (random.next() % 20)
        switch random.next() % 6 {
        case 0 where !wasFree:
          heap.chunk(size, .free)
          wasFree = true
          continue
        case 1 where cached[size, default: 0] < 7:
          heap.chunk(size, .cached)
          cached[size, default: 0] += 1
        case 2 where release != .with43: heap.chunk(min(size, 176), .fast)
        default: heap.chunk(size, .block)
        }
        wasFree = false
      }
      heap.chunk(64, .block)
      heap.endArena()
    }
    heap.addMapped(at: SyntheticHeap.mapped + 0x1000, size: 0x21000)
    heap.addMapped(at: SyntheticHeap.mapped + 0x22000, size: 0x3000, skipped: 48)
    return heap
  }

  @Test(arguments: [true, false], SyntheticHeap.Release.allCases)
  func blocksAreTheChunksThatAreNotFree(protectsLinks: Bool, release: SyntheticHeap.Release) throws {
    let heap = Self.heap(protectsLinks: protectsLinks, release: release)
    let found = try #require(GlibcHeap(in: heap.memory))
    #expect(found.blocks == heap.sortedBlocks)
    #expect(found.arenas.count == 2 && found.threadCaches == 2 && found.mappedBlocks == 2)
    #expect(found.cachedBlocks > 0 && found.freeBytes > 0)
    #expect((found.fastBlocks > 0) == (release != .with43))
    #expect(found.breaks == 0 && found.skippedBytes == 0 && !found.isIncomplete)
  }

  @Test(arguments: SyntheticHeap.Release.allCases)
  func emptyCacheIsRecognizedByItsThread(release: SyntheticHeap.Release) throws {
    var heap = SyntheticHeap(release)
    heap.beginMain()
    let first = heap.addCache()
    heap.chunk(48, .cached)
    heap.chunk(48, .block)
    heap.endArena(isLast: false)
    let zeros = heap.chunk(release == .to41 ? 0x290 : 0x300, .block)
    let empty = heap.addCache()
    heap.endArena()
    var threads: [InspectedThread] = []
    for (index, cache) in [first, empty].enumerated() {
      let pointer = SyntheticHeap.stack + 0x4000 + UInt64(index) * 0x4000
      heap.memory[pointer - 72] = cache + 16
      var registers = [UInt64](repeating: 0, count: RegisterLayout(.x86_64).count)
      registers[21] = pointer
      threads.append(InspectedThread(threadID: Int32(index), registers: registers))
    }
    let alone = try #require(GlibcHeap(in: heap.memory))
    #expect(alone.blocks.map(\.address).contains(empty + 16) && alone.threadCaches == 1)
    let found = try #require(GlibcHeap(in: heap.memory, threads: threads))
    #expect(found.threadCaches == 2)
    #expect(found.blocks == heap.sortedBlocks)
    #expect(found.blocks.contains { $0.address == zeros + 16 })
  }

  @Test(arguments: SyntheticHeap.Release.allCases, [false, true])
  func emptyCacheAtTheStartOfAHeapBelongsToItsThread(release: SyntheticHeap.Release, isLater: Bool) throws {
    var heap = SyntheticHeap(release)
    heap.beginMain()
    // Since 2.43, a thread may have blocks that were allocated before its cache.
    if isLater && release == .with43 { heap.chunk(64, .block) }
    let cache = heap.addCache()
    heap.chunk(48, .block)
    heap.endArena()
    let pointer = SyntheticHeap.stack + 0x4000
    heap.memory[pointer - 72] = cache + 16
    var registers = [UInt64](repeating: 0, count: RegisterLayout(.x86_64).count)
    registers[21] = pointer
    let found = try #require(
      GlibcHeap(in: heap.memory, threads: [InspectedThread(threadID: 1, registers: registers)]))
    #expect(found.threadCaches == 1 && found.blocks == heap.sortedBlocks)
  }

  @Test(arguments: [0, 60, 126] as [UInt64]) func arenaIsRecognizedByItsBinsWhateverTheyContain(filled: UInt64) throws {
    var heap = SyntheticHeap()
    heap.beginMain()
    heap.fillBins(filled)
    heap.endArena()
    let found = try #require(GlibcHeap(in: heap.memory))
    #expect(found.blocks == heap.sortedBlocks)
    #expect(found.freeBytes == 48 * filled && found.arenas.count == 1)
  }

  @Test func mappedMemoryOfTheMainArenaIsFound() throws {
    var heap = SyntheticHeap()
    heap.beginMain()
    for _ in 0..<10 { heap.chunk(64, .block) }
    heap.goOn(at: SyntheticHeap.mapped + 0x8000)
    for _ in 0..<10 { heap.chunk(96, .block) }
    heap.goOn(at: SyntheticHeap.mapped + 0x3000)
    for _ in 0..<10 { heap.chunk(128, .block) }
    heap.endArena(topSize: 0x400)
    heap.addMapped(at: SyntheticHeap.mapped + 0x9000, size: 0x3000)
    let found = try #require(GlibcHeap(in: heap.memory))
    #expect(found.blocks == heap.sortedBlocks)
    #expect(!found.isIncomplete && found.breaks == 0 && found.mappedBlocks == 1)
  }

  @Test func arenaFiguresNameTheBlockThatPinsTheFreeEnd() throws {
    var heap = SyntheticHeap()
    heap.beginMain()
    heap.addCache()
    heap.chunk(64, .block)
    heap.chunk(0x3000, .free)
    heap.chunk(48, .cached)
    heap.chunk(64, .fast)
    let last = heap.chunk(80, .block)
    heap.endArena(topSize: 0x1C70)
    let found = try #require(GlibcHeap(in: heap.memory))
    let arena = try #require(found.arenas.first)
    #expect(found.arenas.count == 1 && arena.isMain && arena.systemBytes == 0x40_000)
    #expect(arena.blocks == 2 && arena.blockBytes == 144 && arena.freeBytes == 0x3000)
    #expect(arena.cachedBytes == 48 && arena.fastBytes == 64 && arena.topBytes == 0x1C70)
    // The free chunk has two whole pages, and the top chunk has one.
    #expect(arena.freePageBytes == 0x3000)
    #expect(arena.pin == GlibcHeap.Pin(address: last + 16, bytes: 80, use: .block))
  }

  @Test(arguments: [SyntheticHeap.Release.with42, .with43])
  func largeBlocksInACacheCountAsFree(release: SyntheticHeap.Release) throws {
    var heap = SyntheticHeap(release)
    heap.beginMain()
    heap.addCache()
    for size in [32, 1040, 1056, 2032, 1056, 2048, 0x2000, 0x3000] as [UInt64] {
      heap.chunk(size, .cached)
      heap.chunk(size, .block)
    }
    heap.endArena()
    heap.nameRelease()
    let found = try #require(GlibcHeap(in: heap.memory))
    #expect(found.threadCaches == 1 && found.cachedBlocks == 8)
    #expect(found.blocks == heap.sortedBlocks)
  }

  @Test func mappedBlockInACacheCountsAsFree() throws {
    var heap = SyntheticHeap(.with43)
    heap.addMapped(at: SyntheticHeap.mapped + 0x1000, size: 0x3000)
    heap.addMapped(at: SyntheticHeap.mapped + 0x4000, size: 0x3000)
    heap.beginMain()
    heap.addCache()
    heap.chunk(64, .block)
    heap.cacheMapped(at: SyntheticHeap.mapped + 0x4000)
    heap.endArena()
    heap.nameRelease()
    let found = try #require(GlibcHeap(in: heap.memory))
    #expect(found.blocks == heap.sortedBlocks && found.mappedBlocks == 1 && found.cachedBlocks == 1)
  }

  @Test(arguments: [0, 16, 32] as [UInt64]) func cacheMayOccupyALargerChunkThanItNeeds(surplus: UInt64) throws {
    for release in SyntheticHeap.Release.allCases where release == .with43 || surplus < 32 {
      var heap = SyntheticHeap(release)
      heap.beginMain()
      heap.addCache(surplus: surplus)
      heap.chunk(48, .cached)
      heap.chunk(64, .block)
      heap.endArena()
      let found = try #require(GlibcHeap(in: heap.memory))
      #expect(found.blocks == heap.sortedBlocks && found.threadCaches == 1, "\(release)")
    }
  }

  @Test func blockWithACacheKeyCountsAsFreeOnlyIfFreesKeepTheKey() throws {
    for release in SyntheticHeap.Release.allCases {
      var heap = SyntheticHeap(release)
      heap.beginMain()
      heap.addCache()
      for _ in 0..<4 { heap.chunk(48, .cached) }
      let lost = heap.chunk(96, .block)
      heap.chunk(64, .block)
      heap.endArena()
      heap.memory[lost + 24] = SyntheticHeap.cacheKey
      heap.nameRelease()
      let found = try #require(GlibcHeap(in: heap.memory))
      #expect(found.blocks.contains { $0.address == lost + 16 } == (release != .with43), "\(release)")
      #expect(found.cachedBlocks == (release == .with43 ? 5 : 4), "\(release)")
    }
  }

  /// All bins of a cache have the same number of slots. A block with other contents is not a cache.
  @Test func blockThatResemblesACacheIsABlock() throws {
    var heap = SyntheticHeap(.with43)
    heap.beginMain()
    let cache = heap.addCache()
    heap.chunk(48, .cached)
    heap.chunk(64, .block)
    heap.endArena()
    heap.setNumber(3, of: 20)
    heap.setNumber(5, of: 21)
    let found = try #require(GlibcHeap(in: heap.memory))
    #expect(found.threadCaches == 0 && found.blocks.contains { $0.address == cache + 16 })
  }

  @Test func alignedMappedBlockFollowsItsMappingsHeader() throws {
    for release in SyntheticHeap.Release.allCases {
      var heap = SyntheticHeap(release)
      heap.beginMain()
      heap.chunk(64, .block)
      heap.endArena()
      heap.addMapped(at: SyntheticHeap.mapped + 0x1000, size: 0x3000, skipped: 0x30)
      heap.addMapped(at: SyntheticHeap.mapped + 0x4000, size: 0x8000, skipped: 0x3FF0)
      heap.addMapped(at: SyntheticHeap.mapped + 0xC000, size: 0x6000, skipped: 0xFF0, firstSize: 0x4000)
      heap.addMapped(at: SyntheticHeap.mapped + 0x12000, size: 0x2000, skipped: 0xFF0, firstSize: 0x8000)
      heap.addMapped(at: SyntheticHeap.mapped + 0x14000, size: 0x3000)
      // This block was aligned to 16 KiB, and then realloc moved its mapping.
      heap.addMapped(at: SyntheticHeap.mapped + 0x17000, size: 0x9000, skipped: 0x1FF0, firstSize: 0x8000)
      let found = try #require(GlibcHeap(in: heap.memory))
      #expect(found.blocks == heap.sortedBlocks && found.mappedBlocks == 6, "\(release)")
    }
  }

  @Test(arguments: [(36, true), (42, true), (43, false), (44, true)])
  func missingCachesAreReported(number: Int, isReported: Bool) throws {
    var heap = SyntheticHeap()
    heap.beginMain()
    heap.chunk(64, .block)
    heap.endArena()
    heap.nameRelease(number)
    #expect(try #require(GlibcHeap(in: heap.memory)).areCachesUnread == isReported)
  }

  @Test func failureNamesTheViolatedAssumption() throws {
    let memory = SyntheticMemory()
    #expect(try #require(GlibcHeap.failure(in: memory)).contains("no writable data of a C library"))
    memory.map(MemoryMapping(range: 0x1000..<0x9000, file: BackingFile(path: "/lib/libc.so.6", offset: 0)))
    #expect(try #require(GlibcHeap.failure(in: memory)).contains("no arena"))
    for release in SyntheticHeap.Release.allCases {
      var heap = SyntheticHeap(release)
      heap.beginMain()
      heap.chunk(64, .block)
      heap.endArena()
      #expect(GlibcHeap.failure(in: heap.memory) == nil)
      // The ring points behind the beginning of the arena, as in a release with other fields before the bins.
      heap.memory[SyntheticHeap.main + (release == .with43 ? 0x818 : 0x870)] = SyntheticHeap.main + 8
      #expect(try #require(GlibcHeap.failure(in: heap.memory)).contains("ring"), "\(release)")
      #expect(GlibcHeap(in: heap.memory) == nil)
    }
  }

  @Test func foreignMemoryBetweenFencepostsIsSkipped() throws {
    var heap = SyntheticHeap()
    heap.beginMain()
    for _ in 0..<20 { heap.chunk(64, .block) }
    let fence = heap.chunk(16, .block)
    heap.chunk(16, .block)
    for _ in 0..<40 { heap.chunk(32, .block) }
    // This page was allocated by another caller of sbrk.
    let foreign = fence + 32
    for at in stride(from: foreign, to: foreign + 0x300, by: 8) { heap.memory[at] = 0x6161_6161_6161_6161 }
    for _ in 0..<20 { heap.chunk(80, .block) }
    heap.endArena()
    let found = try #require(GlibcHeap(in: heap.memory))
    #expect(
      found.blocks == heap.sortedBlocks.filter { !(fence + 16..<foreign + 0x310).contains($0.address) })
    #expect(found.breaks == 0 && found.skippedBytes == 0x320)
  }

  /// The rest of a heap's top may be too small for a chunk, and then one of the two fence chunks is larger.
  @Test(arguments: [32, 48, 64, 80, 0x1000] as [UInt64]) func heapMayEndWithAnyTop(size: UInt64) throws {
    var heap = SyntheticHeap()
    heap.beginMain()
    heap.chunk(64, .block)
    heap.endArena()
    heap.beginSecond()
    for _ in 0..<20 { heap.chunk(64, .block) }
    heap.beginAnotherHeap(topSize: size)
    for _ in 0..<20 { heap.chunk(80, .block) }
    heap.endArena()
    let found = try #require(GlibcHeap(in: heap.memory))
    #expect(found.blocks == heap.sortedBlocks)
    #expect(found.breaks == 0 && found.skippedBytes == 0 && !found.isIncomplete)
  }

  @Test func chunkBeingSplitFromTheTopLosesOnlyThatChunk() throws {
    var heap = SyntheticHeap()
    heap.beginMain()
    for _ in 0..<20 { heap.chunk(64, .block) }
    let last = heap.chunk(96, .block)
    heap.endArena()
    // The arena already has its new top, but the chunk still has the size of the old top.
    heap.memory[last + 8] = 0x1061
    let found = try #require(GlibcHeap(in: heap.memory))
    #expect(found.blocks == heap.sortedBlocks.dropLast())
    #expect(found.breaks == 1 && found.skippedBytes == 96)
  }

  @Test func memoryWithoutAnArenaGivesNoHeap() {
    let memory = SyntheticMemory()
    #expect(GlibcHeap(in: memory) == nil)
    memory.map(MemoryMapping(range: 0x1000..<0x9000, file: BackingFile(path: "/lib/libc.so.6", offset: 0)))
    #expect(GlibcHeap(in: memory) == nil)
  }

  @Test(arguments: TestTier.seeds(1..<151))
  func damagedMetadataNeverTrapsAndAlwaysTerminates(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let release = SyntheticHeap.Release.allCases[Int(seed % 3)]
    let heap = Self.heap(protectsLinks: random.oneIn(2), seed: seed, release: release)
    if random.oneIn(2) { heap.nameRelease() }
    let addresses = heap.memory.addresses.filter { heap.memory[$0] != 0 }
    for _ in 0..<1 + random.next() % 60 {
      let at = addresses[Int(random.next() % UInt64(addresses.count))]
      switch random.next() % 7 {
      case 0: heap.memory[at] = random.next()
      case 1: heap.memory[at] = .max - random.next() % 8192
      case 2: heap.memory[at] ^= 1 << (random.next() % 64)
      case 3: heap.memory[at] = 0
      case 4: heap.memory[at] = addresses[Int(random.next() % UInt64(addresses.count))]
      case 5: heap.memory[at] = heap.memory[addresses[Int(random.next() % UInt64(addresses.count))]]
      default: heap.memory[at] &+= 16 &* (random.next() % 64)
      }
    }
    guard let found = GlibcHeap(in: heap.memory) else { return }
    // Each block is in mapped memory, and is listed once.
    #expect(zip(found.blocks, found.blocks.dropFirst()).allSatisfy { $0.address < $1.address }, "seed \(seed)")
    #expect(found.blocks.allSatisfy { heap.memory.mappings.mapping(at: $0.address) != nil }, "seed \(seed)")
  }

  @Test(arguments: TestTier.seeds(1..<41))
  func oneDamagedSizeLosesFewBlocks(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let heap = Self.heap(seed: seed, release: SyntheticHeap.Release.allCases[Int(seed % 3)])
    let blocks = heap.sortedBlocks
    let victim = blocks[20 + Int(random.next() % UInt64(blocks.count - 60))].address - 8
    heap.memory[victim] = random.next() | 8
    let found = try #require(GlibcHeap(in: heap.memory))
    let kept = Set(found.blocks)
    #expect(blocks.filter { !kept.contains($0) }.count <= 4, "seed \(seed)")
    #expect(found.breaks >= 1, "seed \(seed)")
  }
}
