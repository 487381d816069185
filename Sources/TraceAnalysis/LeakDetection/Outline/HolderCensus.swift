// The blocks of a heap image by type and by what keeps them, so that images can be compared by name.

import HeapAnalysis
import TraceReading

/// Numbers and sizes by type and holder, without addresses: images of one process and of several builds are compared in
/// the same way. A value. Memory in proportion to the pairs of types and holders, at most `rowLimit`.
package struct HolderCensus: Codable, Hashable, Sendable {
  /// What keeps objects in use, in general.
  package enum HolderKind: String, Codable, Hashable, Sendable {
    /// A field of an object.
    case field
    /// A global or static variable of the program.
    case variable
    case task
    /// Stacks and registers: objects that a thread is working with.
    case thread
    /// Variables of the platform's libraries.
    case library
    /// Memory that was mapped without the allocator, or whose allocation was not seen.
    case mapping
    /// Nothing: it is leaked, or only a leak holds it.
    case nothing
  }

  /// Names of holders that are none of the program's, and of no library by name.
  package enum HolderName {
    package static let nothing = "nothing"
    package static let stacks = "stacks of threads"
    package static let threadLocal = "thread-local variables"
    package static let mapping = "memory that was mapped without malloc"
    package static let unseen = "memory whose allocation was not seen"

    package static let all: Set<String> = [nothing, stacks, threadLocal, mapping, unseen]
  }

  /// Identifies a row. Equal in other images, and in other builds if the names are.
  package struct Key: Codable, Hashable, Comparable, Sendable {
    /// With modules, without parts that change from build to build.
    package var type: String
    package var holder: String

    package init(type: String, holder: String) { (self.type, self.holder) = (type, holder) }

    package static func < (a: Self, b: Self) -> Bool { (a.type, a.holder) < (b.type, b.holder) }
  }

  package struct Row: Codable, Hashable, Sendable {
    package var key: Key
    /// The type's name, as people know it.
    package var name: String
    package var kind: NodeKind
    package var holderKind: HolderKind
    /// The type whose field holds, as in `Key.type`; nil for other holders.
    package var owner: String?
    /// A library of the platform has it for itself.
    package var isPlatform: Bool
    package var objects: UInt64 = 0
    package var bytes: UInt64 = 0
    /// Of collections, by their own counts.
    package var elements: UInt64 = 0
    /// Bytes that would be freed with all of them. 0 for what nothing holds.
    package var retainedBytes: UInt64 = 0

    /// What is counted: elements of collections, and objects of all else.
    package var count: UInt64 { kind.isCollection ? elements : objects }

    package init(
      key: Key, name: String, kind: NodeKind, holderKind: HolderKind, owner: String? = nil, isPlatform: Bool = false
    ) {
      (self.key, self.name, self.kind, self.holderKind) = (key, name, kind, holderKind)
      (self.owner, self.isPlatform) = (owner, isPlatform)
    }
  }

  /// Most retained bytes first.
  package var rows: [Row]
  /// All blocks, those without a row included.
  package var objects: UInt64
  package var bytes: UInt64
  /// Rows that were left out, since there are too many.
  package var omittedRows: Int

  package init(rows: [Row], objects: UInt64, bytes: UInt64, omittedRows: Int = 0) {
    (self.rows, self.objects, self.bytes, self.omittedRows) = (rows, objects, bytes, omittedRows)
  }

  /// Programs have some hundred, large servers a few thousand.
  package static let rowLimit = 8192
}

/// Some of the objects of a row, chosen by hash of their addresses: each image that has an object chooses the same.
package struct ObjectSample: Hashable, Sendable {
  /// Hashes of addresses, in ascending order: the lowest ones of all.
  package private(set) var hashes: [UInt64] = []

  /// Enough to measure the part that stays to a tenth.
  static let capacity = 64
  /// Shares of fewer objects are chance.
  static let leastShared = 8

  package init() {}

  package mutating func add(address: UInt64) {
    let hash = Self.hash(address)
    if hashes.count == Self.capacity, hash >= hashes[Self.capacity - 1] { return }
    var (low, high) = (0, hashes.count)
    while low < high {
      let middle = (low + high) / 2
      if hashes[middle] < hash { low = middle + 1 } else { high = middle }
    }
    if low < hashes.count, hashes[low] == hash { return }
    hashes.insert(hash, at: low)
    if hashes.count > Self.capacity { hashes.removeLast() }
  }

  /// The part of these objects that are in a later sample, too; nil for too few.
  package func keptShare(in later: ObjectSample) -> Double? {
    // Beyond the end of a sample that is full nothing is known.
    let ends = [self, later].filter { $0.hashes.count == Self.capacity }.compactMap(\.hashes.last)
    let end = ends.min() ?? .max
    let comparable = hashes.prefix { $0 <= end }
    guard comparable.count >= Self.leastShared else { return nil }
    let others = Set(later.hashes)
    return Double(comparable.count { others.contains($0) }) / Double(comparable.count)
  }

  /// SplitMix64's finalizer: neighbours are far apart. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number
  /// generators", 2014.
  private static func hash(_ address: UInt64) -> UInt64 {
    var z = address &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// An image's census, and samples of its objects for the next image's.
package struct ImageCensus: Sendable {
  package var census: HolderCensus
  package var samples: [HolderCensus.Key: ObjectSample]
  /// An object of each row, the one with the best-known path.
  package var examples: [HolderCensus.Key: Example]

  package struct Example: Hashable, Sendable {
    package var node: NodeID
    /// The reference that holds it; nil for what nothing does.
    package var entry: EdgeIndex?
  }

  package init(
    census: HolderCensus, samples: [HolderCensus.Key: ObjectSample] = [:], examples: [HolderCensus.Key: Example] = [:]
  ) {
    (self.census, self.samples, self.examples) = (census, samples, examples)
  }
}

extension LeakAnalysis {
  /// The census of the heap image. O(blocks and references), and names for the holders.
  package func census() -> ImageCensus {
    HolderCensusBuilder(graph, names()) { [finder = verdicts.finder] in finder.unreachable.contains($0) }.census()
  }
}
