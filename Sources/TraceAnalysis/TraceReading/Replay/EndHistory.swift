// Past blocks at a few addresses, and their ends. A second pass over the events collects them.

/// Follows the blocks that cover addresses of interest. Records each freed block with its stacks, and distinguishes its
/// uses after the free from uses of another block.
///
/// A retain or release at the address of a freed Swift object is a use after its end under two conditions. First, no
/// later block covers the address. Second, the event certainly comes after the free: both are in one thread, or further
/// apart than the clocks of a machine disagree. Retains and releases in an object's own `deinit` come before its free.
/// Objects on stacks and in the data of images are at addresses that never had a block. Memory is proportional to the
/// addresses. Each allocation and free takes O(log addresses). For one thread at a time.
package struct EndHistory: ReplayObserver {
  /// A block of this size or more may have had a mapping of its own, which its free unmapped. The addresses may then be
  /// reused for anything, even for stacks. Source: M_MMAP_THRESHOLD of the GNU C library.
  static let mappedSize: UInt64 = 128 << 10

  private struct Birth {
    var address: UInt64
    var size: UInt64
    var type: UInt32
    var moment: EndedBlock.Moment
  }

  private struct Place {
    let address: UInt64
    /// The birth of the live block that covers the address; nil if there is none.
    var birth: Birth?
    /// The block that covered the address last, if no live block does.
    var ended: EndedBlock?
    var endedAtSnapshot: EndedBlock?
    /// For each type, the last block that began here and had ended when the snapshot was taken; in order of the ends.
    var endsByType: [EndedBlock] = []
  }

  /// The most entries of `endsByType`. More types seldom alternate at one place.
  private static let rememberedTypes = 8

  /// Ascending by address.
  private var places: [Place]
  /// The number of further visits to places that blocks cover. Real blocks cover few places. A forged block that covers
  /// all memory, and is allocated and freed a million times, would visit all places each time.
  private var spareVisits = 1 << 26
  private let lowest: UInt64
  private let highest: UInt64
  private let snapshotTime: UInt64
  /// The largest difference between the clocks of two threads, in ticks. 0 if the clock's rate is unknown; the order of
  /// events in different threads is then never certain.
  private let patience: UInt64
  /// Blocks that were used after their free, and whose memory has been reused since.
  private var replaced: [EndedBlock] = []

  /// `snapshotTime`: the time of the snapshot, in ticks. Each address keeps the ends up to this time.
  init(addresses: some Sequence<UInt64>, snapshotTime: UInt64, patience: UInt64) {
    places = Set(addresses).sorted().map { Place(address: $0) }
    lowest = places.first?.address ?? .max
    highest = places.last?.address ?? 0
    self.snapshotTime = snapshotTime
    self.patience = patience
  }

  /// Follows the blocks in one pass over the events. `snapshotTime`: in ticks.
  package static func collect(_ addresses: Set<UInt64>, snapshotTime: UInt64, in reader: TraceReader) -> EndHistory {
    let history = EndHistory(
      addresses: addresses, snapshotTime: snapshotTime,
      patience: reader.clock.ticks(in: EventDelivery.patienceInSeconds))
    var replayer = Replayer(history, for: reader)
    reader.replay(into: &replayer, stacks: .all)
    return replayer.observer
  }

  /// Returns the index of the first place at or after an address.
  private func index(of address: UInt64) -> Int {
    var low = 0
    var high = places.count
    while low < high {
      let middle = (low + high) / 2
      if places[middle].address < address { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Calls `body` with each place that a block covers.
  @inline(__always)
  private mutating func change(_ block: LiveBlock, _ body: (inout Self, Int) -> Void) {
    let size = max(block.size, 1)
    guard block.address <= highest, block.address >= lowest || lowest - block.address < size else { return }
    var index = index(of: block.address)
    while index < places.count, places[index].address - block.address < size, spareVisits > 0 {
      body(&self, index)
      index += 1
      spareVisits -= 1
    }
  }

  private mutating func setEnded(_ index: Int, _ ended: EndedBlock?, at time: UInt64) {
    if let old = places[index].ended, old.used != nil, old.address == places[index].address { replaced.append(old) }
    places[index].ended = ended
    guard time <= snapshotTime else { return }
    places[index].endedAtSnapshot = ended
    guard let ended, ended.address == places[index].address else { return }
    places[index].endsByType.removeAll { $0.type == ended.type }
    if places[index].endsByType.count == Self.rememberedTypes { places[index].endsByType.removeFirst() }
    places[index].endsByType.append(ended)
  }

  package mutating func blockAllocated(_ block: LiveBlock, by event: TraceEvent) {
    change(block) { history, index in
      history.setEnded(index, nil, at: event.time)
      history.places[index].birth = Birth(
        address: block.address, size: block.size, type: event.type, moment: .init(event))
    }
  }

  package mutating func blockFreed(_ block: LiveBlock, by event: TraceEvent) {
    change(block) { history, index in
      let birth = history.places[index].birth
      history.places[index].birth = nil
      guard let birth, event.operation.effect == .free else { return }
      history.setEnded(
        index,
        EndedBlock(
          address: birth.address, size: birth.size, type: birth.type, allocated: birth.moment, freed: .init(event)),
        at: event.time)
    }
  }

  package mutating func blockRestored(_ block: LiveBlock, by event: TraceEvent) {
    change(block) { history, index in
      if let ended = history.places[index].ended {
        history.places[index].birth = Birth(
          address: ended.address, size: ended.size, type: ended.type, moment: ended.allocated)
      }
      history.setEnded(index, nil, at: event.time)
    }
  }

  @inline(__always) package mutating func referencesChanged(_ block: LiveBlock, by event: TraceEvent) {}

  package mutating func mismatched(_ mismatch: Mismatch, _ event: TraceEvent) {
    guard mismatch == .unknownObject, event.address >= lowest, event.address <= highest else { return }
    let index = index(of: event.address)
    guard places[index].address == event.address, let ended = places[index].ended, ended.address == event.address,
      ended.allocated.operation == .object, ended.size < Self.mappedSize, isAfter(event, ended.freed)
    else { return }
    if ended.used == nil { places[index].ended?.used = .init(event) }
    places[index].ended?.uses &+= 1
  }

  /// Returns whether an event that was merged after a free certainly happened after the free.
  private func isAfter(_ event: TraceEvent, _ free: EndedBlock.Moment) -> Bool {
    if event.thread == free.thread { return true }
    return patience > 0 && event.time > free.time && event.time - free.time > patience
  }

  /// Blocks that were used after their end, in order of address, and then of the time of their free.
  package var usedBlocks: [EndedBlock] {
    let current = places.compactMap { place in
      place.ended.flatMap { $0.used != nil && $0.address == place.address ? $0 : nil }
    }
    return (replaced + current).sorted { ($0.address, $0.freed.time) < ($1.address, $1.freed.time) }
  }

  /// Returns, for each type, the last block that began at `address` and ended before the snapshot; the latest end last.
  /// `address` must be one of the followed addresses. Another block may use the memory by now.
  package func ends(at address: UInt64) -> [EndedBlock] {
    let index = index(of: address)
    return index < places.count && places[index].address == address ? places[index].endsByType : []
  }

  /// Returns the last block that had ended at `address` when the snapshot was taken, with all its uses; nil if a live
  /// block covered the address then. `address` must be one of the followed addresses.
  package func endedAtSnapshot(_ address: UInt64) -> EndedBlock? {
    let index = index(of: address)
    guard index < places.count, places[index].address == address, let ended = places[index].endedAtSnapshot else {
      return nil
    }
    if let now = places[index].ended, now.isSame(as: ended) { return now }
    return replaced.first { $0.isSame(as: ended) } ?? ended
  }
}
