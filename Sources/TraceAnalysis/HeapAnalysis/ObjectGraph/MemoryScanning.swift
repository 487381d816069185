// Adds the references in memory of unknown type, and in roots.

import TraceReading

extension ObjectGraphBuilder {
  /// Adds the references in the two words of a task that link it into a queue. Until a task first enters a queue, these
  /// words hold old contents of the memory.
  ///
  /// Links lead to other tasks and to parts of a queue, never to objects or to the frames of a task. Tasks that wait
  /// for the same task to end are linked as well. The end of that task resumes all of them, so each of these links
  /// keeps the next task alive.
  mutating func readQueueLinks(_ node: Int, _ block: LiveBlock) {
    let range =
      block.address + TaskMemory.queueLinks.lowerBound..<block.address
      + max(TaskMemory.queueLinks.lowerBound, min(block.size, TaskMemory.queueLinks.upperBound))
    image.forEachWord(in: range) { address, value in
      guard !taskWaits.isLeftOverLink(address, value), let target = target(of: value), Int(target) != node else {
        return
      }
      let kind = types[Int(nodeTypes[Int(target)])].kind
      guard kind == .task || (!kind.isCounted && taskMemory.taskOfSlab[target] == nil) else { return }
      let isLink = kind == .task && !taskWaits.used.contains(address)
      addEdge(
        from: UInt32(node), to: target, label: EdgeLabelID.scanned(offset: address - block.address).rawValue,
        kind: (isLink ? EdgeStrength.taskLink : .conservative).rawValue)
    }
  }

  /// Scans a range, but skips a task's freed frames and words that have not been written yet.
  mutating func scanUsed(_ node: Int, _ block: LiveBlock, _ range: Range<UInt64>) {
    var next = range.lowerBound
    for hole in unused[UInt32(node)] ?? [] where hole.upperBound > next && hole.lowerBound < range.upperBound {
      if next < hole.lowerBound { scan(node, block, next..<hole.lowerBound) }
      next = max(next, hole.upperBound)
    }
    if next < range.upperBound { scan(node, block, next..<range.upperBound) }
  }

  /// - Parameter isLeftOver: whether these words are unwritten since the block's allocation, according to its known
  ///   layout.
  mutating func scan(
    _ node: Int, _ block: LiveBlock, _ range: Range<UInt64>, label: UInt32? = nil, isLeftOver: Bool = false
  ) {
    guard range.lowerBound < range.upperBound else { return }
    // Skip pointers of C blocks and tasks into themselves: they keep nothing else alive.
    let kind = types[Int(nodeTypes[node])].kind
    let isObject = kind.isCounted && kind != .task
    let task = kind == .malloc && !taskMemory.taskOfSlab.isEmpty ? taskMemory.taskOfSlab[UInt32(node)] : nil
    let isInnerSlab = kind == .malloc && taskMemory.outerTaskOfSlab[UInt32(node)] != nil
    let links = kind == .task || task != nil ? taskRegistry?.links ?? [] : []
    let holdsNoObjects = typeRows[Int(nodeTypes[node])].holdsNoObjects
    image.forEachWord(in: range) { address, value in
      if !links.isEmpty, links.contains(address) { return }
      if !taskWaits.leftOverLinks.isEmpty, taskWaits.leftOverLinks.contains(address) { return }
      guard let target = target(of: value), Int(target) != node || isObject, target != task else { return }
      let targetKind = types[Int(nodeTypes[Int(target)])].kind
      if targetKind == .task, taskWaits.cancelsInVain(address, value) { return }
      if holdsNoObjects, targetKind.isCounted || taskMemory.taskOfSlab[target] != nil { return }
      var strength: EdgeStrength = isLeftOver ? .surplus : .conservative
      if task != nil, targetKind == .task {
        strength = .taskLink
      } else if isInnerSlab, targetKind == .task {
        strength = .surplus
      } else if kind == .task, taskWords.isBorrowed(address, of: UInt32(node), leadsToTask: targetKind == .task) {
        strength = .surplus
      }
      let label = label ?? EdgeLabelID.scanned(offset: address - block.address).rawValue
      if targetKind == .task, isHandle(value, at: address, of: target, from: UInt32(node), block) {
        // Skip words that point into a task's block but not at its start. They may point to an inner task among the
        // frames, and no code has a handle to an inner task.
        if leadsToStart(value, of: target) { handles.append((UInt32(node), target, label, strength)) }
        return
      }
      addEdge(from: UInt32(node), to: target, label: label, kind: strength.rawValue)
      if targetKind == .sideTable { addWeakWord(value, from: UInt32(node), label: label) }
    }
  }

