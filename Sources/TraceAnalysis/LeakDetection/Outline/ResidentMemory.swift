// The parts of a process's resident memory when a heap image was taken.

import HeapAnalysis
import TextWriting
import TraceReading

/// Resident memory by its use, in bytes. Shows whether the memory is leaked blocks, or freed memory that the allocator
/// keeps.
package struct ResidentMemory: Hashable, Sendable {
  /// Resident size of the process without the recorder, measured before or after the heap image.
  package var resident: UInt64
  /// Blocks of the heap, in requested sizes.
  package var liveBlocks: UInt64
  /// The used parts of thread stacks.
  package var stacks: UInt64
  /// Other private memory: the allocator's free memory and metadata, variables of loaded images, and memory that was
  /// mapped without the allocator.
  package var otherPrivate: UInt64
  /// Code and files, and memory shared with other processes.
  package var mapped: UInt64
  /// The allocators' own figures at the time of the heap image; empty if they were not read.
  package var allocators: [AllocatorRecord] = []
  /// Bytes of the whole process that are in huge pages; nil if unknown.
  package var hugePages: UInt64?
  /// The block that prevents the largest amount of free memory in an arena from being returned; nil if there is none.
  package var pin: PinningBlock?
  /// Resident memory at this heap image and the earlier ones.
  package var course = ResidentCourse([])

  /// A block that keeps an arena from getting smaller.
  package struct PinningBlock: Hashable, Sendable {
    package var pin: AllocatorRecord.Pin
    /// The type of the object in the block; empty if the block is not an object.
    package var type: String

    package init(pin: AllocatorRecord.Pin, type: String) {
      self.pin = pin
      self.type = type
    }
  }

  /// Maximum size of a stack in bytes. A larger region does not count as a stack, because a stack pointer may point
  /// into memory of any kind.
  private static let largestStack: UInt64 = 64 << 20

  /// `privateBytes`: private memory that is writable and resident, without the recorder's memory. Returns nil if the
  /// figures contradict each other, for example because the process grew after the sample.
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

  /// Bytes of freed memory that the allocators keep; nil if the allocators' figures were not read. `freePages`: the
  /// part of it in whole resident pages.
  package var freed: UInt64? {
    allocators.isEmpty ? nil : min(otherPrivate, allocators.reduce(0) { $0 &+ $1.held })
  }
  package var freePages: UInt64? {
    freed.map { min($0, allocators.reduce(0) { $0 &+ $1.freePages }) }
  }

  /// True if much private memory is outside live blocks. The allocator then probably keeps memory that the program
  /// freed.
  package var deservesRemark: Bool { otherPrivate >= Self.remarkableSize && otherPrivate > liveBlocks }
  private static let remarkableSize: UInt64 = 64 << 20
  /// Minimum number of arenas for a remark. With this many arenas, a few threads that allocate at the same time have
  /// more than one arena each.
  private static let manyArenas: UInt64 = 8

  /// An explanation of the memory use, for reports.
  package var remark: String {
    guard let freed else {
      return
        "\(Decimal.bytes(otherPrivate)) of private memory is in no live block (live: \(Decimal.bytes(liveBlocks))), so it has not "
        + "leaked: mostly the allocator keeps it for later. malloc_trim(0) gives back free memory; fewer arenas "
        + "(MALLOC_ARENA_MAX=2) or jemalloc keep less"
    }
    let names = allocators.map(\.kind.name).joined(separator: " and ")
    var sentences = [
      "of \(Decimal.bytes(resident)) resident, \(Decimal.bytes(liveBlocks)) are live blocks; \(Decimal.bytes(freed)) were freed, and \(names) keeps them\(arenaText)"
    ]
    let rest = otherPrivate - freed
    if rest >= Self.remarkableSize {
      sentences.append(
        "\(Decimal.bytes(rest)) are neither: variables, or memory that was mapped without the allocator")
    }
    if let pin, pin.pin.freeBelow >= Self.remarkableSize {
      let type = pin.type.isEmpty ? "" : " (\(PlainText.escaped(pin.type)))"
      sentences.append(
        "An arena shrinks only from its end: a block of \(Decimal.bytes(pin.pin.bytes))\(type) at \(Hexadecimal.text(pin.pin.address)) lies behind \(Decimal.bytes(pin.pin.freeBelow)) of free memory"
      )
    }
    if let growth = course.growth { sentences.append(growth) }
    return (sentences + remedies.map(Self.sentence)).joined(separator: ". ")
  }

  private var arenaText: String {
    let arenas = allocators.reduce(0) { $0 &+ $1.arenas }
    return arenas > 1 ? " in \(Decimal.counted(arenas, "arena"))" : ""
  }

  /// True if the allocators keep more freed memory than there is in live blocks, and much of it.
  package var isMostlyFreed: Bool {
    freed.map { $0 >= Self.remarkableSize && $0 > liveBlocks } ?? false
  }

  /// A change that makes the allocator keep less freed memory, and the bytes that the change is about.
  package enum AllocatorRemedy: Hashable, Sendable {
    /// Give whole free pages back.
    case trim(UInt64)
    /// Share arenas between threads.
    case fewerArenas(UInt64)
    /// Use an allocator that leaves less free memory between live blocks.
    case otherAllocator(UInt64)
    /// Let jemalloc give whole free pages back in time.
    case backgroundThread(UInt64)
  }

  /// The remedies that the figures justify.
  package var remedies: [AllocatorRemedy] {
    guard let freed, let freePages else { return [] }
    guard let glibc = allocators.first(where: { $0.kind == .glibc && $0.held >= Self.remarkableSize }) else {
      return freePages >= Self.remarkableSize ? [.backgroundThread(freePages)] : []
    }
    var remedies: [AllocatorRemedy] = []
    if freePages >= Self.remarkableSize { remedies.append(.trim(freePages)) }
    if glibc.arenas >= Self.manyArenas, glibc.arenaLimit == 0, glibc.freeInOtherArenas >= Self.remarkableSize {
      remedies.append(.fewerArenas(glibc.freeInOtherArenas))
    }
    if freed - freePages >= Self.remarkableSize { remedies.append(.otherAllocator(freed - freePages)) }
    return remedies
  }

  private static func sentence(_ remedy: AllocatorRemedy) -> String {
    switch remedy {
    case .trim(let bytes): "\(Decimal.bytes(bytes)) are whole pages, which malloc_trim(0) gives back"
    case .fewerArenas(let bytes):
      "\(Decimal.bytes(bytes)) lie in arenas of threads: MALLOC_ARENA_MAX=2 allows fewer of them"
    case .otherAllocator(let bytes):
      "\(Decimal.bytes(bytes)) lie between live blocks, where no page is free: jemalloc, which keeps blocks of a size together, leaves less"
    case .backgroundThread(let bytes):
      "\(Decimal.bytes(bytes)) are whole pages, which MALLOC_CONF=background_thread:true gives back in time"
    }
  }
}

