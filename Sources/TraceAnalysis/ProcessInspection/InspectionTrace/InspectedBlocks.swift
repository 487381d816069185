// The blocks of a process, and the types of the blocks that are objects.

import TraceReading

/// Blocks in order of addresses, as a trace lists them.
///
/// Memory: 4 bytes a block in addition to the allocator's list.
struct InspectedBlocks: Sequence {
  fileprivate enum Source {
    /// `types`: for each block, the number of its type; 0 if the block is not an object.
    case allocator([AllocatedBlock], types: [UInt32], ObjectTypes)
    case plausible([ListedBlock])
  }

  fileprivate let source: Source
  let objectCount: Int

  init(_ blocks: [ListedBlock]) {
    source = .plausible(blocks)
    objectCount = blocks.count { $0.type != 0 }
  }

  /// Determines each block's type from its first two words. Linear in the blocks. Reads the memory in order.
  init(_ blocks: [AllocatedBlock], _ types: ObjectTypes, _ memory: any ProcessMemory) {
    let window = MemoryWindow(memory, capacity: 1 << 20)
    var numbers: [UInt32] = []
    numbers.reserveCapacity(blocks.count)
    var objectCount = 0
    for block in blocks {
      var type: UInt32 = 0
      if let first = window.word(at: block.address), let second = window.word(at: block.address + 8) {
        type = types.type(first: first, second: second, size: block.usableSize)
      }
      numbers.append(type)
      if type != 0 { objectCount += 1 }
    }
    source = .allocator(blocks, types: numbers, types)
    self.objectCount = objectCount
  }

  var count: Int {
    switch source {
    case .allocator(let blocks, _, _): blocks.count
    case .plausible(let blocks): blocks.count
    }
  }

  func makeIterator() -> Iterator { Iterator(source: source) }

  struct Iterator: IteratorProtocol {
    fileprivate let source: Source
    private var index = 0

    fileprivate init(source: Source) { self.source = source }

    mutating func next() -> ListedBlock? {
      defer { index += 1 }
      switch source {
      case .allocator(let blocks, let numbers, let types):
        guard index < blocks.count else { return nil }
        let (block, type) = (blocks[index], numbers[index])
        return ListedBlock(
          address: block.address, size: types.size(ofType: type, usableSize: block.usableSize), type: type)
      case .plausible(let blocks): return index < blocks.count ? blocks[index] : nil
      }
    }
  }
}
