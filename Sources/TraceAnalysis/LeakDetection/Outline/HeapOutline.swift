// Outlines a heap image: the memory that each holder keeps alive, and the references to the objects of each type.

import HeapAnalysis
import TraceReading

/// The dominator tree of a heap image, and the references between types. In the tree, objects of one type with the same
/// dominator are joined. Names are unescaped, so a writer must escape them.
package struct HeapOutline: Sendable {
  /// A type of blocks, identified by its name, or a root.
  package struct Kind: Hashable, Sendable {
    /// The name that the programmer uses. Includes the module if another type has the same name.
    package var name: String
    /// The name with its module, as in allocation sites; empty for roots.
    package var qualifiedName = ""
    /// Nil for roots, and for the groups of blocks that several roots hold or that nothing holds.
    package var node: NodeKind?
  }

  /// Blocks of one kind that the blocks of one parent group keep alive.
  package struct Group: Sendable {
    /// Index of the group that keeps this group alive; lower than this group's index. −1 if there is none.
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
    /// Bytes that would be freed if all blocks of the type were freed.
    package var retainedBytes: UInt64 = 0
    /// The holders, in descending order of references.
    package var holders: [Holder] = []
  }

  /// The references from one field of one kind to the blocks of a type.
  package struct Holder: Hashable, Sendable {
    /// Index into `kinds`.
    package var kind: Int
    /// Empty if the field's name is not known.
    package var field: String
    package var references: UInt64
  }

  package internal(set) var kinds: [Kind] = []
  /// The groups of the tree. Parents come before their children.
  package internal(set) var groups: [Group] = []
  /// The types with blocks in the heap image, in descending order of retained bytes.
  package internal(set) var types: [TypeTotal] = []
}

extension LeakAnalysis {
  /// Returns the outline of the heap image. Time and memory are proportional to the blocks and references.
  package func outline() -> HeapOutline {
    let heads = leakHeads()
    let finder = verdicts.finder
    let abandoned = Set(finder.abandoned)
    return HeapOutlineBuilder(graph, leakHeads: heads) { node in
      !finder.unreachable.contains(node) && !abandoned.contains(node)
    }.outline()
  }
}
