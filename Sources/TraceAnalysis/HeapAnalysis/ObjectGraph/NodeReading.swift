// Adds the references in a block to the graph. Reads the fields if the type is reflected, and otherwise scans the
// words.

import CTraceFormat
import CHeapScan
import TraceReading
import TraceSymbolication

extension ObjectGraphBuilder {
  mutating func layout(_ row: Int, at address: UInt64) -> NodeLayout? {
    if typeRows[row].isLayoutKnown, !typeRows[row].isPerInstance { return typeRows[row].layout }
    guard let type = typeRows[row].type, type.metadata.rawValue != 0 else { return nil }
    let kind = types[row].kind
    let found = layouts?.layout(ofInstanceAt: RuntimeAddress(address), metadata: type.metadata).map {
      NodeLayout($0, kind: kind, labels: labels)
    }
    // Two contexts of a generic closure may have captures of different layouts.
    typeRows[row].isPerInstance = kind == .closure && layouts?.dependsOnInstance(type.metadata) == true
    typeRows[row].isLayoutKnown = true
    typeRows[row].layout = found
    if found != nil { types[row].isReflected = true }
    return found
  }

  mutating func read(_ node: Int) {
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
        let words = DispatchMemory.timerWords
        scan(node, block, block.address &+ words.lowerBound..<block.address &+ words.upperBound)
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
      // After `deinit`, the words of the fields are no longer references. While `deinit` runs, they still are.
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
        if layout.size < block.size {
          scan(
            node, block, block.address + max(layout.size, 16)..<usableEnd(node, block),
            isLeftOver: isLeftOver(behind: layout.size, block, types[row].kind))
        }
      case .array(let start, let countOffset, let part):
        let count = image.word(at: block.address &+ countOffset)
        readArray(node, block, from: block.address &+ start, count: count, part)
      case .ring(let start, let capacityOffset, let countOffset, let firstOffset, let part):
        let slots = [capacityOffset, countOffset, firstOffset].map { image.word(at: block.address &+ $0) }
        readRing(node, block, from: block.address &+ start, capacity: slots[0], count: slots[1], first: slots[2], part)
      case .hashTable(let scale, let bitmap, let keys, let key, let values, let value):
        readTable(
          node, block, scale: scale, bitmap: bitmap,
          parts: [(keys, key)] + (values.flatMap { offset in value.map { [(offset, $0)] } } ?? []))
      }
    }
  }

  /// Returns whether the bytes of a block from `size` on are the allocator's padding. This can be true only for
  /// closures and boxes, which have no elements after their captures.
  private func isLeftOver(behind size: UInt64, _ block: LiveBlock, _ kind: NodeKind) -> Bool {
    (kind == .closure || kind == .box) && isListed(block) && block.mayHaveSize((size &+ 7) & ~7, isListed: true)
  }

  private mutating func addSideTable(_ node: Int, _ block: LiveBlock) {
    guard let bits = image.word(at: block.address + UInt64(SWIFT_OBJECT_COUNTS)),
      let table = ReferenceCount.sideTable(bits),
      let found = heap.block(containing: table)
    else { return }
    addEdge(
      from: UInt32(node), to: found.rawValue, label: EdgeLabelID.scanned(offset: 8).rawValue,
      kind: EdgeStrength.bookkeeping.rawValue)
  }

  static let addressBits = LT_WORD_ADDRESS_MASK

  /// Adds the references of a value at `base`.
  mutating func read(_ part: NodeLayout.Part, of node: Int, _ block: LiveBlock, at base: UInt64, limit: UInt64) {
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
    for words in part.numbers where base < limit && words.lowerBound < limit - base {
      let end = base + min(limit - base, words.upperBound)
      // If the last word holds a tag, a case or a number with a mark, the heap image has the address in the next word.
      let isMoved = end < limit && image.word(at: end - 8).map { numberTarget(of: $0) == nil } ?? false
      readNumbers(node, base + words.lowerBound..<(isMoved ? end + 8 : end))
    }
    // A value in a buffer may itself have enumerations. They share `selection` with this part's enumerations, so read
    // them last.
    var inline: [(part: NodeLayout.Part, limit: UInt64)] = []
    for opaque in part.opaque where base < limit && opaque.range.lowerBound < limit - base {
      let isNamed = opaque.conditions.isEmpty || selection.isNamed(opaque.conditions)
      guard isNamed || selection.isActive(opaque.conditions) else { continue }
      let label = isNamed ? opaque.label : opaque.unnamedLabel
      var from = max(base + opaque.range.lowerBound, block.address + 16)
      let to = base + min(limit - base, opaque.range.upperBound)
      if !isNamed {
        // Another active case may define some of these words as references. Scan only the words between them.
        for index in part.references.indices
        where !part.conditions[index].isEmpty && selection.isActive(part.conditions[index]) {
          let known = base &+ part.references[index].offset
          guard known >= from, known < to else { continue }
          scan(node, block, from..<known, label: label)
          from = known + 8
        }
      } else if from < to, readBuffer(opaque, of: node, block, at: from, base: base, limit: to, &inline) {
        continue
      } else if from < to, opaque.metadataOffset != nil, let label, let word = image.word(at: from),
        let found = heap.block(containing: word & Self.addressBits),
        heap[found].address == word & Self.addressBits & ~7, types[Int(nodeTypes[Int(found.rawValue)])].kind.isCounted
      {
        addEdge(from: UInt32(node), to: found.rawValue, label: label, kind: EdgeStrength.strong.rawValue)
        from += 8
      }
      if from < to { scan(node, block, from..<to, label: label) }
    }
    for value in inline { read(value.part, of: node, block, at: base, limit: value.limit) }
  }

  /// Reads the buffer of an `any P` according to the type of the value in it. Returns false if it read nothing, because
  /// the type is unknown or its object was not found.
  private mutating func readBuffer(
    _ opaque: NodeLayout.Opaque, of node: Int, _ block: LiveBlock, at start: UInt64, base: UInt64, limit: UInt64,
    _ inline: inout [(part: NodeLayout.Part, limit: UInt64)]
  ) -> Bool {
    guard let offset = opaque.metadataOffset, start == base &+ opaque.range.lowerBound,
      let metadata = image.word(at: base &+ offset),
      let contents = bufferContents(metadata, opaque)
    else { return false }
    switch contents {
    case .object:
      guard let word = image.word(at: start), let found = heap.block(containing: word & Self.addressBits),
        heap[found].address == word & Self.addressBits & ~7,
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
    let key = BufferKey(metadata: metadata, label: opaque.label, offset: opaque.range.lowerBound)
    if let known = bufferedValues[key] { return known }
    let contents: BufferContents? =
      switch layouts?.bufferedValue(ofTypeWithMetadata: metadata) {
      case .object: .object
      case .inline(let size, let layout?):
        .inline(NodeLayout.Part(layout, in: opaque, labels: labels), size: UInt64(clamping: size))
      case .inline(let size, nil): .unknown(size: UInt64(clamping: size))
      case nil: nil
      }
    if bufferedValues.count < Self.metadataLimit { bufferedValues[key] = .some(contents) }
    return contents
  }

  /// Returns whether the reference at an index of a part can lead to the block at an address.
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
    let isPossible =
      type.kind.mayBe(expected) && (expected.mayBeInstance(of: classNames) || !isClass(expected.typeName))
    fitting[key] = isPossible
    return isPossible
  }

  /// Returns whether a type's metadata is at an address. Metadata of a class begins with 0, other metadata with its
  /// kind.
  private mutating func isMetadata(_ address: UInt64) -> Bool {
    if let known = isTypeMetadata[address] { return known }
    let kind = address & 7 == 0 ? layouts?.metadataKind(at: address) : nil
    let result = kind.map { $0 == UInt64(SWIFT_KIND_CLASS) || lt_is_value_kind($0) } ?? false
    if isTypeMetadata.count < Self.metadataLimit { isTypeMetadata[address] = result }
    return result
  }

  /// Returns whether a class of the given name has instances. If not, the name may belong to an enumeration, or to a
  /// class whose subclasses alone have instances.
  private mutating func isClass(_ name: String) -> Bool {
    if classNames.isEmpty { classNames = Set(types.lazy.filter { $0.kind == .object }.map(\.qualifiedName)) }
    return classNames.contains(name)
  }

  /// Adds a reference for each word outside all fields that is exactly the address of an object. A word that points to
  /// another block is recorded as a number.
  private mutating func readGaps(
    _ part: NodeLayout.Part, of node: Int, _ block: LiveBlock, at base: UInt64, limit: UInt64
  ) {
    for gap in part.gaps {
      guard base < limit, gap.lowerBound < limit - base else { continue }
      let from = base + gap.lowerBound
      let to = base + min(limit - base, gap.upperBound)
      image.forEachWord(in: from..<to) { address, value in
        let target = value & Self.addressBits
        guard let found = heap.block(containing: target), heap[found].address == target,
          types[Int(nodeTypes[Int(found.rawValue)])].kind.isCounted
        else {
          if let number = numberTarget(of: value), Int(number) != node { addNumber(from: UInt32(node), to: number) }
          return
        }
        addEdge(
          from: UInt32(node), to: found.rawValue, label: EdgeLabelID.scanned(offset: address - block.address).rawValue,
          kind: EdgeStrength.conservative.rawValue)
      }
    }
  }

  /// Returns the address of a reference's word; nil if the word extends beyond `limit`. References are in order of
  /// offset, so all later ones are beyond `limit` as well.
  @inline(__always)
  private func place(of reference: NodeLayout.Reference, _ base: UInt64, _ limit: UInt64) -> UInt64? {
    let (place, overflow) = base.addingReportingOverflow(reference.offset)
    return overflow || place >= limit || limit - place < 8 ? nil : place
  }

  /// Adds the references of a value with enumerations. Several cases may have a reference at the same offset.
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
      // If no case with a reference here may be active, the word is a number in another case's payload.
      if !alternatives.contains(where: { selection.isActive(part.conditions[$0]) }),
        let number = numberTarget(of: word), Int(number) != node
      {
        addNumber(from: UInt32(node), to: number)
        continue
      }
      for index in alternatives where selection.isActive(part.conditions[index]) {
        // Several cases may have the same reference here: add it once.
        let reference = part.references[index]
        if let last, last == (reference.unnamedLabel, reference.strength) { continue }
        last = (reference.unnamedLabel, reference.strength)
        add(reference, reference.unnamedLabel, of: node, target)
      }
    }
  }

  mutating func add(_ reference: NodeLayout.Reference, _ label: UInt32, of node: Int, _ target: UInt64) {
    if reference.strength == .weak {
      addWeak(node, sideTable: target, label: label)
      return
    }
    guard let found = heap.block(containing: target) else {
      if reference.strength == .unmanaged, !reference.isRawPointer {
        noteDangling(.init(from: BlockID(UInt32(node)), label: EdgeLabelID(label), target: target))
      }
      return
    }
    if reference.strength == .unmanaged, !reference.isRawPointer {
      let expected = labels.labels[Int(reference.label)].typeName
      if !expected.isEmpty,
        heap[found].address != target || types[Int(nodeTypes[Int(found.rawValue)])].qualifiedName != expected
      {
        noteDangling(
          .init(
            from: BlockID(UInt32(node)), label: EdgeLabelID(label), target: target, isTargetReused: true,
            isTargetOfOtherClass: isOfOtherClass(found, at: target, than: reference.className)))
      }
    }
    // An unmanaged reference may point anywhere in a block. A counted reference points to the start of an object, and
    // only a task among the frames of another task starts inside a block.
    guard heap[found].address == target || reference.strength == .unmanaged else {
      if let parent = parent(ofTaskAt: target, in: found), parent != UInt32(node) {
        addEdge(from: UInt32(node), to: parent, label: label, kind: reference.strength.rawValue)
      }
      return
    }
    addEdge(from: UInt32(node), to: found.rawValue, label: label, kind: reference.strength.rawValue)
  }

  /// Returns the task whose frames contain the `async let` task at an address. `async let` allocates a child task among
  /// the frames of its parent, and the parent waits for the child. So a reference that can resume the child can
  /// indirectly resume the parent.
  mutating func parent(ofTaskAt address: UInt64, in found: BlockID) -> UInt32? {
    guard heap[found].address != address else { return nil }
    let isTaskBlock = types[Int(nodeTypes[Int(found.rawValue)])].kind == .task
    guard let parent = isTaskBlock ? found.rawValue : taskMemory.taskOfSlab[found.rawValue], isTask(at: address) else {
      return nil
    }
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

  func mayBeSideTable(_ node: Int) -> Bool {
    types[Int(nodeTypes[node])].kind == .malloc
      && SideTable.mayBeOrphan(heap.blocks[node], isListed: isListed(heap.blocks[node]), in: image)
  }

  private mutating func noteDangling(_ reference: ObjectGraph.DanglingReference) {
    guard heapExtent.contains(reference.target), dangling.count < Self.danglingLimit else { return }
    dangling.append(reference)
  }

  /// Returns whether an object is certainly not an instance of a reference's declared class. This is certain if the
  /// object's class and all superclasses are known, and none of them is the declared class.
  private mutating func isOfOtherClass(_ found: BlockID, at address: UInt64, than declared: String?) -> Bool {
    let row = Int(nodeTypes[Int(found.rawValue)])
    guard let declared, heap[found].address == address, types[row].kind == .object,
      let classNames = layout(row, at: address)?.classNames, !classNames.isEmpty,
      classNames.allSatisfy({ $0.contains(".") })
    else { return false }
    return !classNames.contains { ReferentName.withoutFiles($0) == declared }
  }

  /// Adds an edge, unless it repeats the previous edge. So a run of equal references, as in a table filled with one
  /// object, gives one edge. In a run of scanned words with one target, only the first word gives an edge.
  @inline(__always)
  mutating func addEdge(from source: UInt32, to target: UInt32, label: UInt32, kind: UInt8) {
    if last.target == target, last.source == source, last.kind == kind,
      last.label == label || (last.label >= 1 << 31 && label >= 1 << 31)
    {
      return
    }
    last = AddedEdge(source: source, target: target, label: label, kind: kind)
    graph.addEdge(from: source, to: target, label: label, kind: kind)
  }
}

/// An edge that was added. Swift 6.0.3 cannot optimise `addEdge` if this is a tuple with labels.
struct AddedEdge {
  var source: UInt32
  var target: UInt32
  var label: UInt32
  var kind: UInt8
}
