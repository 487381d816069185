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
  private let idle: NodeSet
  /// By block of a task's memory: the task.
  private var taskOfSlab: [UInt32: UInt32] = [:]
  private var dangling: [ObjectGraph.DanglingReference] = []
  private var heapExtent: Range<UInt64>
  private let selection: PayloadSelection
  /// Whether a reference, by its label, can lead to a type, by its row: looking at names takes time.
  private var fitting: [UInt64: Bool] = [:]
  private var classNames: Set<String> = []
  private var isTaskMetadata: [UInt64: Bool] = [:]
  private var isTypeMetadata: [UInt64: Bool] = [:]

  private static let danglingLimit = 100_000
  /// Addresses that are remembered to be metadata or not.
  private static let metadataLimit = 1 << 16

  private struct TypeRow {
    var type: TraceType?
    var layout: NodeLayout?
    var isLayoutKnown = false
    var isPerInstance = false
    var isLeaf = false
  }

  /// - Parameters:
  ///   - typeOf: the type of a block, or nil for one that is no Swift object, and what allocated it.
  static func build(
    _ snapshot: TraceSnapshot, heap: LiveHeap, image: HeapImage, roots: HeapRoots, typeOf: (LiveBlock) -> (type: TraceType?, operation: Operation),
    layouts: LayoutSource?, mainModule: String = ""
  ) -> ObjectGraph {
    var builder = ObjectGraphBuilder(heap: heap, image: image, roots: roots, layouts: layouts, snapshot)
    builder.classify(typeOf)
    builder.markSideTables()
    builder.markIdleContinuations()
    builder.markTaskMemory()
    for node in 0..<heap.count { builder.read(node) }
    builder.readRoots()
    let scanned = builder.typeRows.indices.filter { index in
      let row = builder.typeRows[index]
      return row.isLayoutKnown && row.layout == nil && !row.isLeaf && builder.types[index].kind.isCounted && builder.types[index].kind != .task
    }
    let fields = builder.typeRows.map { row in
      Set(row.layout?.fields.references.map { String(builder.labels.labels[Int($0.label)].name.prefix { $0 != "." }) } ?? []).sorted()
    }
    return ObjectGraph(
      snapshot: snapshot, heap: heap, image: image, roots: roots, graph: builder.graph.build(), types: builder.types, labels: builder.labels.labels,
      nodeTypes: builder.nodeTypes, deinitialised: builder.deinitialised, taskOfSlab: builder.taskOfSlab, mainModule: mainModule, fieldNames: fields, dangling: builder.dangling, scannedTypes: scanned,
      reflectionProblem: layouts == nil ? "no reflection" : layouts?.problem)
  }

  private init(heap: LiveHeap, image: HeapImage, roots: HeapRoots, layouts: LayoutSource?, _ snapshot: TraceSnapshot) {
    self.heap = heap
    self.image = image
    self.roots = roots
    self.layouts = layouts
    graph = HeapGraphBuilder(nodeCount: heap.count + roots.roots.count)
    nodeTypes = Array(repeating: 0, count: heap.count)
    deinitialised = NodeSet(bound: heap.count)
    idle = NodeSet(bound: heap.count)
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

  private mutating func classify(_ typeOf: (LiveBlock) -> (type: TraceType?, operation: Operation)) {
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
        last = byOperation[operation.rawValue] ?? addType(NodeType(kind: .malloc, qualifiedName: operation.name, name: operation.name, typeID: 0), nil)
        byOperation[operation.rawValue] = last
      }
      nodeTypes[node] = last
    }
  }

  /// Tasks come from malloc: their first word tells.
  private mutating func isTask(_ block: LiveBlock) -> Bool {
    guard block.size >= 64, let metadata = image.word(at: block.address) else { return false }
    if let known = isTaskMetadata[metadata] { return known }
    let result = metadata & 7 == 0 && layouts?.metadataKind(at: metadata) == 0x502
    if isTaskMetadata.count < Self.metadataLimit { isTaskMetadata[metadata] = result }
    return result
  }

  /// The object of a block whose reference count word stands for a side table leads to that.
  private mutating func markSideTables() {
    var sideTableType: UInt32?
    for (node, block) in heap.blocks.enumerated() where types[Int(nodeTypes[node])].kind.isCounted {
      guard let bits = image.word(at: block.address + 8) else { continue }
      if let table = ReferenceCount.sideTable(bits), let found = heap.block(containing: table), heap[found].address == table {
        let type = sideTableType ?? addType(NodeType(kind: .sideTable, qualifiedName: "side table", name: "side table", typeID: 0), nil)
        sideTableType = type
        nodeTypes[Int(found.rawValue)] = type
      }
      if let counts = ObjectGraph.referenceCount(of: block.address, in: image), counts.isDeiniting, !counts.isImmortal {
        deinitialised.insert(UInt32(node))
      }
    }
  }

  /// libdispatch keeps some continuations of each thread for later: their words are what the last use left behind. A list begins in
  /// thread-local memory; each has flags or the address of a table first, a link at 16, the function it called at 32.
  /// Source: swiftlang/swift-corelibs-libdispatch, src/inline_internal.h and src/queue_internal.h.
  private mutating func markIdleContinuations() {
    for root in roots.roots {
      guard case .threadLocal = root.kind else { continue }
      for range in root.ranges {
        var heads: [UInt64] = []
        image.forEachWord(in: range) { heads.append($1) }
        for head in heads {
          guard let first = continuation(at: head), isUsed(head) else { continue }
          var next: BlockID? = first
          while let found = next, idle.insert(found.rawValue) { next = image.word(at: heap[found].address + 16).flatMap { continuation(at: $0) } }
        }
      }
    }
  }

  private func continuation(at address: UInt64) -> BlockID? {
    guard heapExtent.contains(address), let found = heap.block(containing: address), heap[found].address == address, heap[found].size == 64,
      types[Int(nodeTypes[Int(found.rawValue)])].qualifiedName == Operation.calloc.name
    else { return nil }
    return found
  }

  private func isUsed(_ continuation: UInt64) -> Bool {
    guard image.word(at: continuation).map({ roots.isImage($0) }) ?? true, image.word(at: continuation + 8) == nil else { return false }
    if let function = image.word(at: continuation + 32) { return roots.isImage(function) }
    // One that resumed a task has no function; the link to others of its kind tells.
    return image.word(at: continuation + 16).map { self.continuation(at: $0) != nil } ?? false
  }

  /// A task takes further memory for its functions' frames in slabs, which point back to it in many places: a part of it, not something it holds.
  /// A slab begins with the address of a metadata record that is all 0, and of the next slab.
  /// Source: swiftlang/swift, stdlib/public/runtime/StackAllocator.h.
  private mutating func markTaskMemory() {
    for node in 0..<heap.count where types[Int(nodeTypes[node])].kind == .task {
      let block = heap.blocks[node]
      var found: [UInt64] = []
      image.forEachWord(in: block.address + 16..<block.address &+ max(block.size, 16)) { found.append($1 & Self.addressBits & ~7) }
      for candidate in found {
        var next: UInt64? = candidate
        while let at = next, let slab = slab(at: at), taskOfSlab[slab.rawValue] == nil {
          taskOfSlab[slab.rawValue] = UInt32(node)
          next = image.word(at: at + 8)
        }
      }
    }
  }

  private func slab(at address: UInt64) -> BlockID? {
    guard heapExtent.contains(address), let found = heap.block(containing: address), heap[found].address == address, heap[found].size >= 256,
      types[Int(nodeTypes[Int(found.rawValue)])].kind == .malloc, let metadata = image.word(at: address), roots.isImage(metadata),
      layouts?.metadataKind(at: metadata) == 0, layouts?.metadataKind(at: metadata &+ 8) == 0
    else { return nil }
    return found
  }

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
    if idle.contains(UInt32(node)) {
      if let next = image.word(at: block.address + 16), let found = continuation(at: next) {
        graph.addEdge(from: UInt32(node), to: found.rawValue, label: EdgeLabelID.scanned(offset: 16).rawValue, kind: EdgeStrength.conservative.rawValue)
      }
      return
    }
    switch types[row].kind {
    case .sideTable: return
    case .malloc:
      scan(node, block, block.address..<block.address &+ block.size)
    case .task:
      scan(node, block, block.address + 16..<block.address &+ max(block.size, 16))
    default:
      guard block.size > 16 else { return }
      addSideTable(node, block)
      // What deinit left behind is no reference any more.
      if deinitialised.contains(UInt32(node)) { return }
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
    graph.addEdge(from: UInt32(node), to: found.rawValue, label: EdgeLabelID.scanned(offset: 8).rawValue, kind: EdgeStrength.bookkeeping.rawValue)
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
      } else if from < to, opaque.metadataOffset != nil, let label, let word = image.word(at: from), let found = heap.block(containing: word & Self.addressBits),
        heap[found].address == word & Self.addressBits & ~7, types[Int(nodeTypes[Int(found.rawValue)])].kind.isCounted
      {
        graph.addEdge(from: UInt32(node), to: found.rawValue, label: label, kind: EdgeStrength.strong.rawValue)
        from += 8
      }
      if from < to { scan(node, block, from..<to, label: label) }
    }
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
        graph.addEdge(
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
      if reference.strength == .unmanaged, !reference.isRawPointer { noteDangling(node, label, target) }
      return
    }
    // A raw pointer may lead anywhere in a block; a counted reference leads to an object's start.
    guard heap[found].address == target || reference.strength == .unmanaged else { return }
    graph.addEdge(from: UInt32(node), to: found.rawValue, label: label, kind: reference.strength.rawValue)
  }

  private mutating func addWeak(_ node: Int, sideTable: UInt64, label: UInt32) {
    guard let table = heap.block(containing: sideTable), heap[table].address == sideTable else { return }
    graph.addEdge(from: UInt32(node), to: table.rawValue, label: label, kind: EdgeStrength.bookkeeping.rawValue)
    if let object = image.word(at: sideTable), let found = heap.block(containing: object), heap[found].address == object {
      graph.addEdge(from: UInt32(node), to: found.rawValue, label: label, kind: EdgeStrength.weak.rawValue)
    }
  }

  private mutating func noteDangling(_ node: Int, _ label: UInt32, _ target: UInt64) {
    guard heapExtent.contains(target), dangling.count < Self.danglingLimit, heap.block(containing: target) == nil else { return }
    dangling.append(.init(from: BlockID(UInt32(node)), label: EdgeLabelID(label), target: target))
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

  private mutating func scan(_ node: Int, _ block: LiveBlock, _ range: Range<UInt64>, label: UInt32? = nil) {
    guard range.lowerBound < range.upperBound else { return }
    // Blocks of C code and tasks have pointers into themselves that keep nothing.
    let kind = types[Int(nodeTypes[node])].kind
    let isObject = kind.isCounted && kind != .task
    let task = kind == .malloc && !taskOfSlab.isEmpty ? taskOfSlab[UInt32(node)] : nil
    image.forEachWord(in: range) { address, value in
      guard let target = target(of: value, acceptsInterior: false), Int(target) != node || isObject, target != task else { return }
      graph.addEdge(
        from: UInt32(node), to: target, label: label ?? EdgeLabelID.scanned(offset: address - block.address).rawValue,
        kind: EdgeStrength.conservative.rawValue)
    }
  }

  /// The block that a scanned word leads to. C code keeps pointers into the middle of its blocks; a counted object is held by its start.
  @inline(__always)
  private func target(of word: UInt64, acceptsInterior: Bool) -> UInt32? {
    let address = word & Self.addressBits
    guard heapExtent.contains(address), let found = heap.block(containing: address) else { return nil }
    let start = heap[found].address
    if address & ~7 == start || acceptsInterior { return found.rawValue }
    let kind = types[Int(nodeTypes[Int(found.rawValue)])].kind
    return kind.isCounted && kind != .task ? nil : found.rawValue
  }

  private mutating func readRoots() {
    for (index, root) in roots.roots.enumerated() {
      let node = UInt32(heap.count + index)
      func add(_ value: UInt64, at offset: UInt64) {
        let address = value & Self.addressBits
        guard heapExtent.contains(address), let found = heap.block(containing: address) else { return }
        if !root.acceptsInterior, heap[found].address != address & ~7 { return }
        graph.addEdge(from: node, to: found.rawValue, label: EdgeLabelID.scanned(offset: offset).rawValue, kind: EdgeStrength.conservative.rawValue)
      }
      for value in root.values { add(value, at: 0) }
      for range in root.ranges { image.forEachWord(in: range) { add($1, at: $0 - range.lowerBound) } }
    }
  }
}
