// Reads every live block of a heap image for the references in it.

/// Makes the graph of a snapshot. Linear in the blocks and the words of the image.
struct ObjectGraphBuilder {
  private let heap: LiveHeap
  private let image: HeapImage
  private let roots: HeapRoots
  private let layouts: LayoutSource?
  private let labels = LabelTable()
  private let graph: HeapGraphBuilder
  private var types: [NodeType] = []
  private var typeRows: [TypeRow] = []
  private var nodeTypes: [UInt32]
  private var deinitialised: NodeSet
  /// Of those, the ones whose `deinit` a thread may be in.
  private var ending: Set<UInt32> = []
  private let uncertain: NodeSet
  /// The edge that was added last.
  private var last: (source: UInt32, target: UInt32, label: UInt32, kind: UInt8) = (.max, .max, 0, 0)
  private var dispatchMemory: DispatchMemory?
  private var sideTableType: UInt32?
  private var taskMemory: TaskMemory
  /// By block, a task's or a slab's: what holds nothing, in order.
  private var unused: [UInt32: [Range<UInt64>]] = [:]
  private var taskRegistry: TaskRegistry?
  private var dangling: [ObjectGraph.DanglingReference] = []
  private var heapExtent: Range<UInt64>
  private let selection: PayloadSelection
  /// Whether a reference, by its label, can lead to a type, by its row: looking at names takes time.
  private var fitting: [UInt64: Bool] = [:]
  private var classNames: Set<String> = []
  private var isTaskMetadata: [UInt64: Bool] = [:]
  private var isTypeMetadata: [UInt64: Bool] = [:]
  private var bufferedValues: [BufferKey: BufferContents?] = [:]

  private static let danglingLimit = 100_000
  /// Addresses that are remembered to be metadata or not.
  private static let metadataLimit = 1 << 16

  /// A type in the buffer of an `any P` that has a label.
  private struct BufferKey: Hashable {
    var metadata: UInt64
    var label: UInt32?
  }
  private enum BufferContents {
    case object
    case inline(NodeLayout.Part, size: UInt64)
    case unknown(size: UInt64)
  }

  private struct TypeRow {
    var type: TraceType?
    var layout: NodeLayout?
    var isLayoutKnown = false
    var isPerInstance = false
    var isLeaf = false
    /// Of blocks that are no objects: none of their words leads to an object.
    var holdsNoObjects = false
  }

  /// - Parameters:
  ///   - contents: what is known of a block that is no Swift object.
  ///   - typeOf: the type of a block, or nil for one that is no Swift object, and what allocated it.
  ///   - gaps: what the trace lacks.
  static func build(
    _ snapshot: TraceSnapshot, heap: LiveHeap, image: HeapImage, roots: HeapRoots, typeOf: (LiveBlock) -> (type: TraceType?, operation: Operation),
    contents: (LiveBlock) -> BlockContents = { _ in .anything }, layouts: LayoutSource?, mainModule: String = "", gaps: TraceGaps = .none
  ) -> ObjectGraph {
    var builder = ObjectGraphBuilder(heap: heap, image: image, roots: roots, layouts: layouts, snapshot)
    builder.classify(typeOf, contents: contents)
    builder.markUncertain(gaps)
    builder.markSideTables()
    builder.findEnding(snapshot)
    builder.readDispatchMemory()
    builder.readTaskMemory(snapshot)
    // Blocks that weak references turn out to lead to are no memory to be scanned: those that may be such come last.
    for node in 0..<heap.count where !builder.mayBeSideTable(node) { builder.read(node) }
    for node in 0..<heap.count where builder.mayBeSideTable(node) { builder.read(node) }
    builder.readRoots()
    let scanned = builder.typeRows.indices.filter { index in
      let row = builder.typeRows[index]
      return row.isLayoutKnown && row.layout == nil && !row.isLeaf && builder.types[index].kind.isCounted && builder.types[index].kind != .task
    }
    let fields = builder.typeRows.map { row in
      Set(row.layout?.fields.references.map { String(builder.labels.labels[Int($0.label)].name.prefix { $0 != "." }) } ?? []).sorted()
    }
    let isWhole = image.isWhole && builder.graph.refusedEdgeCount == 0
    return ObjectGraph(
      snapshot: snapshot, heap: heap, image: image, roots: roots, graph: builder.graph.build(), types: builder.types, labels: builder.labels.labels,
      nodeTypes: builder.nodeTypes, deinitialised: builder.deinitialised, uncertain: builder.uncertain, isWhole: isWhole, taskOfSlab: builder.taskMemory.taskOfSlab, mainModule: mainModule, fieldNames: fields, dangling: builder.dangling, scannedTypes: scanned,
      runtimeRemarks: builder.taskRegistry?.isUnknown == true ? [TaskRegistry.remark] : [], reflectionProblem: layouts == nil ? "no reflection" : layouts?.problem)
  }

