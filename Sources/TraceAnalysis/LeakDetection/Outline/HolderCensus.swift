// Counts the blocks of a heap image by type and holder, so that heap images can be compared by name.

import HeapAnalysis
import TraceReading

/// Numbers and sizes of blocks by type and holder. A census has no addresses, so it can be compared with a census of
/// another heap image of the process, or of another build. Memory is proportional to the number of rows, at most
/// `rowLimit`.
package struct HolderCensus: Codable, Hashable, Sendable {
  /// The kind of thing that keeps objects in use.
  package enum HolderKind: String, Codable, Hashable, Sendable {
    /// A field of an object.
    case field
    /// A global or static variable of the program.
    case variable
    case task
    /// Stacks and registers. They hold objects that a thread is working with.
    case thread
    /// Variables of the platform's libraries.
    case library
    /// Memory that was mapped without the allocator, or whose allocation was not recorded.
    case mapping
    /// Nothing holds the object: it is leaked, or only leaked objects hold it.
    case nothing
  }

  /// Names of holders that are neither the program's nor a named library's.
  package enum HolderName {
    package static let nothing = "nothing"
    package static let stacks = "stacks of threads"
    package static let threadLocal = "thread-local variables"
    package static let mapping = "memory that was mapped without malloc"
    package static let unseen = "memory whose allocation was not seen"

    package static let all: Set<String> = [nothing, stacks, threadLocal, mapping, unseen]
  }

  /// Identifies a row. Keys of other heap images are comparable. Keys of other builds are comparable if their names are
  /// unchanged.
  package struct Key: Codable, Hashable, Comparable, Sendable {
    /// The type's name with modules, without parts that change from build to build.
    package var type: String
    package var holder: String

    package init(type: String, holder: String) { (self.type, self.holder) = (type, holder) }

    package static func < (a: Self, b: Self) -> Bool { (a.type, a.holder) < (b.type, b.holder) }
  }

  package struct Row: Codable, Hashable, Sendable {
    package var key: Key
    /// The type's name as the programmer knows it.
    package var name: String
    package var kind: NodeKind
    package var holderKind: HolderKind
    /// The type whose field holds the objects, written as in `Key.type`; nil if the holder is not a field.
    package var owner: String?
    /// True if a library of the platform declares the type.
    package var isPlatform: Bool
    package var objects: UInt64 = 0
    package var bytes: UInt64 = 0
    /// The sum of the collections' element counts; 0 for other kinds.
    package var elements: UInt64 = 0
    /// Bytes that would be freed with all objects of the row.
    package var retainedBytes: UInt64 = 0

    /// The number of elements for collections, and the number of objects for all other kinds.
    package var count: UInt64 { kind.isCollection ? elements : objects }

    package init(
      key: Key, name: String, kind: NodeKind, holderKind: HolderKind, owner: String? = nil, isPlatform: Bool = false
    ) {
      (self.key, self.name, self.kind, self.holderKind) = (key, name, kind, holderKind)
      (self.owner, self.isPlatform) = (owner, isPlatform)
    }
  }

  /// The rows, in descending order of retained bytes.
  package var rows: [Row]
  /// The number of all blocks, including those without a row.
  package var objects: UInt64
  package var bytes: UInt64
  /// The number of rows that were left out because there are too many.
  var omittedRows: Int

  package init(rows: [Row], objects: UInt64, bytes: UInt64, omittedRows: Int = 0) {
    (self.rows, self.objects, self.bytes, self.omittedRows) = (rows, objects, bytes, omittedRows)
  }

  /// Maximum number of rows. Programs have a few hundred rows, and large servers have a few thousand.
  package static let rowLimit = 8192
}

/// A sample of a row's objects, chosen by a hash of their addresses. So the samples of two heap images mostly choose
/// the same objects.
package struct ObjectSample: Hashable, Sendable {
  /// The lowest hashes of addresses, in ascending order.
  package private(set) var hashes: [UInt64] = []

  /// Maximum number of hashes. With this many, the share of objects that still exist has an error of about a tenth.
  static let capacity = 64
  /// Minimum number of objects for a share. With fewer objects, chance decides the share.
  static let minShared = 8

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

  /// Returns the share of these objects that are also in a later sample; nil if there are too few to compare.
  func keptShare(in later: ObjectSample) -> Double? {
    // A full sample leaves out all hashes after its last hash, so compare only the hashes up to there.
    let ends = [self, later].filter { $0.hashes.count == Self.capacity }.compactMap(\.hashes.last)
    let end = ends.min() ?? .max
    let comparable = hashes.prefix { $0 <= end }
    guard comparable.count >= Self.minShared else { return nil }
    let others = Set(later.hashes)
    return Double(comparable.count { others.contains($0) }) / Double(comparable.count)
  }

  /// SplitMix64's finalizer, which spreads neighbouring addresses. Source: Steele, Lea, Flood, "Fast splittable
  /// pseudorandom number generators", 2014.
  private static func hash(_ address: UInt64) -> UInt64 {
    var z = address &+ 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// A heap image's census, and samples of its objects to compare with the next heap image.
package struct ImageCensus: Sendable {
  package var census: HolderCensus
  package var samples: [HolderCensus.Key: ObjectSample]
  /// For each row, the object with the best-known path.
  var examples: [HolderCensus.Key: Example]

  package struct Example: Hashable, Sendable {
    package var node: NodeID
    /// The reference that holds the object; nil if nothing holds it.
    package var entry: EdgeIndex?
  }

  package init(
    census: HolderCensus, samples: [HolderCensus.Key: ObjectSample] = [:], examples: [HolderCensus.Key: Example] = [:]
  ) {
    (self.census, self.samples, self.examples) = (census, samples, examples)
  }
}

extension LeakAnalysis {
  /// Returns the census of the heap image. O(blocks and references), and one lookup of names per holder.
  package func census() -> ImageCensus {
    HolderCensusBuilder(graph, names()) { [finder = verdicts.finder] in finder.unreachable.contains($0) }.census()
  }
}
