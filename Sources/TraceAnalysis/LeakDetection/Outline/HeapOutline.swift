// A heap image at a glance: which memory each holder keeps alive, and who refers to the objects of each type.

import HeapAnalysis
import TraceReading

/// The dominator tree of a heap image with objects of one type and one dominator joined, and the references between
/// types. Names are unescaped: a writer must escape them. A value.
package struct HeapOutline: Sendable {
  /// A type of blocks, by name, or a root.
  package struct Kind: Hashable, Sendable {
    /// As the programmer knows it; with its module where another type has the same name.
    package var name: String
    /// With its module, as sites have it; empty for roots.
    package var qualifiedName = ""
    /// Nil for roots, and for what nothing leads to.
    package var node: NodeKind?
  }

  /// Blocks of one kind that are kept alive by the same.
  package struct Group: Sendable {
    /// Index of the group without which it would go; lower than its own, −1 for none.
    package var parent: Int
    /// Index into `kinds`.
    package var kind: Int
    package var blocks: UInt64 = 0
    package var bytes: UInt64 = 0
  }

  package struct TypeTotal: Sendable {
    /// Index into `kinds`.
    package var kind: Int
    package var blocks: UInt64 = 0
    package var bytes: UInt64 = 0
    /// Bytes that would go with all of its blocks.
    package var retainedBytes: UInt64 = 0
    /// Most references first.
    package var holders: [Holder] = []
  }

  /// References of one kind to the blocks of another, by one field.
  package struct Holder: Hashable, Sendable {
    /// Index into `kinds`.
    package var kind: Int
    /// Empty if its name is not known.
    package var field: String
    package var references: UInt64
  }

  package internal(set) var kinds: [Kind] = []
  /// Parents before their children.
  package internal(set) var groups: [Group] = []
  /// Types with blocks in the image; most retained bytes first.
  package internal(set) var types: [TypeTotal] = []
}

extension LeakAnalysis {
  /// The outline of the heap image. Takes time and memory in proportion to the blocks and references.
  package func outline() -> HeapOutline {
    let heads = leakHeads()
    let finder = verdicts.finder
    let abandoned = Set(finder.abandoned)
    return HeapOutlineBuilder(graph, leakHeads: heads) { node in
      !finder.unreachable.contains(node) && !abandoned.contains(node)
    }.outline()
  }
}