  /// Adds a weak reference for a word, in memory of unknown layout, that leads to a side table. Only weak references
  /// lead to side tables.
  private mutating func addWeakWord(_ word: UInt64, from source: UInt32, label: UInt32) {
    guard let object = SideTable.object(of: word & Self.addressBits & ~7, in: image, heap) else { return }
    addEdge(from: source, to: object.rawValue, label: label, kind: EdgeStrength.weak.rawValue)
  }

  /// Returns whether a word that leads to a task is a handle, which cannot resume the task. Words of a task before its
  /// frames are not handles, since the runtime writes them. An inner task's frames lie in the outer task's memory, so
  /// words there are not handles of the outer task.
  private func isHandle(
    _ word: UInt64, at address: UInt64, of task: UInt32, from source: UInt32, _ block: LiveBlock
  ) -> Bool {
    if taskWaits.mayResume(wordAt: address, word) || taskMemory.outerTaskOfSlab[source] == task { return false }
    return types[Int(nodeTypes[Int(source)])].kind != .task || address - block.address >= TaskWaits.headerEnd
  }

  private func leadsToStart(_ word: UInt64, of target: UInt32) -> Bool {
    word & Self.addressBits & ~7 == heap[BlockID(target)].address
  }

  /// Adds edges for handles of tasks. A task's reference count covers its known references, its handles, and one
  /// reference to itself until it ends. If the count leaves no room for handles, the words that look like handles are
  /// left over from earlier uses of the memory.
  ///
  /// Source: swiftlang/swift, stdlib/public/Concurrency/Task.cpp (swift_task_create_common: one reference for the
  /// caller, and one that `completeTask` gives up); seen with Swift 6.3.1 for tasks and the children of groups.
  mutating func addHandles() {
    guard !handles.isEmpty else { return }
    let held = graph.edgeCounts(ofKind: EdgeStrength.strong.rawValue)
    for handle in handles where mayHaveHandle(handle.target, held: held[handle.target]) {
      addEdge(from: handle.source, to: handle.target, label: handle.label, kind: handle.strength.rawValue)
    }
    handles = []
  }

  private func mayHaveHandle(_ task: UInt32, held: UInt32) -> Bool {
    SurplusWords.room(besides: held, at: heap[BlockID(task)].address, in: image).map { $0 > 1 } ?? true
  }

  /// Returns the block that a scanned word points to. The word may point into the middle of a block of C code, but must
  /// point to the start of a counted object.
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

  /// Reads the roots. Call this after all blocks are read: the references in their fields decide which root words
  /// count.
  mutating func readRoots() {
    lazy var held = graph.edgeCounts(ofKind: EdgeStrength.strong.rawValue)
    func isAccountedFor(_ node: UInt32, _ root: HeapRoot) -> Bool {
      let task = taskMemory.taskOfSlab[node] ?? node
      if types[Int(nodeTypes[Int(task)])].kind == .task {
        let hasFinished = taskRelations.finished.contains(heap[BlockID(task)].address)
        return held[task] > 0 || root.isOutsideRuntime && hasFinished
      }
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
        if !taskWaits.mayResume(wordAt: nil, value),
          !leadsToStart(value, of: target) || !mayHaveHandle(target, held: held[target])
        {
          return
        }
        if root.isBetweenWork, isAccountedFor(target, root) { return }
        let label = EdgeLabelID.scanned(offset: offset).rawValue
        addEdge(from: node, to: target, label: label, kind: EdgeStrength.conservative.rawValue)
        if types[Int(nodeTypes[Int(target)])].kind == .sideTable { addWeakWord(value, from: node, label: label) }
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