  private init(heap: LiveHeap, image: HeapImage, roots: HeapRoots, layouts: LayoutSource?, _ snapshot: TraceSnapshot) {
    self.heap = heap
    self.image = image
    self.roots = roots
    self.layouts = layouts
    taskMemory = TaskMemory(heap: heap, image: image) { metadata in
      roots.isImage(metadata) && layouts?.metadataKind(at: metadata) == 0 && layouts?.metadataKind(at: metadata &+ 8) == 0
    }
    graph = HeapGraphBuilder(nodeCount: heap.count + roots.roots.count)
    nodeTypes = Array(repeating: 0, count: heap.count)
    deinitialised = NodeSet(bound: heap.count)
    uncertain = NodeSet(bound: heap.count)
    selection = PayloadSelection(image, of: snapshot)
    heapExtent = (heap.blocks.first?.address ?? 0)..<(heap.blocks.last.map { $0.address &+ max($0.size, 1) } ?? 0)
  }

  // MARK: Types

  private mutating func addType(_ type: NodeType, _ traceType: TraceType?) -> UInt32 {
    types.append(type)
    // Text is no pointer, whatever it looks like.
    let isLeaf = type.qualifiedName == "Swift.__StringStorage" || type.qualifiedName == "Swift.__SharedStringStorage"
    typeRows.append(TypeRow(type: traceType, isLeaf: isLeaf))
    return UInt32(types.count - 1)
  }

