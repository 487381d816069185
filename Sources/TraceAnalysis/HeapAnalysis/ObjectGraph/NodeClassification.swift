// Classifies each block of a heap image: an object of a type, a task, a side table, or plain memory.

import CHeapScan
import TraceReading

extension ObjectGraphBuilder {
  private mutating func addType(_ type: NodeType, _ traceType: TraceType?) -> UInt32 {
    types.append(type)
    // Text has no pointers, even if some of its words look like pointers.
    let isLeaf = type.qualifiedName == "Swift.__StringStorage" || type.qualifiedName == "Swift.__SharedStringStorage"
    typeRows.append(TypeRow(type: traceType, isLeaf: isLeaf))
    return UInt32(types.count - 1)
  }

  mutating func classify(
    _ typeOf: (LiveBlock) -> (type: TraceType?, operation: Operation), contents: (LiveBlock) -> BlockContents
  ) {
    var bytes: UInt32?
    var records: UInt32?
    var byType: [UInt32: UInt32] = [:]
    var byOperation: [UInt8: UInt32] = [:]
    var task: UInt32?
    var lastSite = SiteID(.max)
    var lastIsObject = false
    var last: UInt32 = 0
    for (node, block) in heap.blocks.enumerated() {
      if block.site == lastSite, lastIsObject {
        nodeTypes[node] = last
        continue
      }
      let (type, operation) = typeOf(block)
      lastSite = block.site
      lastIsObject = type != nil
      if let type {
        if let known = byType[type.id] {
          last = known
        } else {
          last = addType(TypeNames.type(type), type)
          byType[type.id] = last
        }
      } else if isTask(block) {
        last = task ?? addType(NodeType(kind: .task, qualifiedName: "Swift.Task", name: "Task", typeID: 0), nil)
        task = last
      } else {
        let type = NodeType(kind: .malloc, qualifiedName: operation.name, name: operation.name, typeID: 0)
        switch contents(block) {
        case .bytes:
          last = bytes ?? addType(type, nil)
          typeRows[Int(last)].isLeaf = true
          bytes = last
        case .typeRecords:
          last = records ?? addType(type, nil)
          typeRows[Int(last)].holdsNoObjects = true
          records = last
        case .anything:
          last = byOperation[operation.rawValue] ?? addType(type, nil)
          byOperation[operation.rawValue] = last
        }
      }
      nodeTypes[node] = last
    }
  }

  /// Marks blocks that may have been freed without a record. An object is certainly still allocated if its first word
  /// is its type's metadata and its count shows that its `deinit` has not begun. Nothing frees an object before its
  /// `deinit`, and a new block in the same place begins with other words. For other memory there is no such proof, so
  /// it is read as memory of unknown contents.
  mutating func markUncertain(_ gaps: TraceGaps) {
    guard gaps.end != nil else { return }
    var unknown: UInt32?
    for (node, block) in heap.blocks.enumerated()
    where gaps.mayHideFree(ofBlockMadeAt: block.birthTime) && !isProven(node, block) {
      uncertain.insert(UInt32(node))
      guard types[Int(nodeTypes[node])].kind.isCounted else { continue }
      let type =
        unknown
        ?? addType(NodeType(kind: .malloc, qualifiedName: "unknown", name: "memory of unknown use", typeID: 0), nil)
      unknown = type
      nodeTypes[node] = type
    }
  }

  private func isProven(_ node: Int, _ block: LiveBlock) -> Bool {
    let row = Int(nodeTypes[node])
    guard types[row].kind.isCounted, block.size >= 16,
      let count = ObjectGraph.referenceCount(of: block.address, in: image), !count.isDeiniting
    else { return false }
    // A block without a type is a task only if its first word is a task's metadata.
    guard let type = typeRows[row].type else { return types[row].kind == .task }
    return type.metadata.rawValue != 0 && image.word(at: block.address) == type.metadata.rawValue
  }

  /// Returns whether a block is a task. Tasks come from malloc, so only the first word identifies a task.
  mutating func isTask(_ block: LiveBlock) -> Bool {
    block.size >= 64 && isTask(at: block.address)
  }

  mutating func isTask(at address: UInt64) -> Bool {
    guard let metadata = image.word(at: address) else { return false }
    if let known = isTaskMetadata[metadata] { return known }
    let result = metadata & 7 == 0 && layouts?.metadataKind(at: metadata) == Self.taskMetadataKind
    if isTaskMetadata.count < Self.metadataLimit { isTaskMetadata[metadata] = result }
    return result
  }

  /// Marks side tables: the blocks that the count words of live objects point to, and blocks that look like the side
  /// table of a freed object.
  mutating func markSideTables() {
    for (node, block) in heap.blocks.enumerated() {
      guard types[Int(nodeTypes[node])].kind.isCounted else {
        if SideTable.isOrphan(block, isListed: isListed(block), in: image) { markSideTable(UInt32(node)) }
        continue
      }
      guard let bits = image.word(at: block.address + UInt64(SWIFT_OBJECT_COUNTS)) else { continue }
      if let table = ReferenceCount.sideTable(bits), let found = heap.block(containing: table),
        heap[found].address == table,
        image.word(at: table) == block.address
      {
        markSideTable(found.rawValue)
      }
      if let counts = ObjectGraph.referenceCount(of: block.address, in: image), counts.isDeiniting, !counts.isImmortal {
        deinitialised.insert(UInt32(node))
      }
    }
  }

