// The heap image as a graph of blocks and references, read with the known layouts of types.

import CHeapScan
import TraceReading

/// The live heap of a snapshot as a graph. Its nodes are the blocks in order of address, followed by the roots.
///
/// Memory: 6 bytes a block and 9 a reference, besides the heap and the heap image. The graph is immutable, but reads of
/// the heap image change a cache. So it is for one thread at a time.
package final class ObjectGraph {
  package let snapshot: TraceSnapshot
  package let heap: LiveHeap
  package let image: HeapImage
  package let roots: HeapRoots
  package let graph: HeapGraph
  package let types: [NodeType]
  package let labels: [EdgeLabel]
  /// The type of each block, as an index into `types`.
  package let nodeTypes: NodeTypeTable
  /// The blocks of objects whose `deinit` has begun, but whose memory is not freed.
  package let deinitialised: NodeSet
  /// The blocks that may have been freed and reused without a record. They were allocated before calls went missing
  /// from the trace, and nothing in the heap image proves that they are still allocated.
  package let uncertain: NodeSet
  /// True if the graph has every reference of the process that the heap image should show.
  package let isWhole: Bool
  /// The task of each slab. The key is the slab's node. A task allocates slabs for the frames of its functions.
  package let taskOfSlab: [UInt32: UInt32]
  /// The Swift module of the executable, guessed from its name.
  package let mainModule: String
  /// Names of the fields that hold references, by index into `types`. Empty if the layout is unknown or was not looked
  /// up.
  let fieldNames: [[String]]
  /// References without ownership whose target is no longer allocated, or has probably been reused.
  package let dangling: [DanglingReference]
  /// Numbers that equal addresses of blocks, in places that hold no references according to the type.
  package let numbers: [NumberReference]
  /// The known states of tasks, by node.
  package let taskStates: [UInt32: TaskState]
  package let taskRelations: TaskRelations
  /// Tasks that may react to a cancellation.
  package let cancellableTasks: Set<NodeID>
  /// The code addresses where new tasks begin.
  let taskBeginnings: Set<UInt64>
  /// Tasks of unknown layout. The graph lacks the references that can resume them.
  package let unknownTasks: [NodeID]
  /// Types that were scanned because their fields are unknown; by index into `types`.
  package let scannedTypes: [Int]
  /// Sentences for the reader about unknown facts of the program's Swift runtime, and their consequences.
  package let runtimeRemarks: [String]
  /// The reason why no type's fields are known; nil if reflection worked.
  package let reflectionProblem: String?

  /// A number in a node that is the address of another node.
  package struct NumberReference: Hashable, Sendable {
    package var from: UInt32
    package var to: UInt32
  }

  package struct DanglingReference: Hashable, Sendable {
    package var from: BlockID
    package var label: EdgeLabelID
    package var target: UInt64
    /// True if the block now at the target has a type of another name than the reference's type. The reference dangles
    /// only if an object of its own type was freed there.
    package var isTargetReused = false
    /// True if the object now at the target is certainly not an instance of the reference's class.
    package var isTargetOfOtherClass = false
  }

  /// The kinds of edges that keep memory in use.
  package static let owning: EdgeKinds = EdgeKinds([
    .strong, .conservative, .unmanaged, .bookkeeping, .taskLink, .surplus,
  ])

  /// The kinds of edges through which a lost object keeps other lost objects alive. Such objects share one cause.
  package static let keeping: EdgeKinds = EdgeKinds([.strong, .conservative, .unmanaged, .bookkeeping])

  /// True if the trace may lack allocations of memory in use.
  package var hasUnseenMemory: Bool { roots.roots.contains { $0.kind == .unseen } }

  package var blockCount: Int { heap.count }
  package func isRoot(_ node: UInt32) -> Bool { Int(node) >= heap.count }
  package func root(_ node: UInt32) -> HeapRoot { roots.roots[Int(node) - heap.count] }
  package func type(of node: UInt32) -> NodeType { types[Int(nodeTypes[Int(node)])] }
  package func fieldNames(of node: UInt32) -> [String] { fieldNames[Int(nodeTypes[Int(node)])] }
  package func label(_ id: UInt32) -> EdgeLabel? { id < 1 << 31 ? labels[Int(id)] : nil }
  package var rootNodes: [UInt32] { (heap.count..<heap.count + roots.roots.count).map { UInt32($0) } }

  /// Returns the counts of an object; nil if the heap image lacks them.
  package func referenceCount(of node: UInt32) -> ReferenceCount? {
    ObjectGraph.referenceCount(of: heap[BlockID(node)].address, in: image)
  }

  package static func referenceCount(of address: UInt64, in image: HeapImage) -> ReferenceCount? {
    guard let bits = image.word(at: address &+ UInt64(SWIFT_OBJECT_COUNTS)) else { return nil }
    if let table = ReferenceCount.sideTable(bits) {
      guard let inner = image.word(at: table &+ SideTable.countsOffset) else { return nil }
      return ReferenceCount(sideTableCounts: inner, weak: image.word(at: table &+ SideTable.weakCountOffset))
    }
    return ReferenceCount(inline: bits)
  }

  init(
    snapshot: TraceSnapshot, heap: LiveHeap, image: HeapImage, roots: HeapRoots, graph: HeapGraph, types: [NodeType],
    labels: [EdgeLabel],
    nodeTypes: NodeTypeTable, deinitialised: NodeSet, uncertain: NodeSet, isWhole: Bool, taskOfSlab: [UInt32: UInt32],
    mainModule: String, fieldNames: [[String]], dangling: [DanglingReference], numbers: [NumberReference],
    taskStates: [UInt32: TaskState], taskRelations: TaskRelations, cancellableTasks: Set<NodeID>,
    taskBeginnings: Set<UInt64>, unknownTasks: [NodeID], scannedTypes: [Int],
    runtimeRemarks: [String],
    reflectionProblem: String?
  ) {
    self.snapshot = snapshot
    self.heap = heap
    self.image = image
    self.roots = roots
    self.graph = graph
    self.types = types
    self.labels = labels
    self.nodeTypes = nodeTypes
    self.deinitialised = deinitialised
    self.uncertain = uncertain
    self.isWhole = isWhole
    self.taskOfSlab = taskOfSlab
    self.mainModule = mainModule
    self.fieldNames = fieldNames
    self.dangling = dangling
    self.numbers = numbers
    self.taskStates = taskStates
    self.taskRelations = taskRelations
    self.cancellableTasks = cancellableTasks
    self.taskBeginnings = taskBeginnings
    self.unknownTasks = unknownTasks
    self.scannedTypes = scannedTypes
    self.runtimeRemarks = runtimeRemarks
    self.reflectionProblem = reflectionProblem
  }
}

