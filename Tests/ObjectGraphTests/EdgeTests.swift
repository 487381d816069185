import Testing
import TextWriting
import TraceTestSupport

@testable import HeapAnalysis
@testable import TraceReading

/// An edge with its field's name, its strength and its target.
private struct NamedEdge: Hashable, CustomStringConvertible {
  var name: String
  var strength: EdgeStrength
  var target: UInt64
  var description: String { "\(name) \(strength.key) \(Hexadecimal.text(target))" }
}

@Suite struct EdgeTests {
  private typealias Heap = HeapBuilder

  private func edges(_ heap: HeapBuilder, from object: HeapBuilder.Object) throws -> Set<NamedEdge> {
    let graph = try heap.analysis().graph
    let node = try #require(graph.heap.block(containing: object.address)).rawValue
    return Set(
      graph.graph.edges(from: node).map { edge in
        let id = graph.graph.label(of: edge)
        let label = graph.label(id)
        let name =
          label.map { $0.name + ($0.caseName.map { " case \($0)" } ?? "") } ?? "+\(EdgeLabelID(id).scannedOffset ?? 0)"
        return NamedEdge(
          name: name, strength: EdgeStrength(rawValue: graph.graph.kind(of: edge))!,
          target: graph.heap[BlockID(graph.graph.target(of: edge))].address)
      })
  }

  private func edge(_ name: String, _ strength: EdgeStrength, _ target: HeapBuilder.Object) -> NamedEdge {
    NamedEdge(name: name, strength: strength, target: target.address)
  }

  private func value(_ stride: Int, _ references: [ReferenceField], opaque: [OpaqueField] = []) -> ValueLayout {
    ValueLayout(typeName: "", size: stride, stride: stride, alignment: 8, references: references, opaque: opaque)
  }

  private func element(_ offset: Int, _ name: String = "", _ strength: ReferenceStrength = .strong) -> ReferenceField {
    ReferenceField(offset: offset, name: name, strength: strength, kind: .object, typeName: "App.Item")
  }

  private func items(_ heap: HeapBuilder, _ count: Int) -> [HeapBuilder.Object] {
    heap.type("App.Item")
    // The items' counts are higher than the fields of a test account for, so scanned words may be references to them.
    return (0..<count).map { _ in heap.object("App.Item", count: 3 | 8 << 33) }
  }

  // MARK: Arrays

  private func array(_ heap: HeapBuilder, _ element: ValueLayout, size: UInt64) -> HeapBuilder.Object {
    heap.type("Swift._ContiguousArrayStorage<App.Item>")
    heap.layout(
      of: "Swift._ContiguousArrayStorage<App.Item>",
      ObjectLayout(
        typeName: "", size: 32, references: [], opaque: [], tail: .array(start: 32, countOffset: 16, element: element)))
    return heap.object("Swift._ContiguousArrayStorage<App.Item>", size: size)
  }

  /// Returns the addresses of blocks that numbers in an object may refer to.
  private func numbers(_ heap: HeapBuilder, of object: HeapBuilder.Object) throws -> Set<UInt64> {
    let graph = try heap.analysis().graph
    let node = try #require(graph.heap.block(containing: object.address)).rawValue
    return Set(graph.numbers.filter { $0.from == node }.map { graph.heap[BlockID($0.to)].address })
  }

  @Test(arguments: [8, 4, 1]) func numbersAndBytesEqualToBlockAddressesAreNotReferences(stride: Int) throws {
    let heap = HeapBuilder()
    let items = items(heap, 3)
    let block = heap.malloc(64)
    let array = array(heap, value(stride, []), size: 32 + 5 * 8)
    heap.set(array, 2, items[0])
    heap.set(array, 3, block)
    heap.set(array, 4, items[1], offset: 8)
    // The program has set bits of its own in this address.
    heap.words[array.address + 16 + 8 * 5] = items[2].address | 5 | 0xA5 << 56
    heap.words[array.address + 16] = UInt64(40 / stride)
    #expect(try edges(heap, from: array).isEmpty)
    #expect(try numbers(heap, of: array) == [items[0].address, block.address, items[2].address])
    // The program no longer uses the memory beyond the count.
    heap.words[array.address + 16] = UInt64(8 / stride)
    #expect(try numbers(heap, of: array) == [items[0].address])
  }

