// An array of live blocks in as few bytes as they need.

import Glibc

/// Live blocks in an order that does not change. Copies share their memory.
///
/// An inspection, for example, has only a list of blocks. Blocks that a replay took from such a list differ only in
/// address, size and site, and are in order of address. Each of them takes 12 bytes. Other blocks take as much as a
/// `LiveBlock`.
package struct LiveBlockList: RandomAccessCollection, @unchecked Sendable {
  /// A block from a list. Its parts have 4 bytes each, so that the next block begins 12 bytes further on.
  struct Row: BitwiseCopyable {
    /// 1 more than the highest address that fits.
    static let addressLimit: UInt64 = 1 << 48
    /// Marks a size that does not fit. Such a size is in `Memory.largeSizes`.
    static let largeSize: UInt64 = 0xFFFF

    private let low: UInt32
    private let high: UInt32
    let site: SiteID

    init(address: UInt64, size: UInt64, site: SiteID) {
      let word = address | Swift.min(size, Self.largeSize) << 48
      (low, high) = (UInt32(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word >> 32))
      self.site = site
    }

    var address: UInt64 { (UInt64(high) << 32 | UInt64(low)) & (Self.addressLimit - 1) }
    /// The size of the block; `largeSize` if it does not fit.
    var size: UInt64 { UInt64(high >> 16) }
  }

  /// Holds the blocks, and the properties that the blocks from a list share.
  fileprivate final class Memory {
    var start: UnsafeMutableRawPointer
    var capacity: Int
    let stride: Int
    /// By index of the block: the sizes that do not fit in a row.
    var largeSizes: [Int: UInt64] = [:]
    var common = LiveBlock(address: 0, size: 0, birthTime: 0, site: SiteID(0))

    init(stride: Int, capacity: Int) {
      self.stride = stride
      self.capacity = Swift.max(1, capacity)
      start = Self.resize(nil, to: self.capacity * stride)
    }

    deinit { free(start) }

    /// Makes room for more blocks. realloc grows large memory by remapping its pages, which needs no second copy.
    func grow() {
      capacity += Swift.max(64, capacity / 2)
      start = Self.resize(start, to: capacity * stride)
    }

    private static func resize(_ memory: UnsafeMutableRawPointer?, to size: Int) -> UnsafeMutableRawPointer {
      guard let resized = realloc(memory, size) else { preconditionFailure("no memory for \(size) bytes of blocks") }
      return resized
    }
  }

  private let memory: Memory
  package let count: Int
  private let isOfRows: Bool

  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  fileprivate init(_ memory: Memory, count: Int) {
    (self.memory, self.count) = (memory, count)
    isOfRows = memory.stride == MemoryLayout<Row>.stride
  }

  /// Copies blocks that are in any order.
  package init(_ blocks: some Collection<LiveBlock>) {
    self.init(capacity: blocks.count) { place in
      var count = 0
      for block in blocks {
        place[count] = block
        count += 1
      }
      return count
    }
  }

  /// Makes a list of blocks that `fill` writes into the given memory. `fill` returns the number of the blocks.
  package init(capacity: Int, _ fill: (UnsafeMutableBufferPointer<LiveBlock>) -> Int) {
    let memory = Memory(stride: MemoryLayout<LiveBlock>.stride, capacity: capacity)
    let places = memory.start.bindMemory(to: LiveBlock.self, capacity: memory.capacity)
    let count = fill(UnsafeMutableBufferPointer(start: places, count: memory.capacity))
    precondition(count <= memory.capacity, "more blocks than places")
    self.init(memory, count: count)
  }

  /// The block at an index. Traps if the index is out of range.
  package subscript(_ index: Int) -> LiveBlock {
    precondition(index >= 0 && index < count, "no such block")
    let place = memory.start + index &* memory.stride
    if !isOfRows { return place.load(as: LiveBlock.self) }
    let row = place.load(as: Row.self)
    var block = memory.common
    block.address = row.address
    block.size = row.size == Row.largeSize ? memory.largeSizes[index] ?? row.size : row.size
    block.site = row.site
    block.ordinal = UInt64(index)
    block.threadOrdinal = UInt32(truncatingIfNeeded: index)
    return block
  }

  /// Returns the block that begins at an address. The blocks must be in order of address. Logarithmic.
  func listed(at address: UInt64) -> LiveBlock? {
    let index = places.lowerBound(address, count: count)
    return index < count && places.address(index) == address ? self[index] : nil
  }

  /// The memory of a list's blocks, for code that looks up very many blocks. Valid as long as the list.
  package struct Places {
    package let start: UnsafeRawPointer
    /// Bytes from one block to the next.
    package let stride: Int
    /// True if each block is a `LiveBlock`. Otherwise each is a `Row`, and its other properties are in `common`.
    package let areWhole: Bool
    package let common: LiveBlock
    /// The bits of a block's first word that are its address.
    private let addressMask: UInt64

    fileprivate init(_ memory: Memory, areWhole: Bool) {
      start = UnsafeRawPointer(memory.start)
      stride = memory.stride
      self.areWhole = areWhole
      common = memory.common
      addressMask = areWhole ? .max : Row.addressLimit - 1
    }

    /// The address of the block at `index`, which must be in range.
    @inline(__always)
    package func address(_ index: Int) -> UInt64 {
      (start + index &* stride).loadUnaligned(as: UInt64.self) & addressMask
    }

    /// The size of the block at `index`; nil if it does not fit in a row.
    @inline(__always)
    package func size(_ index: Int) -> UInt64? {
      let place = start + index &* stride
      if areWhole { return place.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
      let size = place.loadUnaligned(as: UInt64.self) &>> 48
      return size == Row.largeSize ? nil : size
    }

    /// Returns the index of the first of `count` blocks at or after an address. The blocks must be in order of address.
    /// Logarithmic.
    package func lowerBound(_ address: UInt64, count: Int) -> Int {
      var (low, high) = (0, count)
      while low < high {
        let middle = (low + high) / 2
        if self.address(middle) < address { low = middle + 1 } else { high = middle }
      }
      return low
    }

    /// The site of the block at `index`, which must be a `Row`.
    @inline(__always)
    package func siteOfRow(_ index: Int) -> SiteID {
      SiteID((start + index &* stride).load(fromByteOffset: 8, as: UInt32.self))
    }
  }

  package var places: Places { Places(memory, areWhole: !isOfRows) }

  /// Collects the blocks of a list: allocations of one time and one execution, in order of address. For one thread at a
  /// time.
  struct Listing {
    private let memory = Memory(stride: MemoryLayout<Row>.stride, capacity: 64)
    private(set) var count = 0
    private var lastAddress: UInt64 = 0

    /// Returns whether a block may be the next one. The first block sets the properties that all blocks share.
    @inline(__always)
    func admits(address: UInt64, time: UInt64) -> Bool {
      address > lastAddress && address < Row.addressLimit && (count == 0 || time == memory.common.birthTime)
    }

    /// Returns whether blocks of an execution may be in the list.
    @inline(__always)
    func admits(execution: ExecutionID, threadIndex: UInt32) -> Bool {
      count == 0 || (execution == memory.common.execution && threadIndex == memory.common.threadIndex)
    }

    /// Adds a block that both `admits` functions accept. The block's index in the list replaces its ordinals.
    @inline(__always)
    mutating func append(_ block: LiveBlock) {
      if count == 0 { memory.common = block }
      if count == memory.capacity { memory.grow() }
      if block.size >= Row.largeSize { memory.largeSizes[count] = block.size }
      (memory.start + count &* MemoryLayout<Row>.stride).storeBytes(
        of: Row(address: block.address, size: block.size, site: block.site), as: Row.self)
      lastAddress = block.address
      count += 1
    }

    /// The blocks so far. No block must be appended while this list is in use.
    var blocks: LiveBlockList { LiveBlockList(memory, count: count) }
  }
}