extension HeapModel {
  /// The parts of resident memory at the heap image; nil if no measurement of the process's size fits the heap image.
  /// Uses the measurement before the heap image or after it. It is the nearer one among those that agree with the heap
  /// image. On a busy machine, a program may grow much between a measurement and the heap image. O(blocks).
  package var residentMemory: ResidentMemory? {
    guard let end = snapshot.end, end.error == 0 else { return nil }
    let time = snapshot.time
    let (samples, definitions) = (trace.memorySamples, trace.definitions)
    func distance(_ sample: MemorySample) -> UInt64 { max(sample.time, time) - min(sample.time, time) }
    let neighbours = [samples.last { $0.time <= time }, samples.first { $0.time > time }].compactMap { $0 }
    let liveBlocks = graph.heap.blocks.reduce(UInt64(0)) { $0 &+ $1.size }
    let residence = definitions.residences.last { $0.time == time }
    // An inspection captures all readable memory, resident or not, so use the kernel's figure. A recorder leaves its
    // own memory out of the heap image, but the kernel's figure includes that memory.
    let privateBytes = trace.header.isInspection ? residence?.anonymous ?? end.capturedBytes : end.capturedBytes
    let measured = neighbours.sorted { distance($0) < distance($1) }.lazy.compactMap { [snapshot] sample in
      ResidentMemory(
        resident: sample.residentOfProgram, privateBytes: privateBytes, liveBlocks: liveBlocks,
        threads: snapshot.threads, regions: snapshot.regions)
    }.first
    guard var found = measured else { return nil }
    // The allocators' figures are read at the time of the heap image itself.
    found.allocators = definitions.allocators.filter { $0.time == time }
    found.course = ResidentCourse(definitions, samples, clock: trace.clock, until: time)
    found.hugePages = residence?.hugePages
    let pins = found.allocators.flatMap(\.pins)
    found.pin = pins.max { $0.freeBelow < $1.freeBelow }.map { pin in
      let block = graph.heap.block(containing: pin.address)
      let type = block.map { graph.type(of: $0.rawValue) }
      return ResidentMemory.PinningBlock(pin: pin, type: type.map { $0.kind.isCounted ? $0.name : "" } ?? "")
    }
    return found
  }
}