  mutating func markSideTable(_ node: UInt32) {
    let type =
      sideTableType
      ?? addType(NodeType(kind: .sideTable, qualifiedName: "side table", name: "side table", typeID: 0), nil)
    sideTableType = type
    nodeTypes[Int(node)] = type
  }

  /// Finds the objects whose `deinit` is running or waiting. An object has an unowned reference to itself until its
  /// `deinit` returns. A thread that runs the `deinit` has the object's address. An isolated `deinit` that waits for
  /// its actor is a job: a block of the runtime that is not an object. This block also has the object's address.
  ///
  /// Source: swiftlang/swift, stdlib/public/Concurrency/Actor.cpp (swift_task_deinitOnExecutor); seen with Swift 6.3.1.
  mutating func findEnding(_ snapshot: TraceSnapshot) {
    guard !deinitialised.isEmpty else { return }
    func note(_ word: UInt64) {
      let address = word & Self.addressBits & ~7
      guard let found = heap.block(containing: address), heap[found].address == address,
        deinitialised.contains(found.rawValue)
      else { return }
      ending.insert(found.rawValue)
    }
    for root in roots.roots where root.isOfRunningThread(in: snapshot) {
      root.values.forEach(note)
      for range in root.ranges { image.forEachWord(in: range) { note($1) } }
    }
    for node in 0..<heap.count
    where types[Int(nodeTypes[node])].kind == .malloc && !typeRows[Int(nodeTypes[node])].isLeaf {
      let block = heap.blocks[node]
      // The job of a `deinit` is small. Larger blocks are skipped, since they may hold the address of an object whose
      // `deinit` has ended.
      guard block.size <= Self.largestJob else { continue }
      image.forEachWord(in: block.address..<block.address &+ block.size) { note($1) }
    }
  }

  /// The maximum size in bytes of a job without a task.
  private static let largestJob: UInt64 = 160

  mutating func readDispatchMemory() {
    let calloc = Operation.calloc.name
    dispatchMemory = DispatchMemory(
      heap: heap, image: image, roots: roots,
      isCalloc: { [types, nodeTypes, heap, isListed] in
        let type = types[Int(nodeTypes[Int($0.rawValue)])]
        return type.qualifiedName == calloc || (type.kind == .malloc && isListed(heap[$0]))
      }, isListed: isListed)
  }

  mutating func readTaskMemory(_ snapshot: TraceSnapshot) {
    var tasks: [BlockID] = []
    for node in 0..<heap.count where types[Int(nodeTypes[node])].kind == .task { tasks.append(BlockID(UInt32(node))) }
    guard !tasks.isEmpty else { return }
    for task in tasks {
      taskMemory.add(task) { [types, nodeTypes] in types[Int(nodeTypes[Int($0.rawValue)])].kind == .malloc }
    }
    taskMemory.addInner(of: tasks) { [types, nodeTypes] in types[Int(nodeTypes[Int($0.rawValue)])].kind == .malloc }
    let variable = { [layouts] name in
      layouts?.addresses(ofConcurrencyVariable: name).compactMap { layouts?.word(at: $0) } ?? []
    }
    let layout = TaskLayout(variable: variable) { [layouts] in layouts?.hasConcurrency(function: $0) ?? false }
    // Without tasks, it does not matter that no runtime shows a layout.
    if layout.remark != nil || !tasks.isEmpty { taskRelations.unknownLayout = layout.difference }
    if let remark = layout.remark {
      runtimeRemarks.append(remark)
      unknownTasks = tasks.map { NodeID($0.rawValue) }
    }
    let initial = InitialTaskMemory(
      tasks: tasks, heap: heap, image: image, roots: roots, snapshot: snapshot, layout: layout, variable: variable)
    if layout.isKnown {
      taskWords = TaskWords(
        tasks: tasks, heap: heap, image: image, isImage: { [roots] in roots.isImage($0) },
        isEmpty: { [layouts] in layouts?.hasNoSize(valuesOfTypeAt: $0) ?? false })
    }
    unused = initial.unwritten.merging(taskMemory.unused.mapValues { [$0] }) { $0 + $1 }
    if layout.isKnown {
      for task in taskMemory.innerTasks {
        guard let block = heap.block(containing: task) else { continue }
        unused[block.rawValue, default: []] += InitialTaskMemory.plainWords.map {
          task &+ $0.lowerBound..<task &+ $0.upperBound
        }
      }
    }
    beginnings = Set(InitialTaskMemory.adapterVariables.flatMap(variable))
    if layout.isKnown, snapshot.isFrozen {
      readTaskWaits(tasks, snapshot)
    } else {
      cancellableTasks = Set(tasks.map(\.rawValue))
    }
    for block in unused.keys { unused[block]?.sort { $0.lowerBound < $1.lowerBound } }
    let variables = layouts?.addresses(ofConcurrencyVariable: TaskRegistry.variable) ?? []
    guard !variables.isEmpty else { return }
    taskRegistry = TaskRegistry(
      variables: variables, image: image,
      isTask: { [image, layouts] address in
        image.word(at: address).map { $0 & 7 == 0 && layouts?.metadataKind(at: $0) == Self.taskMetadataKind } ?? false
      },
      taskCount: tasks.count)
    if taskRegistry?.isUnknown == true { runtimeRemarks.append(TaskRegistry.remark) }
  }

  static let taskMetadataKind = UInt64(SWIFT_KIND_TASK)
}