  @Test func numberMayBeAnAddressBehindAHeader() throws {
    let heap = HeapBuilder()
    let (item, block) = (items(heap, 1)[0], heap.malloc(64))
    let array = array(heap, value(8, []), size: 48)
    heap.set(array, 2, block, offset: 16)
    heap.set(array, 3, item, offset: 16)
    heap.words[array.address + 16] = 2
    #expect(try numbers(heap, of: array) == [block.address])
  }

  @Test func numberInAFieldMustEqualAnObjectsAddressExactly() throws {
    let heap = HeapBuilder()
    let (items, block) = (items(heap, 3), heap.malloc(64))
    heap.type("App.Owner")
    heap.layout(
      of: "App.Owner",
      ObjectLayout(
        typeName: "App.Owner", size: 48, references: [element(16, "first")], opaque: [], tail: .plain))
    let owner = heap.object("App.Owner", size: 48)
    heap.set(owner, 0, items[0])
    heap.set(owner, 1, items[1])
    heap.words[owner.address + 32] = items[2].address | 3
    heap.set(owner, 3, block)
    #expect(try edges(heap, from: owner) == [edge("first", .strong, items[0]), edge("+24", .conservative, items[1])])
    #expect(try numbers(heap, of: owner) == [items[2].address, block.address])
  }

  @Test func addressMayOverlapSmallValuesButNotPadding() throws {
    let heap = HeapBuilder()
    let items = items(heap, 3)
    func numbers(narrow: [Range<Int>], first: UInt64? = nil) throws -> [Bool] {
      heap.type("App.Owner")
      heap.layout(
        of: "App.Owner",
        ObjectLayout(typeName: "App.Owner", size: 40, references: [], opaque: [], narrow: narrow, tail: .plain))
      let owner = heap.object("App.Owner", size: 40)
      for index in items.indices { heap.set(owner, index, items[index]) }
      heap.words[owner.address + 16] = first ?? items[0].address
      let found = try self.numbers(heap, of: owner)
      return items.map { found.contains($0.address) }
    }
    // The values are bytes, two half words, and one value that leaves most of its word as padding.
    #expect(try numbers(narrow: (16..<24).map { $0..<$0 + 1 } + [24..<28, 28..<32, 32..<34]) == [true, true, false])
    #expect(try numbers(narrow: [16..<17, 20..<24, 24..<25, 32..<37]) == [false, false, false])
    // These values use six bytes, starting in the middle of a word.
    #expect(try numbers(narrow: [19..<20, 20..<24, 24..<25, 32..<33]) == [true, false, false])
    #expect(try numbers(narrow: [16..<25], first: 1) == [false, true, false], "behind the case in its place")
  }