  private mutating func classify(_ typeOf: (LiveBlock) -> (type: TraceType?, operation: Operation), contents: (LiveBlock) -> BlockContents) {
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

  /// Blocks that may have been freed unseen. An object is still itself if its first word is its type's metadata and its count says that its `deinit` has
  /// not begun: nothing frees an object before that, and what takes its place begins with words of its own. Of other memory nothing tells, so that it
  /// is read as memory that may hold anything.
  private mutating func markUncertain(_ gaps: TraceGaps) {
    guard gaps.end != nil else { return }
    var unknown: UInt32?
    for (node, block) in heap.blocks.enumerated() where gaps.mayHideFree(ofBlockMadeAt: block.birthTime) && !isProven(node, block) {
      uncertain.insert(UInt32(node))
      guard types[Int(nodeTypes[node])].kind.isCounted else { continue }
      let type = unknown ?? addType(NodeType(kind: .malloc, qualifiedName: "unknown", name: "memory of unknown use", typeID: 0), nil)
      unknown = type
      nodeTypes[node] = type
    }
  }

  private func isProven(_ node: Int, _ block: LiveBlock) -> Bool {
    let row = Int(nodeTypes[node])
    guard types[row].kind.isCounted, block.size >= 16, let count = ObjectGraph.referenceCount(of: block.address, in: image), !count.isDeiniting else { return false }
    // That a block is a task its first word has told.
    guard let type = typeRows[row].type else { return types[row].kind == .task }
    return type.metadata.rawValue != 0 && image.word(at: block.address) == type.metadata.rawValue
  }

  /// Tasks come from malloc: their first word tells.
  private mutating func isTask(_ block: LiveBlock) -> Bool {
    block.size >= 64 && isTask(at: block.address)
  }

  private mutating func isTask(at address: UInt64) -> Bool {
    guard let metadata = image.word(at: address) else { return false }
    if let known = isTaskMetadata[metadata] { return known }
    let result = metadata & 7 == 0 && layouts?.metadataKind(at: metadata) == Self.taskMetadataKind
    if isTaskMetadata.count < Self.metadataLimit { isTaskMetadata[metadata] = result }
    return result
  }

  /// Those that live objects' count words lead to, and those that look like one of an object that is gone.
  private mutating func markSideTables() {
    for (node, block) in heap.blocks.enumerated() {
      guard types[Int(nodeTypes[node])].kind.isCounted else {
        if SideTable.isOrphan(block, in: image) { markSideTable(UInt32(node)) }
        continue
      }
      guard let bits = image.word(at: block.address + 8) else { continue }
      if let table = ReferenceCount.sideTable(bits), let found = heap.block(containing: table), heap[found].address == table,
        image.word(at: table) == block.address
      {
        markSideTable(found.rawValue)
      }
      if let counts = ObjectGraph.referenceCount(of: block.address, in: image), counts.isDeiniting, !counts.isImmortal {
        deinitialised.insert(UInt32(node))
      }
    }
  }

  private mutating func markSideTable(_ node: UInt32) {
    let type = sideTableType ?? addType(NodeType(kind: .sideTable, qualifiedName: "side table", name: "side table", typeID: 0), nil)
    sideTableType = type
    nodeTypes[Int(node)] = type
  }

  /// An object has an unowned reference of its own until its `deinit` returns, and a thread in `deinit` has the object's address.
  private mutating func findEnding(_ snapshot: TraceSnapshot) {
    guard !deinitialised.isEmpty else { return }
    func note(_ word: UInt64) {
      let address = word & Self.addressBits & ~7
      guard let found = heap.block(containing: address), heap[found].address == address, deinitialised.contains(found.rawValue) else { return }
      ending.insert(found.rawValue)
    }
    for root in roots.roots where root.isOfRunningThread(in: snapshot) {
      root.values.forEach(note)
      for range in root.ranges { image.forEachWord(in: range) { note($1) } }
    }
  }

  private mutating func readDispatchMemory() {
    let calloc = Operation.calloc.name
    dispatchMemory = DispatchMemory(heap: heap, image: image, roots: roots) { [types, nodeTypes] in types[Int(nodeTypes[Int($0.rawValue)])].qualifiedName == calloc }
  }

  private mutating func readTaskMemory(_ snapshot: TraceSnapshot) {
    var tasks: [BlockID] = []
    for node in 0..<heap.count where types[Int(nodeTypes[node])].kind == .task { tasks.append(BlockID(UInt32(node))) }
    guard !tasks.isEmpty else { return }
    for task in tasks { taskMemory.add(task) { [types, nodeTypes] in types[Int(nodeTypes[Int($0.rawValue)])].kind == .malloc } }
    let initial = InitialTaskMemory(tasks: tasks, heap: heap, image: image, roots: roots, snapshot: snapshot) { [layouts] name in
      layouts?.addresses(ofConcurrencyVariable: name).compactMap { layouts?.word(at: $0) } ?? []
    }
    unused = initial.unwritten.merging(taskMemory.unused.mapValues { [$0] }) { ($0 + $1).sorted { $0.lowerBound < $1.lowerBound } }
    let variables = layouts?.addresses(ofConcurrencyVariable: TaskRegistry.variable) ?? []
    guard !variables.isEmpty else { return }
    taskRegistry = TaskRegistry(
      variables: variables, image: image,
      isTask: { [image, layouts] address in image.word(at: address).map { $0 & 7 == 0 && layouts?.metadataKind(at: $0) == Self.taskMetadataKind } ?? false },
      taskCount: tasks.count)
  }

  private static let taskMetadataKind: UInt64 = 0x502

  // MARK: Blocks

  private mutating func layout(_ row: Int, at address: UInt64) -> NodeLayout? {
    if typeRows[row].isLayoutKnown, !typeRows[row].isPerInstance { return typeRows[row].layout }
    guard let type = typeRows[row].type, type.metadata.rawValue != 0 else { return nil }
    let kind = types[row].kind
    let found = layouts?.layout(ofInstanceAt: RuntimeAddress(address), metadata: type.metadata).map { NodeLayout($0, kind: kind, labels: labels) }
    // What a generic closure captures may differ from one to the next.
    typeRows[row].isPerInstance = kind == .closure && layouts?.dependsOnInstance(type.metadata) == true
    typeRows[row].isLayoutKnown = true
    typeRows[row].layout = found
    if found != nil { types[row].isReflected = true }
    return found
  }

  private mutating func read(_ node: Int) {
    let block = heap.blocks[node]
    let row = Int(nodeTypes[node])
    if typeRows[row].isLeaf { return }
    if let dispatchMemory, dispatchMemory.idle.contains(UInt32(node)) {
      if let next = dispatchMemory.next(after: BlockID(UInt32(node))) {
        addEdge(
          from: UInt32(node), to: next.rawValue, label: EdgeLabelID.scanned(offset: DispatchMemory.nextOffset).rawValue,
          kind: EdgeStrength.conservative.rawValue)
      }
      return
    }
    switch types[row].kind {
    case .sideTable: return
    case .malloc:
      if dispatchMemory?.waitsForTimer(BlockID(UInt32(node))) == true {
        scan(node, block, block.address..<block.address &+ DispatchMemory.nextOffset)
        scan(node, block, block.address &+ DispatchMemory.nextOffset &+ 8..<block.address &+ block.size)
        return
      }
      scanUsed(node, block, block.address..<block.address &+ block.size)
    case .task:
      readQueueLinks(node, block)
      let start = block.address + TaskMemory.queueLinks.upperBound
      scanUsed(node, block, start..<max(start, block.address + block.size))
    default:
      guard block.size > 16 else { return }
      addSideTable(node, block)
      // What deinit left behind is no reference any more; while it runs, the fields are.
      if deinitialised.contains(UInt32(node)), !ending.contains(UInt32(node)) { return }
      let end = block.address &+ block.size
      if isEmptyCollection(types[row].kind, block) { return }
      guard let layout = layout(row, at: block.address) else {
        scan(node, block, block.address + 16..<end)
        return
      }
      read(layout.fields, of: node, block, at: block.address, limit: end)
      switch layout.tail {
      case .plain: break
      case .scanned:
        if layout.size < block.size { scan(node, block, block.address + max(layout.size, 16)..<usableEnd(node, block)) }
      case .array(let start, let countOffset, let part):
        let count = image.word(at: block.address &+ countOffset)
        readArray(node, block, from: block.address &+ start, count: count, part)
      case .hashTable(let scale, let bitmap, let keys, let key, let values, let value):
        readTable(node, block, scale: scale, bitmap: bitmap, parts: [(keys, key)] + (values.flatMap { offset in value.map { [(offset, $0)] } } ?? []))
      }
    }
  }

  private mutating func addSideTable(_ node: Int, _ block: LiveBlock) {
    guard let bits = image.word(at: block.address + 8), let table = ReferenceCount.sideTable(bits), let found = heap.block(containing: table) else { return }
    addEdge(from: UInt32(node), to: found.rawValue, label: EdgeLabelID.scanned(offset: 8).rawValue, kind: EdgeStrength.bookkeeping.rawValue)
  }

  private static let addressBits: UInt64 = 0x00FF_FFFF_FFFF_FFFF

  /// The references of a value at `base`.
  private mutating func read(_ part: NodeLayout.Part, of node: Int, _ block: LiveBlock, at base: UInt64, limit: UInt64) {
    if part.selectors.isEmpty {
      for reference in part.references {
        guard let place = place(of: reference, base, limit) else { break }
        if let word = image.word(at: place) { add(reference, reference.label, of: node, word & Self.addressBits & ~7) }
      }
    } else {
      selection.select(part, at: base, isMetadata: { isMetadata($0) }, fits: { fits(part, $0, $1) })
      readPayloads(part, of: node, at: base, limit: limit)
    }
    if !part.gaps.isEmpty { readGaps(part, of: node, block, at: base, limit: limit) }
    // A value in a buffer may have enumerations of its own, which are looked at when those of the whole are done with.
    var inline: [(part: NodeLayout.Part, limit: UInt64)] = []
    for opaque in part.opaque where base < limit && opaque.range.lowerBound < limit - base {
      let isNamed = opaque.conditions.isEmpty || selection.isNamed(opaque.conditions)
      guard isNamed || selection.isActive(opaque.conditions) else { continue }
      let label = isNamed ? opaque.label : opaque.unnamedLabel
      var from = max(base + opaque.range.lowerBound, block.address + 16)
      let to = base + min(limit - base, opaque.range.upperBound)
      if !isNamed {
        // Another case knows what stands in some of the words.
        for index in part.references.indices where !part.conditions[index].isEmpty && selection.isActive(part.conditions[index]) {
          let known = base &+ part.references[index].offset
          guard known >= from, known < to else { continue }
          scan(node, block, from..<known, label: label)
          from = known + 8
        }
      } else if from < to, readBuffer(opaque, of: node, block, at: from, base: base, limit: to, &inline) {
        continue
      } else if from < to, opaque.metadataOffset != nil, let label, let word = image.word(at: from), let found = heap.block(containing: word & Self.addressBits),
        heap[found].address == word & Self.addressBits & ~7, types[Int(nodeTypes[Int(found.rawValue)])].kind.isCounted
      {
        addEdge(from: UInt32(node), to: found.rawValue, label: label, kind: EdgeStrength.strong.rawValue)
        from += 8
      }
      if from < to { scan(node, block, from..<to, label: label) }
    }
    for value in inline { read(value.part, of: node, block, at: base, limit: value.limit) }
  }

  /// Reads the buffer of an `any P` by the type of the value in it. False if that is not known.
  private mutating func readBuffer(
    _ opaque: NodeLayout.Opaque, of node: Int, _ block: LiveBlock, at start: UInt64, base: UInt64, limit: UInt64, _ inline: inout [(part: NodeLayout.Part, limit: UInt64)]
  ) -> Bool {
    guard let offset = opaque.metadataOffset, start == base &+ opaque.range.lowerBound, let metadata = image.word(at: base &+ offset),
      let contents = bufferContents(metadata, opaque)
    else { return false }
    switch contents {
    case .object:
      guard let word = image.word(at: start), let found = heap.block(containing: word & Self.addressBits), heap[found].address == word & Self.addressBits & ~7,
        types[Int(nodeTypes[Int(found.rawValue)])].kind.isCounted
      else { return false }
      let label = opaque.label ?? EdgeLabelID.scanned(offset: start - block.address).rawValue
      addEdge(from: UInt32(node), to: found.rawValue, label: label, kind: EdgeStrength.strong.rawValue)
    case .inline(let part, let size): inline.append((part, min(limit, start &+ size)))
    case .unknown(let size): scan(node, block, start..<min(limit, start &+ size), label: opaque.label)
    }
    return true
  }

  private mutating func bufferContents(_ metadata: UInt64, _ opaque: NodeLayout.Opaque) -> BufferContents? {
    let key = BufferKey(metadata: metadata, label: opaque.label)
    if let known = bufferedValues[key] { return known }
    let contents: BufferContents? =
      switch layouts?.bufferedValue(ofTypeWithMetadata: metadata) {
      case .object: .object
      case .inline(let size, let layout?): .inline(NodeLayout.Part(layout, in: opaque, labels: labels), size: UInt64(clamping: size))
      case .inline(let size, nil): .unknown(size: UInt64(clamping: size))
      case nil: nil
      }
    if bufferedValues.count < Self.metadataLimit { bufferedValues[key] = .some(contents) }
    return contents
  }

  /// Whether a reference of a part, by its index, can lead to what is at an address.
  private mutating func fits(_ part: NodeLayout.Part, _ index: Int, _ target: UInt64) -> Bool {
    guard let found = heap.block(containing: target) else { return true }
    let reference = part.references[index]
    let address = heap[found].address
    if address != target, reference.strength != .unmanaged { return false }
    let row = Int(nodeTypes[Int(found.rawValue)])
    let key = UInt64(reference.label) << 32 | UInt64(row)
    if let known = fitting[key] { return known }
    let type = types[row]
    let expected = part.targets[index]
    let classNames = type.kind == .object ? layout(row, at: address)?.classNames : nil
    let isPossible = type.kind.mayBe(expected) && (expected.mayBeInstance(of: classNames) || !isClass(expected.typeName))
    fitting[key] = isPossible
    return isPossible
  }

  /// Whether a type's metadata is at an address: a class's begins with 0, that of others with their kind.
  private mutating func isMetadata(_ address: UInt64) -> Bool {
    if let known = isTypeMetadata[address] { return known }
    let kind = address & 7 == 0 ? layouts?.metadataKind(at: address) : nil
    let result = kind.map { $0 == 0 || (0x200...0x3FF).contains($0) } ?? false
    if isTypeMetadata.count < Self.metadataLimit { isTypeMetadata[address] = result }
    return result
  }

  /// Whether a class of the name has instances. A reference may have the name of an enumeration instead, or of a class that has subclasses alone.
  private mutating func isClass(_ name: String) -> Bool {
    if classNames.isEmpty { classNames = Set(types.lazy.filter { $0.kind == .object }.map(\.qualifiedName)) }
    return classNames.contains(name)
  }

  /// Words that reflection takes for something else.
  private mutating func readGaps(_ part: NodeLayout.Part, of node: Int, _ block: LiveBlock, at base: UInt64, limit: UInt64) {
    for gap in part.gaps {
      guard base < limit, gap.lowerBound < limit - base else { continue }
      let from = base + gap.lowerBound
      let to = base + min(limit - base, gap.upperBound)
      image.forEachWord(in: from..<to) { address, value in
        let target = value & Self.addressBits
        guard let found = heap.block(containing: target), heap[found].address == target, types[Int(nodeTypes[Int(found.rawValue)])].kind.isCounted else { return }
        addEdge(
          from: UInt32(node), to: found.rawValue, label: EdgeLabelID.scanned(offset: address - block.address).rawValue,
          kind: EdgeStrength.conservative.rawValue)
      }
    }
  }

  /// Nil behind `limit`; references are in order.
  @inline(__always)
  private func place(of reference: NodeLayout.Reference, _ base: UInt64, _ limit: UInt64) -> UInt64? {
    let (place, overflow) = base.addingReportingOverflow(reference.offset)
    return overflow || place >= limit || limit - place < 8 ? nil : place
  }

  /// The references of a value that has enumerations, several of whose cases may have one in the same place.
  private mutating func readPayloads(_ part: NodeLayout.Part, of node: Int, at base: UInt64, limit: UInt64) {
    var next = 0
    while next < part.references.count, let place = place(of: part.references[next], base, limit) {
      let alternatives = next..<part.ends[next]
      next = alternatives.upperBound
      guard let word = image.word(at: place) else { continue }
      let target = word & Self.addressBits & ~7
      var isNamed = false
      for index in alternatives where selection.isNamed(part.conditions[index]) {
        add(part.references[index], part.references[index].label, of: node, target)
        isNamed = true
      }
      if isNamed { continue }
      var last: (label: UInt32, strength: EdgeStrength)?
      for index in alternatives where selection.isActive(part.conditions[index]) {
        // Several cases may have the same reference here.
        let reference = part.references[index]
        if let last, last == (reference.unnamedLabel, reference.strength) { continue }
        last = (reference.unnamedLabel, reference.strength)
        add(reference, reference.unnamedLabel, of: node, target)
      }
    }
  }

  private mutating func add(_ reference: NodeLayout.Reference, _ label: UInt32, of node: Int, _ target: UInt64) {
    if reference.strength == .weak {
      addWeak(node, sideTable: target, label: label)
      return
    }
    guard let found = heap.block(containing: target) else {
      if reference.strength == .unmanaged, !reference.isRawPointer { noteDangling(node, label, target, isReused: false) }
      return
    }
    if reference.strength == .unmanaged, !reference.isRawPointer {
      let expected = labels.labels[Int(reference.label)].typeName
      if !expected.isEmpty, heap[found].address != target || types[Int(nodeTypes[Int(found.rawValue)])].qualifiedName != expected {
        noteDangling(node, label, target, isReused: true)
      }
    }
    // A raw pointer may lead anywhere in a block; a counted reference leads to an object's start, which may stand among a task's frames.
    guard heap[found].address == target || reference.strength == .unmanaged else {
      if let parent = parent(ofTaskAt: target, in: found), parent != UInt32(node) {
        addEdge(from: UInt32(node), to: parent, label: label, kind: reference.strength.rawValue)
      }
      return
    }
    addEdge(from: UInt32(node), to: found.rawValue, label: label, kind: reference.strength.rawValue)
  }

  /// `async let` makes a task among the frames of the one that waits for it: who can resume the child resumes the parent with it.
  private mutating func parent(ofTaskAt address: UInt64, in found: BlockID) -> UInt32? {
    guard heap[found].address != address else { return nil }
    let isTaskBlock = types[Int(nodeTypes[Int(found.rawValue)])].kind == .task
    guard let parent = isTaskBlock ? found.rawValue : taskMemory.taskOfSlab[found.rawValue], isTask(at: address) else { return nil }
    return parent
  }

  private mutating func addWeak(_ node: Int, sideTable: UInt64, label: UInt32) {
    guard let table = heap.block(containing: sideTable), heap[table].address == sideTable else { return }
    addEdge(from: UInt32(node), to: table.rawValue, label: label, kind: EdgeStrength.bookkeeping.rawValue)
    if mayBeSideTable(Int(table.rawValue)) { markSideTable(table.rawValue) }
    if let found = SideTable.object(of: sideTable, in: image, heap) {
      addEdge(from: UInt32(node), to: found.rawValue, label: label, kind: EdgeStrength.weak.rawValue)
    }
  }

  private func mayBeSideTable(_ node: Int) -> Bool {
    types[Int(nodeTypes[node])].kind == .malloc && SideTable.mayBeOrphan(heap.blocks[node], in: image)
  }

  private mutating func noteDangling(_ node: Int, _ label: UInt32, _ target: UInt64, isReused: Bool) {
    guard heapExtent.contains(target), dangling.count < Self.danglingLimit else { return }
    dangling.append(.init(from: BlockID(UInt32(node)), label: EdgeLabelID(label), target: target, isTargetReused: isReused))
  }

  /// Adds an edge, unless it says what the one before it said: a row of references to one thing, as a table has that was filled with it, is one edge.
  /// Of scanned words the first of the row stands for all.
  @inline(__always)
  private mutating func addEdge(from source: UInt32, to target: UInt32, label: UInt32, kind: UInt8) {
    if last.target == target, last.source == source, last.kind == kind, last.label == label || (last.label >= 1 << 31 && label >= 1 << 31) { return }
    last = (source, target, label, kind)
    graph.addEdge(from: source, to: target, label: label, kind: kind)
  }

  // MARK: Elements

  private mutating func readArray(_ node: Int, _ block: LiveBlock, from start: UInt64, count: UInt64?, _ part: NodeLayout.Part) {
    let end = usableEnd(node, block)
    guard start >= block.address, start < end else { return }
    guard let count, part.stride > 0 else {
      scan(node, block, start..<end)
      return
    }
    guard !part.references.isEmpty || !part.opaque.isEmpty else { return }
    var next = start
    let limit = start &+ min(count, (end - start) / part.stride) &* part.stride
    // Elements in which the image has nothing are left out: a count may claim any number of them.
    while next < limit, let word = image.firstWord(in: next..<limit) {
      next += (word - next) / part.stride * part.stride
      read(part, of: node, block, at: next, limit: limit)
      next += part.stride
    }
  }

  /// What elements that were removed left behind is no reference.
  private func isEmptyCollection(_ kind: NodeKind, _ block: LiveBlock) -> Bool {
    switch kind {
    case .array, .dictionary, .set: image.word(at: block.address &+ 16) == 0
    default: false
    }
  }

  /// Collections of the standard library fill what the allocator gave them beyond what they had asked for: up to the next multiple of 16 less
  /// the allocator's word, or a size class, but never into the next block.
  private func usableEnd(_ node: Int, _ block: LiveBlock) -> UInt64 {
    let end = block.address + block.size
    let next = node + 1 < heap.count ? heap.blocks[node + 1].address : UInt64.max
    return max(end, min(next, end &+ max(24, block.size / 4)))
  }

  private mutating func readTable(_ node: Int, _ block: LiveBlock, scale: UInt64, bitmap: UInt64, parts: [(offset: UInt64, part: NodeLayout.Part)]) {
    let end = block.address + block.size
    let bits = block.address &+ bitmap
    guard let scale = image.word(at: block.address &+ scale), scale & 0xFF < 40, bits >= block.address, bits < end else {
      scan(node, block, block.address + min(block.size, 48)..<end)
      return
    }
    let buckets = UInt64(1) << (scale & 0xFF)
    for (offset, part) in parts where part.stride > 0 && !(part.references.isEmpty && part.opaque.isEmpty) {
      guard let base = image.word(at: block.address &+ offset), base >= block.address, base < end else { continue }
      // A scale may claim any number of buckets: only those words of the bitmap are visited that the image has.
      var next = bits
      let bitsEnd = bits + min(end - bits, max(1, buckets / 64) * 8)
      while let at = image.firstWord(in: next..<bitsEnd) {
        next = at + 8
        var occupied = image.word(at: at) ?? 0
        while occupied != 0 {
          let bucket = (at - bits) * 8 + UInt64(occupied.trailingZeroBitCount)
          occupied &= occupied - 1
          let (distance, overflow) = bucket.multipliedReportingOverflow(by: part.stride)
          guard !overflow, bucket < buckets, distance < end - base else { break }
          read(part, of: node, block, at: base + distance, limit: end)
        }
      }
    }
  }

  // MARK: Scanning

  /// A queue links its tasks by two words of theirs, which have what the memory held before until a task is first put into a queue. They lead to
  /// other tasks, and to what a queue is made of, never to objects or the frames of a task.
  private mutating func readQueueLinks(_ node: Int, _ block: LiveBlock) {
    let range = block.address + TaskMemory.queueLinks.lowerBound..<block.address + max(TaskMemory.queueLinks.lowerBound, min(block.size, TaskMemory.queueLinks.upperBound))
    image.forEachWord(in: range) { address, value in
      guard let target = target(of: value), Int(target) != node else { return }
      let kind = types[Int(nodeTypes[Int(target)])].kind
      guard kind == .task || (!kind.isCounted && taskMemory.taskOfSlab[target] == nil) else { return }
      addEdge(
        from: UInt32(node), to: target, label: EdgeLabelID.scanned(offset: address - block.address).rawValue, kind: (kind == .task ? EdgeStrength.taskLink : .conservative).rawValue)
    }
  }

  /// Leaves out a task's frames that were freed, and what nobody has written yet.
  private mutating func scanUsed(_ node: Int, _ block: LiveBlock, _ range: Range<UInt64>) {
    var next = range.lowerBound
    for hole in unused[UInt32(node)] ?? [] where hole.upperBound > next && hole.lowerBound < range.upperBound {
      if next < hole.lowerBound { scan(node, block, next..<hole.lowerBound) }
      next = hole.upperBound
    }
    if next < range.upperBound { scan(node, block, next..<range.upperBound) }
  }

  private mutating func scan(_ node: Int, _ block: LiveBlock, _ range: Range<UInt64>, label: UInt32? = nil) {
    guard range.lowerBound < range.upperBound else { return }
    // Blocks of C code and tasks have pointers into themselves that keep nothing.
    let kind = types[Int(nodeTypes[node])].kind
    let isObject = kind.isCounted && kind != .task
    let task = kind == .malloc && !taskMemory.taskOfSlab.isEmpty ? taskMemory.taskOfSlab[UInt32(node)] : nil
    let links = kind == .task || task != nil ? taskRegistry?.links ?? [] : []
    let holdsNoObjects = typeRows[Int(nodeTypes[node])].holdsNoObjects
    image.forEachWord(in: range) { address, value in
      if !links.isEmpty, links.contains(address) { return }
      guard let target = target(of: value), Int(target) != node || isObject, target != task else { return }
      let targetKind = types[Int(nodeTypes[Int(target)])].kind
      if holdsNoObjects, targetKind.isCounted || taskMemory.taskOfSlab[target] != nil { return }
      let isTaskLink = task != nil && targetKind == .task
      addEdge(
        from: UInt32(node), to: target, label: label ?? EdgeLabelID.scanned(offset: address - block.address).rawValue,
        kind: (isTaskLink ? EdgeStrength.taskLink : .conservative).rawValue)
    }
  }

  /// The block that a scanned word leads to. C code keeps pointers into the middle of its blocks; a counted object is held by its start.
  @inline(__always)
  private mutating func target(of word: UInt64) -> UInt32? {
    let address = word & Self.addressBits
    guard heapExtent.contains(address), let found = heap.block(containing: address) else { return nil }
    if address & ~7 == heap[found].address { return found.rawValue }
    let kind = types[Int(nodeTypes[Int(found.rawValue)])].kind
    if kind == .malloc, !taskMemory.taskOfSlab.isEmpty, let task = parent(ofTaskAt: address & ~7, in: found) ?? taskMemory.task(ofTimerRecordAt: address & ~7, in: found) {
      return task
    }
    return kind.isCounted && kind != .task ? nil : found.rawValue
  }

  private mutating func readRoots() {
    for (index, root) in roots.roots.enumerated() {
      let node = UInt32(heap.count + index)
      func add(_ value: UInt64, at offset: UInt64) {
        if root.kind == .unseen {
          if let target = target(of: value) {
            addEdge(from: node, to: target, label: EdgeLabelID.scanned(offset: offset).rawValue, kind: EdgeStrength.conservative.rawValue)
          }
          return
        }
        let address = value & Self.addressBits
        guard heapExtent.contains(address), let found = heap.block(containing: address) else { return }
        if !root.acceptsInterior, heap[found].address != address & ~7 { return }
        let target = parent(ofTaskAt: address & ~7, in: found) ?? found.rawValue
        addEdge(from: node, to: target, label: EdgeLabelID.scanned(offset: offset).rawValue, kind: EdgeStrength.conservative.rawValue)
      }
      for value in root.values { add(value, at: 0) }
      guard root.kind == .unseen else {
        let heads = taskRegistry?.heads ?? []
        for range in root.ranges {
          image.forEachWord(in: range) { address, value in if heads.isEmpty || !heads.contains(address) { add(value, at: address - range.lowerBound) } }
        }
        continue
      }
      let memory = UnseenMemory(root.ranges, heap: heap, uncertain: uncertain, roots: roots, image: image)
      for range in root.ranges where memory.isReached(range.lowerBound) { image.forEachWord(in: range) { add($1, at: $0 - range.lowerBound) } }
      let inUse = uncertain.members.filter { memory.isReached(heap.blocks[Int($0)].address) }
      inUse.forEach { addEdge(from: node, to: $0, label: EdgeLabelID.scanned(offset: 0).rawValue, kind: EdgeStrength.conservative.rawValue) }
    }
  }
}
