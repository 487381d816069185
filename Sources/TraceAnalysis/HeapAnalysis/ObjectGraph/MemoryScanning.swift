// Adds the references in memory of which no type is known, and in roots.

import TraceReading

extension ObjectGraphBuilder {
  /// A queue links its tasks by two words of theirs, which keep old contents of the memory until a task is first put
  /// into a queue. They lead to other tasks, and to parts of the queue, never to objects or the frames of a task.
  mutating func readQueueLinks(_ node: Int, _ block: LiveBlock) {
    let range =
      block.address + TaskMemory.queueLinks.lowerBound..<block.address
      + max(TaskMemory.queueLinks.lowerBound, min(block.size, TaskMemory.queueLinks.upperBound))
    image.forEachWord(in: range) { address, value in
      guard let target = target(of: value), Int(target) != node else { return }
      let kind = types[Int(nodeTypes[Int(target)])].kind
      guard kind == .task || (!kind.isCounted && taskMemory.taskOfSlab[target] == nil) else { return }
      addEdge(
        from: UInt32(node), to: target, label: EdgeLabelID.scanned(offset: address - block.address).rawValue,
        kind: (kind == .task ? EdgeStrength.taskLink : .conservative).rawValue)
    }
  }

  /// Scans a range without a task's freed frames, and without words that nobody has written yet.
  mutating func scanUsed(_ node: Int, _ block: LiveBlock, _ range: Range<UInt64>) {
    var next = range.lowerBound
    for hole in unused[UInt32(node)] ?? [] where hole.upperBound > next && hole.lowerBound < range.upperBound {
      if next < hole.lowerBound { scan(node, block, next..<hole.lowerBound) }
      next = hole.upperBound
    }
    if next < range.upperBound { scan(node, block, next..<range.upperBound) }
  }

  /// - Parameter isLeftOver: nobody wrote these words since the block was allocated, as far as its layout is known.
  mutating func scan(
    _ node: Int, _ block: LiveBlock, _ range: Range<UInt64>, label: UInt32? = nil, isLeftOver: Bool = false
  ) {
    guard range.lowerBound < range.upperBound else { return }
    // Blocks of C code and tasks have pointers into themselves that keep nothing.
    let kind = types[Int(nodeTypes[node])].kind
    let isObject = kind.isCounted && kind != .task
    let task = kind == .malloc && !taskMemory.taskOfSlab.isEmpty ? taskMemory.taskOfSlab[UInt32(node)] : nil
    let isInnerSlab = kind == .malloc && taskMemory.outerTaskOfSlab[UInt32(node)] != nil
    let links = kind == .task || task != nil ? taskRegistry?.links ?? [] : []
    let holdsNoObjects = typeRows[Int(nodeTypes[node])].holdsNoObjects
    image.forEachWord(in: range) { address, value in
      if !links.isEmpty, links.contains(address) { return }
      guard let target = target(of: value), Int(target) != node || isObject, target != task else { return }
      let targetKind = types[Int(nodeTypes[Int(target)])].kind
      if holdsNoObjects, targetKind.isCounted || taskMemory.taskOfSlab[target] != nil { return }
      var strength: EdgeStrength = isLeftOver ? .surplus : .conservative
      if task != nil, targetKind == .task {
        strength = .taskLink
      } else if isInnerSlab, targetKind == .task {
        strength = .surplus
      } else if kind == .task, taskWords.isBorrowed(address, of: UInt32(node), leadsToTask: targetKind == .task) {
        strength = .surplus
      }
      addEdge(
        from: UInt32(node), to: target, label: label ?? EdgeLabelID.scanned(offset: address - block.address).rawValue,
        kind: strength.rawValue)
    }
  }

  /// The block that a scanned word leads to. C code keeps pointers into the middle of its blocks; a counted object is
  /// held by its start.
  @inline(__always)
  mutating func target(of word: UInt64) -> UInt32? {
    let address = word & Self.addressBits
    guard heapExtent.contains(address), let found = heap.block(containing: address) else { return nil }
    if address & ~7 == heap[found].address { return found.rawValue }
    let kind = types[Int(nodeTypes[Int(found.rawValue)])].kind
    if kind == .malloc, !taskMemory.taskOfSlab.isEmpty,
      let task = parent(ofTaskAt: address & ~7, in: found) ?? taskMemory.task(ofTimerRecordAt: address & ~7, in: found)
    {
      return task
    }
    return kind.isCounted && kind != .task ? nil : found.rawValue
  }

  /// The roots come after the blocks, whose fields are known then.
  mutating func readRoots() {
    lazy var held = graph.edgeCounts(ofKind: EdgeStrength.strong.rawValue)
    func isAccountedFor(_ node: UInt32) -> Bool {
      let task = taskMemory.taskOfSlab[node] ?? node
      if types[Int(nodeTypes[Int(task)])].kind == .task { return held[task] > 0 }
      return isCountedByRuntime(node)
        && SurplusWords.room(besides: held[node], at: heap[BlockID(node)].address, in: image) == 0
    }
    for (index, root) in roots.roots.enumerated() {
      let node = UInt32(heap.count + index)
      func add(_ value: UInt64, at offset: UInt64) {
        if root.kind == .unseen {
          if let target = target(of: value) {
            addEdge(
              from: node, to: target, label: EdgeLabelID.scanned(offset: offset).rawValue,
              kind: EdgeStrength.conservative.rawValue)
          }
          return
        }
        let address = value & Self.addressBits
        guard heapExtent.contains(address), let found = heap.block(containing: address) else { return }
        if !root.acceptsInterior, heap[found].address != address & ~7 { return }
        let target = parent(ofTaskAt: address & ~7, in: found) ?? found.rawValue
        if root.isBetweenWork, isAccountedFor(target) { return }
        addEdge(
          from: node, to: target, label: EdgeLabelID.scanned(offset: offset).rawValue,
          kind: EdgeStrength.conservative.rawValue)
      }
      for value in root.values { add(value, at: 0) }
      guard root.kind == .unseen else {
        let heads = taskRegistry?.heads ?? []
        for range in root.ranges {
          image.forEachWord(in: range) { address, value in
            if heads.isEmpty || !heads.contains(address) { add(value, at: address - range.lowerBound) }
          }
        }
        continue
      }
      let memory = UnseenMemory(root.ranges, heap: heap, uncertain: uncertain, roots: roots, image: image)
      for range in root.ranges where memory.isReached(range.lowerBound) {
        image.forEachWord(in: range) { add($1, at: $0 - range.lowerBound) }
      }
      let inUse = uncertain.members.filter { memory.isReached(heap.blocks[Int($0)].address) }
      inUse.forEach {
        addEdge(
          from: node, to: $0, label: EdgeLabelID.scanned(offset: 0).rawValue, kind: EdgeStrength.conservative.rawValue)
      }
    }
  }
}