  @Test func dequeHoldsOnlyTheElementsInItsRing() throws {
    let heap = HeapBuilder()
    let items = items(heap, 4)
    heap.type("Swift._DequeBuffer<App.Item>")
    heap.layout(
      of: "Swift._DequeBuffer<App.Item>",
      ObjectLayout(
        typeName: "", size: 16, references: [], opaque: [],
        tail: .ring(start: 40, capacityOffset: 16, countOffset: 24, firstOffset: 32, element: value(8, [element(0)]))))
    let deque = heap.object("Swift._DequeBuffer<App.Item>", size: 40 + 4 * 8)
    for (index, item) in items.enumerated() { heap.set(deque, 3 + index, item) }
    func held(capacity: UInt64?, count: UInt64, first: UInt64) throws -> Set<NamedEdge> {
      (heap.words[deque.address + 16], heap.words[deque.address + 24], heap.words[deque.address + 32]) = (
        capacity, count, first
      )
      return try edges(heap, from: deque)
    }
    #expect(
      try held(capacity: 4, count: 2, first: 1) == [edge("[]", .strong, items[1]), edge("[]", .strong, items[2])])
    // The elements wrap around from the last slot to the first one.
    #expect(
      try held(capacity: 4, count: 2, first: 3) == [edge("[]", .strong, items[3]), edge("[]", .strong, items[0])])
    #expect(try held(capacity: 4, count: 0, first: 2).isEmpty)
    // If the header was not kept, or is invalid, nothing is known about the elements.
    let scanned = Set(items.enumerated().map { edge("+\(40 + 8 * $0.offset)", .conservative, $0.element) })
    for header in [(nil, 2, 0), (4, 5, 0), (4, 1, 5), (1 << 60, 1 << 60, 1 << 59)] as [(UInt64?, UInt64, UInt64)] {
      #expect(try held(capacity: header.0, count: header.1, first: header.2).isSuperset(of: scanned))
    }
  }

  @Test func arrayHoldsOnlyItsElements() throws {
    let heap = HeapBuilder()
    let items = items(heap, 4)
    let array = array(heap, value(8, [element(0)]), size: 32 + 4 * 8)
    for (index, item) in items.enumerated() { heap.set(array, 2 + index, item) }
    heap.words[array.address + 16] = 3
    #expect(try edges(heap, from: array) == Set(items.prefix(3).map { edge("[]", .strong, $0) }))
    // The count exceeds the size of the block.
    heap.words[array.address + 16] = .max
    #expect(try edges(heap, from: array) == Set(items.map { edge("[]", .strong, $0) }))
    // Removed elements do not count as elements.
    heap.words[array.address + 16] = 0
    #expect(try edges(heap, from: array).isEmpty)
    // The count was not kept, so nothing is known.
    heap.words[array.address + 16] = nil
    #expect(
      try edges(heap, from: array)
        == Set(items.enumerated().map { edge("+\(32 + 8 * $0.offset)", .conservative, $0.element) }))
  }

  @Test func arrayExtendsToItsUsableSizeButNotIntoTheNextBlock() throws {
    let heap = HeapBuilder()
    let items = items(heap, 3)
    let array = array(heap, value(8, [element(0)]), size: 40)
    for (index, item) in items.enumerated() { heap.set(array, 2 + index, item) }
    heap.words[array.address + 16] = 3
    #expect(try edges(heap, from: array).count == 3)
    heap.block(.malloc, at: array.address + 48, size: 8)
    #expect(try edges(heap, from: array) == [edge("[]", .strong, items[0]), edge("[]", .strong, items[1])])
  }

  @Test func elementsOfSeveralWordsAreReadByWord() throws {
    let heap = HeapBuilder()
    let items = items(heap, 4)
    let array = array(heap, value(24, [element(0, "name"), element(16, "owner", .unowned)]), size: 32 + 2 * 24)
    heap.words[array.address + 16] = 2
    heap.set(array, 2, items[0])
    // The layout has no reference at this word, but the word is an object's address.
    heap.set(array, 3, items[1])
    heap.set(array, 4, items[2])
    heap.set(array, 5, items[3])
    #expect(
      try edges(heap, from: array) == [
        edge("[].name", .strong, items[0]), edge("+40", .conservative, items[1]), edge("[].owner", .unowned, items[2]),
        edge("[].name", .strong, items[3]),
      ])
  }

  @Test func hugeEmptyArrayIsFast() throws {
    let heap = HeapBuilder()
    let items = items(heap, 1)
    let array = array(heap, value(1, [element(0)]), size: 1 << 46)
    heap.words[array.address + 16] = 1 << 46
    heap.set(array, 2, items[0])
    #expect(try edges(heap, from: array).contains(edge("[]", .strong, items[0])))
  }

  // MARK: Tables

  /// Makes a dictionary, or a set without values, with `1 << scale` buckets.
  private func table(
    _ heap: HeapBuilder, scale: UInt64, hasValues: Bool, claiming: UInt64? = nil, size: UInt64? = nil,
    isOfNumbers: Bool = false
  )
    -> (
      object: HeapBuilder.Object, keys: Int, values: Int
    )
  {
    let name = hasValues ? "Swift._DictionaryStorage<App.Item, App.Item>" : "Swift._SetStorage<App.Item>"
    heap.type(name)
    let bitmap = hasValues ? 64 : 56
    let word = value(8, isOfNumbers ? [] : [element(0)])
    heap.layout(
      of: name,
      ObjectLayout(
        typeName: "", size: bitmap, references: [], opaque: [],
        tail: .hashTable(
          scaleOffset: 32, bitmapOffset: bitmap, keysOffset: 48, key: word, valuesOffset: hasValues ? 56 : nil,
          value: hasValues ? word : nil)))
    let buckets = 1 << Int(scale)
    let keys = bitmap + max(1, buckets / 64) * 8
    let values = keys + 8 * buckets
    let object = heap.object(name, size: size ?? UInt64(values + (hasValues ? 8 * buckets : 0)))
    // The seed and the age are stored beside the scale.
    heap.words[object.address + 32] = 0xAB00 | (claiming ?? scale)
    heap.words[object.address + 48] = object.address + UInt64(keys)
    if hasValues { heap.words[object.address + 56] = object.address + UInt64(values) }
    return (object, keys / 8 - 2, values / 8 - 2)
  }

  @Test func dictionaryNumbersCountOnlyInOccupiedBuckets() throws {
    let heap = HeapBuilder()
    let items = items(heap, 3)
    let (table, keys, values) = table(heap, scale: 7, hasValues: true, isOfNumbers: true)
    for (index, bucket) in [3, 64, 127].enumerated() {
      heap.set(table, (index == 1 ? keys : values) + bucket, items[index])
    }
    heap.words[table.address + 64] = 1 << 3
    heap.words[table.address + 72] = 1
    #expect(try edges(heap, from: table).isEmpty)
    #expect(try numbers(heap, of: table) == [items[0].address, items[1].address])
  }

  @Test func dictionaryHoldsOnlyOccupiedBuckets() throws {
    let heap = HeapBuilder()
    let items = items(heap, 6)
    let (table, keys, values) = table(heap, scale: 7, hasValues: true)
    for (index, bucket) in [3, 64, 127].enumerated() {
      heap.set(table, keys + bucket, items[index * 2])
      heap.set(table, values + bucket, items[index * 2 + 1])
    }
    heap.words[table.address + 64] = 1 << 3
    heap.words[table.address + 72] = 1 << 63
    #expect(
      try edges(heap, from: table) == [
        edge("[key]", .strong, items[0]), edge("[value]", .strong, items[1]), edge("[key]", .strong, items[4]),
        edge("[value]", .strong, items[5]),
      ])
    heap.words[table.address + 64] = nil
    heap.words[table.address + 72] = nil
    #expect(try edges(heap, from: table).isEmpty)
  }

  @Test func setHoldsItsMembers() throws {
    let heap = HeapBuilder()
    let items = items(heap, 2)
    let (table, keys, _) = table(heap, scale: 2, hasValues: false)
    heap.set(table, keys + 1, items[0])
    heap.set(table, keys + 2, items[1])
    // Bits beyond the buckets have no meaning.
    heap.words[table.address + 56] = 0b10 | 1 << 40
    #expect(try edges(heap, from: table) == [edge("[]", .strong, items[0])])
  }

  @Test func oversizedTablesAreReadUpToTheirEnd() throws {
    let heap = HeapBuilder()
    let items = items(heap, 2)
    let (table, keys, _) = table(heap, scale: 2, hasValues: true, claiming: 39, size: 1 << 45)
    heap.set(table, keys, items[0])
    heap.words[table.address + 64] = .max
    let found = try edges(heap, from: table)
    #expect(found.contains(edge("[key]", .strong, items[0])))
    // There is no such scale, so any word may be a reference.
    heap.words[table.address + 32] = 40
    #expect(try edges(heap, from: table).contains { $0.strength == .conservative && $0.target == items[0].address })
    // The pointer to the keys refers to other memory.
    heap.words[table.address + 32] = 2
    heap.words[table.address + 48] = items[1].address
    #expect(try !edges(heap, from: table).contains { $0.name == "[key]" })
  }

  // MARK: Fields

  @Test func weakReferencesAreFollowedThroughSideTables() throws {
    let heap = HeapBuilder()
    heap.type("App.Owner", fields: [Heap.field("weak", 0, .weak), Heap.field("cleared", 1, .weak)])
    let item = items(heap, 1)[0]
    let owner = heap.object("App.Owner")
    let table = heap.sideTable(of: item)
    heap.words[owner.address + 16] = table.address
    // The word refers to the object itself, not to a side table.
    heap.words[owner.address + 24] = item.address + 16
    #expect(try edges(heap, from: owner) == [edge("weak", .bookkeeping, table), edge("weak", .weak, item)])
    #expect(try edges(heap, from: item) == [edge("+8", .bookkeeping, table)])
    #expect(try edges(heap, from: table).isEmpty)
  }

  @Test func countedReferencesPointToObjectStartsAndOthersAnywhere() throws {
    let heap = HeapBuilder()
    heap.type(
      "App.Owner",
      fields: [Heap.field("strong", 0), Heap.field("raw", 1, .unmanaged), Heap.field("other", 2, .unowned)])
    let items = items(heap, 3)
    let owner = heap.object("App.Owner", size: 40)
    heap.set(owner, 0, items[0], offset: 24)
    heap.set(owner, 1, items[1], offset: 24)
    heap.set(owner, 2, items[2])
    #expect(try edges(heap, from: owner) == [edge("raw", .unmanaged, items[1]), edge("other", .unowned, items[2])])
    // Spare bits of a reference may hold a case.
    heap.words[owner.address + 16] = items[0].address | 1 << 60 | 3
    #expect(try edges(heap, from: owner).contains(edge("strong", .strong, items[0])))
  }

  /// Declares a class with one field, `any: any P`.
  private func declareOwnerOfExistential(_ heap: HeapBuilder) {
    heap.type("App.Owner")
    heap.layout(
      of: "App.Owner",
      ObjectLayout(
        typeName: "App.Owner", size: 56, references: [],
        opaque: [OpaqueField(range: 16..<40, name: "any", typeName: "any P", metadataOffset: 40)], tail: .plain))
  }

  @Test func existentialHoldsAnObjectBoxOrValue() throws {
    let heap = HeapBuilder()
    declareOwnerOfExistential(heap)
    let items = items(heap, 3)
    let buffer = heap.malloc(64)
    let owner = heap.object("App.Owner", size: 56)
    heap.set(owner, 0, items[0])
    heap.set(owner, 1, items[1])
    // The words for metadata and witness table are not part of the value. An object's address in them counts as a
    // scanned word.
    heap.set(owner, 3, items[2])
    #expect(
      try edges(heap, from: owner) == [
        edge("any", .strong, items[0]), edge("any", .conservative, items[1]), edge("+40", .conservative, items[2]),
      ])
    heap.set(owner, 0, buffer, offset: 8)
    #expect(
      try edges(heap, from: owner) == [
        edge("any", .conservative, buffer), edge("any", .conservative, items[1]), edge("+40", .conservative, items[2]),
      ])
  }

  @Test func bufferIsReadByTheLayoutOfItsValue() throws {
    let heap = HeapBuilder()
    declareOwnerOfExistential(heap)
    let items = items(heap, 3)
    let owner = heap.object("App.Owner", size: 56)
    let metadata: UInt64 = 0x1000_9000
    for (index, item) in items.enumerated() { heap.set(owner, index, item) }
    heap.words[owner.address + 40] = metadata
    // The rest of the buffer has stale values.
    heap.bufferedValues[metadata] = .inline(size: 0, layout: value(0, []))
    #expect(try edges(heap, from: owner).isEmpty)
    heap.bufferedValues[metadata] = .object
    #expect(try edges(heap, from: owner) == [edge("any", .strong, items[0])])
    heap.bufferedValues[metadata] = .inline(size: 16, layout: value(16, [element(8, "parent", .unowned)]))
    #expect(
      try edges(heap, from: owner) == [edge("any.parent", .unowned, items[1]), edge("+16", .conservative, items[0])])
    heap.bufferedValues[metadata] = .inline(size: 16, layout: nil)
    #expect(
      try edges(heap, from: owner) == [edge("any", .conservative, items[0]), edge("any", .conservative, items[1])])
    heap.bufferedValues[metadata] = .inline(size: 8, layout: value(8, []))
    #expect(try edges(heap, from: owner).isEmpty)
    #expect(try numbers(heap, of: owner) == [items[0].address])
  }

  @Test func restOfAWordWithANarrowFieldIsPadding() throws {
    let heap = HeapBuilder()
    heap.type("App.Owner")
    let items = items(heap, 3)
    let owner = heap.object("App.Owner", size: 41)
    for (index, item) in items.enumerated() { heap.set(owner, index, item) }
    let fields = [Heap.field("first", 2)]
    heap.layout(
      of: "App.Owner", ObjectLayout(typeName: "App.Owner", size: 41, references: fields, opaque: [], tail: .plain))
    #expect(
      try edges(heap, from: owner) == [
        edge("+16", .conservative, items[0]), edge("+24", .conservative, items[1]), edge("first", .strong, items[2]),
      ])
    heap.layout(
      of: "App.Owner",
      ObjectLayout(typeName: "App.Owner", size: 41, references: fields, opaque: [], narrow: [24..<25], tail: .plain))
    #expect(try edges(heap, from: owner) == [edge("+16", .conservative, items[0]), edge("first", .strong, items[2])])
  }

  @Test func deinitializedObjectsHoldNothing() throws {
    let heap = HeapBuilder()
    heap.type("App.Owner", fields: [Heap.field("strong", 0)])
    let item = items(heap, 1)[0]
    let owner = heap.object("App.Owner", count: 1 << 32 | 3)
    heap.set(owner, 0, item)
    #expect(try edges(heap, from: owner).isEmpty)
    let graph = try heap.analysis().graph
    #expect(graph.deinitialised.members.map { graph.heap[BlockID($0)].address } == [owner.address])
  }

  @Test func memoryBehindTheFieldsIsScanned() throws {
    let heap = HeapBuilder()
    heap.type("App.Owner", fields: [Heap.field("first", 0)])
    heap.type("App.Unknown", fields: nil)
    let items = items(heap, 2)
    for name in ["App.Owner", "App.Unknown"] {
      let owner = heap.object(name)
      heap.set(owner, 0, items[0])
      heap.set(owner, 1, items[1])
      #expect(
        try edges(heap, from: owner)
          == [
            name == "App.Owner" ? edge("first", .strong, items[0]) : edge("+16", .conservative, items[0]),
            edge("+24", .conservative, items[1]),
          ])
    }
    #expect(try heap.analysis().graph.scannedTypes.count == 1)
  }

  @Test func wordWithASmallValueIsNotAReferenceWhateverItsPadding() throws {
    let heap = HeapBuilder()
    let items = items(heap, 3)
    heap.type("App.Switch")
    heap.layout(
      of: "App.Switch",
      ObjectLayout(
        typeName: "", size: 37, references: [element(16, "target")], opaque: [], narrow: [24..<25, 36..<37],
        tail: .unknown))
    let object = heap.object("App.Switch", size: 48)
    heap.set(object, 0, items[0])
    // The word has a Bool that is false, and then stale bytes from an earlier use of the memory. The next word has a
    // byte in the middle, and is otherwise stale.
    heap.set(object, 1, items[1])
    heap.set(object, 2, items[1])
    heap.set(object, 3, items[2])
    #expect(try edges(heap, from: object) == [edge("target", .strong, items[0]), edge("+40", .conservative, items[2])])
  }

  // MARK: Memory of tasks and queues

  @Test func slabsDoNotHoldTheirTask() throws {
    let heap = HeapBuilder()
    let item = items(heap, 1)[0]
    let task = heap.malloc(512)
    let slabs = (0..<2).map { _ in heap.malloc(1024) }
    let other = heap.malloc(1024)
    heap.words[task.address] = HeapBuilder.taskMetadata
    heap.words[task.address + 0x70] = slabs[1].address + 32
    heap.words[task.address + 0x78] = slabs[0].address
    heap.words[slabs[1].address + 40] = slabs[1].address
    for slab in slabs {
      heap.words[slab.address] = HeapBuilder.slabMetadata
      heap.words[slab.address + 128] = task.address
    }
    heap.words[slabs[0].address + 8] = slabs[1].address
    heap.words[slabs[1].address + 8] = slabs[0].address
    heap.words[slabs[1].address + 136] = item.address
    heap.words[other.address + 128] = task.address
    #expect(
      try edges(heap, from: task) == [edge("+112", .conservative, slabs[1]), edge("+120", .conservative, slabs[0])])
    #expect(try edges(heap, from: slabs[0]) == [edge("+8", .conservative, slabs[1])])
    #expect(
      try edges(heap, from: slabs[1]) == [edge("+8", .conservative, slabs[0]), edge("+136", .conservative, item)])
    #expect(try edges(heap, from: other) == [edge("+128", .conservative, task)])
  }
}
