// Memory where the trace may miss blocks, and the parts of that memory in use.

/// The allocator's memory that no certain block covers, in a trace that lacks calls. This memory is the gaps between
/// known blocks, and the blocks that may have been freed without a record.
///
/// A block that was allocated without a record lies between two certain blocks. If it is in use, a reference leads to
/// it. So if a pointer leads into the stretch between two certain blocks, the whole stretch counts as in use. Otherwise
/// the stretch keeps nothing, and the words left over in its freed memory do not count.
struct UnseenMemory {
  /// Disjoint ranges, in order of address.
  private let stretches: [Range<UInt64>]
  private let reached: NodeSet

  /// `parts`: the memory between known blocks, in order of address. Linear in the blocks and the heap image's words.
  init(_ parts: [Range<UInt64>], heap: LiveHeap, uncertain: NodeSet, roots: HeapRoots, image: HeapImage) {
    var ranges = parts
    uncertain.forEach { node in
      let block = heap.blocks[Int(node)]
      if block.size > 0 { ranges.append(block.address..<block.address + block.size) }
    }
    ranges.sort { $0.lowerBound < $1.lowerBound }
    var stretches: [Range<UInt64>] = []
    for range in ranges {
      if let last = stretches.last, last.upperBound >= range.lowerBound {
        stretches[stretches.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        stretches.append(range)
      }
    }
    self.stretches = stretches
    reached = NodeSet(bound: stretches.count)
    mark(heap, uncertain, roots, image)
  }

  /// Follows every word that looks like a pointer, without regard to types. So memory may count as in use that is not.
  private func mark(_ heap: LiveHeap, _ uncertain: NodeSet, _ roots: HeapRoots, _ image: HeapImage) {
    let seen = NodeSet(bound: heap.count)
    var pending: [Range<UInt64>] = []
    func follow(_ word: UInt64, mayLeadAnywhere: Bool = true) {
      let address = word & HeapImage.addressBits
      if let found = heap.block(containing: address), !uncertain.contains(found.rawValue) {
        let block = heap[found]
        if seen.insert(found.rawValue), block.size > 0 { pending.append(block.address..<block.address + block.size) }
      } else if mayLeadAnywhere, let stretch = stretch(at: address), reached.insert(UInt32(truncatingIfNeeded: stretch))
      {
        pending.append(stretches[stretch])
      }
    }
    for root in roots.roots where root.kind != .unseen {
      root.values.forEach { follow($0) }
      // Skip words of these roots that lead to uncertain memory: the allocator's own variables lead to freed memory.
      for range in root.ranges { image.forEachWord(in: range) { follow($1, mayLeadAnywhere: root.acceptsInterior) } }
    }
    while let range = pending.popLast() { image.forEachWord(in: range) { follow($1) } }
  }

  /// Returns whether memory at an address may be in use.
  func isReached(_ address: UInt64) -> Bool {
    stretch(at: address).map { reached.contains(UInt32(truncatingIfNeeded: $0)) } ?? false
  }

  private func stretch(at address: UInt64) -> Int? {
    var low = 0
    var high = stretches.count
    while low < high {
      let middle = (low + high) / 2
      if stretches[middle].upperBound <= address { low = middle + 1 } else { high = middle }
    }
    return low < stretches.count && stretches[low].contains(address) ? low : nil
  }
}
