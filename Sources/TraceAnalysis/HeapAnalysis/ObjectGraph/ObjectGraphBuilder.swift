// Builds the graph of a heap image by reading every live block for references.

import TraceReading

/// Makes the graph of a snapshot. Linear in the blocks and the words of the heap image.
package struct ObjectGraphBuilder {
  let heap: LiveHeap
  let image: HeapImage
  let roots: HeapRoots
  let layouts: LayoutSource?
  let isListed: (LiveBlock) -> Bool
  let labels = LabelTable()
  let graph: HeapGraphBuilder
  var types: [NodeType] = []
  var typeRows: [TypeRow] = []
  var nodeTypes: NodeTypeTable
  var deinitialised: NodeSet
  /// The deinitialised blocks whose `deinit` may still be running or waiting.
  var ending: Set<UInt32> = []
  let uncertain: NodeSet
  /// The edge that was added last.
  var last = AddedEdge(source: .max, target: .max, label: 0, kind: 0)
  var dispatchMemory: DispatchMemory?
  var sideTableType: UInt32?
  var taskMemory: TaskMemory
  var taskWords = TaskWords()
  var taskWaits = TaskWaits()
  /// Words that lead to a task but cannot resume it. They are handles if the task's reference count leaves room for
  /// handles.
  var handles: [(source: UInt32, target: UInt32, label: UInt32, strength: EdgeStrength)] = []
  /// The ranges of tasks and slabs whose words keep nothing, in order. The key is the block.
  var unused: [UInt32: [Range<UInt64>]] = [:]
  var taskRegistry: TaskRegistry?
  /// Tasks whose layout is unknown.
  var unknownTasks: [NodeID] = []
  var runtimeRemarks: [String] = []
  var dangling: [ObjectGraph.DanglingReference] = []
  /// The code addresses where new tasks begin.
  var beginnings: Set<UInt64> = []
  var taskStates: [UInt32: TaskState] = [:]
  var taskRelations = TaskRelations()
  var cancellableTasks: Set<NodeID> = []
  var numbers: [ObjectGraph.NumberReference] = []
  var heapExtent: Range<UInt64>
  let selection: PayloadSelection
  /// Caches whether a reference can lead to a type, since comparing names is slow. The upper half of a key is the
  /// reference's label, and the lower half is the type's row.
  var fitting: [UInt64: Bool] = [:]
  var classNames: Set<String> = []
  var isTaskMetadata: [UInt64: Bool] = [:]
  var isTypeMetadata: [UInt64: Bool] = [:]
  var bufferedValues: [BufferKey: BufferContents?] = [:]

  static let danglingLimit = 100_000
  static let numberLimit = 1 << 22
  /// The maximum number of entries in each cache.
  static let metadataLimit = 1 << 16

  /// The key for a type in the buffer of an `any P`. The key includes the buffer's offset, since captures have no
  /// labels to tell their buffers apart.
  struct BufferKey: Hashable {
    var metadata: UInt64
    var label: UInt32?
    var offset: UInt64
  }
  enum BufferContents {
    case object
    case inline(NodeLayout.Part, size: UInt64)
    case unknown(size: UInt64)
  }

  struct TypeRow {
    var type: TraceType?
    var layout: NodeLayout?
    var isLayoutKnown = false
    var isPerInstance = false
    var isLeaf = false
    /// True for blocks that are not objects and have no references to objects.
    var holdsNoObjects = false
  }

  /// - Parameters:
  ///   - contents: returns the possible contents of a block that is not a Swift object.
  ///   - typeOf: returns the type of a block, and the call that allocated the block. The type is nil if the block is
  ///     not a Swift object.
  ///   - gaps: the periods when the trace may lack calls.
  ///   - lacksThreads: whether threads that are missing from the heap image may have held blocks.
  ///   - isListed: returns whether a block comes from a list of live blocks, not from events. The size of such a block
  ///     is the size that the C library allocated, not the requested size.
  package static func build(
    _ snapshot: TraceSnapshot, heap: LiveHeap, image: HeapImage, roots: HeapRoots,
    typeOf: (LiveBlock) -> (type: TraceType?, operation: Operation),
    contents: (LiveBlock) -> BlockContents = { _ in .anything }, layouts: LayoutSource?, mainModule: String = "",
    gaps: TraceGaps = .none, lacksThreads: Bool = false, isListed: @escaping (LiveBlock) -> Bool = { _ in false }
  ) -> ObjectGraph {
    var builder = ObjectGraphBuilder(
      heap: heap, image: image, roots: roots, layouts: layouts, snapshot, isListed: isListed)
    builder.classify(typeOf, contents: contents)
    builder.markUncertain(gaps)
    builder.markSideTables()
    builder.findEnding(snapshot)
    builder.readDispatchMemory()
    builder.readTaskMemory(snapshot)
    // Read blocks that may be side tables last. By then, weak references have identified the real side tables, and
    // these are not scanned.
    for node in 0..<heap.count where !builder.mayBeSideTable(node) { builder.read(node) }
    for node in 0..<heap.count where builder.mayBeSideTable(node) { builder.read(node) }
    builder.addHandles()
    builder.readRoots()
    let scanned = builder.typeRows.indices.filter { index in
      let row = builder.typeRows[index]
      return row.isLayoutKnown && row.layout == nil && !row.isLeaf && builder.types[index].kind.isCounted
        && builder.types[index].kind != .task
    }
    let fields = builder.typeRows.map { row in
      Set(
        row.layout?.fields.references.map { String(builder.labels.labels[Int($0.label)].name.prefix { $0 != "." }) }
          ?? []
      ).sorted()
    }
    let isWhole = image.isWhole && !lacksThreads && builder.graph.refusedEdgeCount == 0
    let graph = builder.graph.build()
    builder.markSurplusWords(in: graph)
    return ObjectGraph(
      snapshot: snapshot, heap: heap, image: image, roots: roots, graph: graph, types: builder.types,
      labels: builder.labels.labels,
      nodeTypes: builder.nodeTypes, deinitialised: builder.deinitialised, uncertain: builder.uncertain,
      isWhole: isWhole, taskOfSlab: builder.taskMemory.taskOfSlab, mainModule: mainModule, fieldNames: fields,
      dangling: builder.dangling, numbers: builder.numbers, taskStates: builder.taskStates,
      taskRelations: builder.taskRelations, cancellableTasks: builder.cancellableTasks,
      taskBeginnings: builder.beginnings, unknownTasks: builder.unknownTasks, scannedTypes: scanned,
      runtimeRemarks: builder.runtimeRemarks,
      reflectionProblem: layouts == nil ? "no reflection" : layouts?.problem)
  }

  private init(
    heap: LiveHeap, image: HeapImage, roots: HeapRoots, layouts: LayoutSource?, _ snapshot: TraceSnapshot,
    isListed: @escaping (LiveBlock) -> Bool
  ) {
    self.isListed = isListed
    self.heap = heap
    self.image = image
    self.roots = roots
    self.layouts = layouts
    taskMemory = TaskMemory(heap: heap, image: image) { metadata in
      roots.isImage(metadata) && layouts?.metadataKind(at: metadata) == 0
        && layouts?.metadataKind(at: metadata &+ 8) == 0
    }
    graph = HeapGraphBuilder(nodeCount: heap.count + roots.roots.count)
    nodeTypes = NodeTypeTable(count: heap.count)
    deinitialised = NodeSet(bound: heap.count)
    uncertain = NodeSet(bound: heap.count)
    selection = PayloadSelection(image, of: snapshot)
    heapExtent = (heap.blocks.first?.address ?? 0)..<(heap.blocks.last.map { $0.address &+ max($0.size, 1) } ?? 0)
  }
  /// Returns whether the reference count of a block covers all its holders. This is false for a task: counted
  /// references do not keep a waiting task alive.
  func isCountedByRuntime(_ node: NodeID) -> Bool {
    let kind = types[Int(nodeTypes[Int(node)])].kind
    return kind.isCounted && kind != .task
  }

  private func markSurplusWords(in graph: HeapGraph) {
    SurplusWords(
      graph, heap: heap, image: image,
      taskOfSlab: taskMemory.taskOfSlab.merging(taskMemory.outerTaskOfSlab) { known, _ in known },
      isHolder: { Int($0) >= heap.count || !(deinitialised.contains($0) || uncertain.contains($0)) },
      isCounted: isCountedByRuntime
    ).mark(roots: NodeID(heap.count)..<NodeID(graph.nodeCount))
  }
}
