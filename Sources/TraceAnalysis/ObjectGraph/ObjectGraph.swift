// Blocks, and which of them hold which: the heap image read with what is known of types.

/// The live heap of a snapshot as a graph: its nodes are the blocks in order of address, then the roots.
///
/// Memory: some 60 bytes a block and 9 a reference, besides the heap and the image. Immutable, but for what reading the image remembers: for one thread at a time.
public final class ObjectGraph {
  public let snapshot: TraceSnapshot
  public let heap: LiveHeap
  public let image: HeapImage
  public let roots: HeapRoots
  public let graph: HeapGraph
  public let types: [NodeType]
  public let labels: [EdgeLabel]
  /// By block: index into `types`.
  let nodeTypes: [UInt32]
  /// By block: its `deinit` has run, and its memory is kept all the same.
  let deinitialised: NodeSet
  /// By block: made before calls went missing from the trace, and nothing in the image proves that it is still what it was. Its memory may be anybody's.
  let uncertain: NodeSet
  /// Every reference of the process is in it, as far as its image is meant to have them.
  public let isWhole: Bool
  /// Memory that a task took for its functions' frames: the task it is a part of.
  let taskOfSlab: [UInt32: UInt32]
  /// The Swift module that the executable was made from, as far as its name tells.
  public let mainModule: String
  /// Names of the fields that hold references, by index into `types`; none where no layout was asked for.
  let fieldNames: [[String]]
  /// References without ownership to memory that is no longer allocated.
  public let dangling: [DanglingReference]
  /// Types whose fields are not known, so that they were scanned; by index into `types`.
  public let scannedTypes: [Int]
  /// What is not known of the Swift runtime of the program, and what follows from that, in sentences.
  let runtimeRemarks: [String]
  /// Why no type's fields are known; nil if reflection worked.
  public let reflectionProblem: String?

  public struct DanglingReference: Hashable, Sendable {
    public var from: BlockID
    public var label: EdgeLabelID
    public var target: UInt64
    /// Something lives at the target that is not of the reference's type by name; it dangles only if one of that type has ended there.
    public var isTargetReused = false
  }

  /// Edges along which memory is kept alive.
  public static let owning: EdgeKinds = EdgeKinds([.strong, .conservative, .unmanaged, .bookkeeping, .taskLink])

  /// Edges by which what is lost keeps what else is lost, so that both have one cause.
  static let keeping: EdgeKinds = EdgeKinds([.strong, .conservative, .unmanaged, .bookkeeping])

  /// Memory may be in use whose allocation the trace does not show.
  var hasUnseenMemory: Bool { roots.roots.contains { $0.kind == .unseen } }

  public var blockCount: Int { heap.count }
  public func isRoot(_ node: UInt32) -> Bool { Int(node) >= heap.count }
  public func root(_ node: UInt32) -> HeapRoot { roots.roots[Int(node) - heap.count] }
  public func type(of node: UInt32) -> NodeType { types[Int(nodeTypes[Int(node)])] }
  func fieldNames(of node: UInt32) -> [String] { fieldNames[Int(nodeTypes[Int(node)])] }
  public func label(_ id: UInt32) -> EdgeLabel? { id < 1 << 31 ? labels[Int(id)] : nil }
  public var rootNodes: [UInt32] { (heap.count..<heap.count + roots.roots.count).map { UInt32($0) } }

  /// The reference count word of an object.
  public func referenceCount(of node: UInt32) -> ReferenceCount? {
    ObjectGraph.referenceCount(of: heap[BlockID(node)].address, in: image)
  }

  public static func referenceCount(of address: UInt64, in image: HeapImage) -> ReferenceCount? {
    guard let bits = image.word(at: address &+ 8) else { return nil }
    if let table = ReferenceCount.sideTable(bits) {
      guard let inner = image.word(at: table &+ 16) else { return nil }
      return ReferenceCount(sideTableCounts: inner, weak: image.word(at: table &+ 24))
    }
    return ReferenceCount(inline: bits)
  }

  init(
    snapshot: TraceSnapshot, heap: LiveHeap, image: HeapImage, roots: HeapRoots, graph: HeapGraph, types: [NodeType], labels: [EdgeLabel],
    nodeTypes: [UInt32], deinitialised: NodeSet, uncertain: NodeSet, isWhole: Bool, taskOfSlab: [UInt32: UInt32], mainModule: String, fieldNames: [[String]], dangling: [DanglingReference], scannedTypes: [Int], runtimeRemarks: [String], reflectionProblem: String?
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
    self.scannedTypes = scannedTypes
    self.runtimeRemarks = runtimeRemarks
    self.reflectionProblem = reflectionProblem
  }
}

extension EdgeKinds {
  init(_ strengths: [EdgeStrength]) { self = strengths.reduce(EdgeKinds(rawValue: 0)) { $0.union(EdgeKinds(kind: $1.rawValue)) } }
}

/// A Swift object's counts, as its second word holds them.
/// Source: swiftlang/swift, stdlib/public/SwiftShims/swift/shims/RefCount.h.
public struct ReferenceCount: Codable, Hashable, Sendable {
  /// References that keep it from being deinitialised.
  public var strong: UInt32
  /// References that keep its memory, one of which stands for all strong ones.
  public var unowned: UInt32
  /// Weak references; 0 without a side table, and where it was not captured.
  public var weak: UInt32
  /// `deinit` has begun.
  public var isDeiniting: Bool
  /// Never counted: static objects.
  public var isImmortal: Bool

  init?(inline bits: UInt64) {
    guard bits & 0xFFFF_FFFF != 0xFFFF_FFFF else {
      (strong, unowned, weak, isDeiniting, isImmortal) = (1, 1, 0, false, true)
      return
    }
    guard bits >> 63 == 0 else { return nil }
    strong = UInt32(bits >> 33 & 0x3FFF_FFFF) + 1
    unowned = UInt32(bits >> 1 & 0x7FFF_FFFF)
    weak = 0
    isDeiniting = bits >> 32 & 1 != 0
    isImmortal = false
    if isDeiniting { strong = 0 }
  }

  init?(sideTableCounts bits: UInt64, weak: UInt64?) {
    self.init(inline: bits & ~(1 << 63))
    self.weak = UInt32(truncatingIfNeeded: weak ?? 0)
  }

  /// The address of the side table that the word stands for, if it does.
  static func sideTable(_ bits: UInt64) -> UInt64? {
    bits >> 62 == 3 ? (bits & (1 << 62 - 1)) << 3 : nil
  }
}