extension EdgeKinds {
  package init(_ strengths: [EdgeStrength]) {
    self = strengths.reduce(EdgeKinds(rawValue: 0)) { $0.union(EdgeKinds(kind: $1.rawValue)) }
  }
}

/// The counts in the second word of a Swift object. Source: swiftlang/swift,
/// stdlib/public/SwiftShims/swift/shims/RefCount.h.
package struct ReferenceCount: Codable, Hashable, Sendable {
  /// References that keep the object from being deinitialised.
  package var strong: UInt32
  /// References that keep the object's memory. All strong references together count as one.
  package var unowned: UInt32
  /// Weak references; 0 without a side table, or if the heap image lacks the count.
  package var weak: UInt32
  /// True if `deinit` has begun.
  package var isDeiniting: Bool
  /// True for static objects, whose references are not counted.
  package var isImmortal: Bool

  init?(inline bits: UInt64) {
    guard !lt_counts_are_immortal(bits) else {
      (strong, unowned, weak, isDeiniting, isImmortal) = (1, 1, 0, false, true)
      return
    }
    guard bits >> 63 == 0 else { return nil }
    strong = lt_strong_extra_count(bits) + 1
    unowned = lt_unowned_count(bits)
    weak = 0
    isDeiniting = lt_counts_are_deiniting(bits)
    isImmortal = false
    if isDeiniting { strong = 0 }
  }

  init?(sideTableCounts bits: UInt64, weak: UInt64?) {
    self.init(inline: bits & ~(1 << 63))
    self.weak = UInt32(truncatingIfNeeded: weak ?? 0)
  }

  /// Returns the address of the side table if the word holds an address instead of counts; otherwise nil.
  static func sideTable(_ bits: UInt64) -> UInt64? {
    lt_counts_are_in_side_table(bits) ? lt_side_table_of(bits) : nil
  }
}
