// Which payloads of an enumeration's value are read, and which case gives them their name.

import Testing
import TraceTestSupport

@testable import HeapAnalysis

@Suite struct PayloadTests {
  private typealias Heap = HeapBuilder

  /// Returns the edges from an object as `name strength`, followed by the target's index in `targets`.
  private func edges(_ heap: HeapBuilder, from object: HeapBuilder.Object, _ targets: [HeapBuilder.Object]) throws
    -> Set<String>
  {
    let graph = try heap.analysis().graph
    let node = try #require(graph.heap.block(containing: object.address)).rawValue
    return Set(
      graph.graph.edges(from: node).map { edge in
        let id = graph.graph.label(of: edge)
        let name =
          graph.label(id).map { $0.name + ($0.caseName.map { " \($0)" } ?? "") }
          ?? "+\(EdgeLabelID(id).scannedOffset ?? 0)"
        let strength = EdgeStrength(rawValue: graph.graph.kind(of: edge))?.key ?? "?"
        let address = graph.heap[BlockID(graph.graph.target(of: edge))].address
        return "\(name) \(strength) \(targets.firstIndex { $0.address == address } ?? -1)"
      })
  }

  private func items(_ heap: HeapBuilder, _ count: Int) -> [HeapBuilder.Object] {
    heap.type("App.Item")
    return (0..<count).map { _ in heap.object("App.Item") }
  }

  /// The case is in the top bits of the word at offset 16.
  private let tag = EnumerationLayout(name: "state", discriminator: .tag(bits: [190, 191], cases: [0, 1, 2, nil]))
  private let withoutTag = EnumerationLayout(name: "state", discriminator: .unknown)

  private func owner(_ heap: HeapBuilder, _ fields: [ReferenceField], _ enumerations: [EnumerationLayout])
    -> HeapBuilder.Object
  {
    heap.type("App.Owner", fields: fields, enumerations: enumerations)
    return heap.object("App.Owner")
  }

  @Test func tagNamesTheCaseAmongEqualPayloadTypes() throws {
    for (number, name) in [(0, "case0"), (1, "case1"), (2, "case2")] {
      let heap = HeapBuilder()
      let items = items(heap, 1)
      let owner = owner(heap, (0..<3).map { Heap.payload("state", 0, case: $0) }, [tag])
      heap.words[owner.address + 16] = items[0].address | UInt64(number) << 62
      #expect(try edges(heap, from: owner, items) == ["state \(name) strong 0"])
      // Without the tags, the case is unknown and not named.
      heap.hasReferenceTags = false
      #expect(try edges(heap, from: owner, items) == ["state strong 0"])
    }
  }

  /// Makes an object whose state has its tag in a separate byte at an offset.
  private func owner(_ heap: HeapBuilder, tagAt offset: Int) -> HeapBuilder.Object {
    let bits = Array(offset * 8..<offset * 8 + 8)
    let behind = EnumerationLayout(
      name: "state", discriminator: .tag(bits: bits, cases: (0..<256).map { $0 < 2 ? $0 : nil }))
    return owner(heap, [Heap.payload("state", 0, case: 0), Heap.payload("state", 0, case: 1)], [behind])
  }

  @Test func tagInAMissingWordIsUnknown() throws {
    let heap = HeapBuilder()
    let items = items(heap, 1)
    let owner = owner(heap, tagAt: 32)
    heap.set(owner, 0, items[0])
    #expect(try edges(heap, from: owner, items) == ["state strong 0"])
    heap.words[owner.address + 32] = 1
    #expect(try edges(heap, from: owner, items) == ["state case1 strong 0"])
  }

  @Test func addressBytesInATagsPlaceNameNoCase() throws {
    let heap = HeapBuilder()
    let items = items(heap, 2)
    let owner = owner(heap, tagAt: 32)
    heap.set(owner, 0, items[0])
    heap.words[owner.address + 32] = items[1].address & ~0xFF | 0xC0
    #expect(try edges(heap, from: owner, items) == ["state strong 0"])
  }

  @Test func tagInAHigherByteIsUnknownIfOnlyTheLowestByteIsKnown() throws {
    let heap = HeapBuilder()
    let items = items(heap, 1)
    let owner = owner(heap, tagAt: 33)
    heap.set(owner, 0, items[0])
    heap.words[owner.address + 32] = 0xF0
    #expect(try edges(heap, from: owner, items) == ["state strong 0"])
    heap.words[owner.address + 32] = 0x1F0
    #expect(try edges(heap, from: owner, items) == ["state case1 strong 0"])
  }

  @Test func missingReferenceWordIsZero() throws {
    let heap = HeapBuilder()
    let items = items(heap, 2)
    var state = EnumerationLayout(name: "state", discriminator: .tag(bits: [254, 255], cases: [0, 1, 2, nil]))
    state.referenceWords = [24]
    let owner = owner(
      heap,
      [
        Heap.payload("state", 0, case: 0), Heap.payload("state", 0, case: 1), Heap.payload("state", 0, case: 2),
        Heap.payload("state", 1, case: 2),
      ],
      [state])
    heap.set(owner, 0, items[0])
    #expect(try edges(heap, from: owner, items) == ["state case0 strong 0"])
    heap.words[owner.address + 24] = 1 << 62
    #expect(try edges(heap, from: owner, items) == ["state case1 strong 0"])
    heap.words[owner.address + 24] = items[1].address | 2 << 62
    #expect(try edges(heap, from: owner, items) == ["state case2 strong 0", "state case2 strong 1"])
  }

  @Test func onlyTheActivePayloadIsRead() throws {
    let heap = HeapBuilder()
    let items = items(heap, 2)
    let owner = owner(heap, [Heap.payload("state", 0, case: 0), Heap.payload("state.next", 1, case: 1)], [tag])
    heap.words[owner.address + 16] = items[0].address
    heap.set(owner, 1, items[1])
    #expect(try edges(heap, from: owner, items) == ["state case0 strong 0"])
  }

  @Test func tagThatContradictsThePayloadNamesNoCase() throws {
    let heap = HeapBuilder()
    let items = items(heap, 1)
    let owner = owner(
      heap, [Heap.payload("state", 0, case: 0), Heap.payload("state", 0, case: 1), Heap.payload("state", 1, case: 1)],
      [tag])
    heap.words[owner.address + 16] = items[0].address | 1 << 62
    // The second word of case 1 is never nil, so the value cannot be case 1.
    #expect(try edges(heap, from: owner, items) == ["state strong 0"])
    // A case without payload does not leave such a word behind either.
    heap.words[owner.address + 16] = items[0].address | 3 << 62
    #expect(try edges(heap, from: owner, items) == ["state strong 0"])
  }

  @Test func payloadTypesNameTheCaseWithoutATag() throws {
    let heap = HeapBuilder()
    let items = items(heap, 1)
    heap.type("App.Other")
    let other = heap.object("App.Other")
    let owner = owner(
      heap,
      [
        Heap.payload("state", 0, type: "App.Item", case: 0), Heap.payload("state", 0, type: "App.Other", case: 1),
        Heap.payload("state", 0, kind: .error, type: "any Swift.Error", case: 2),
        Heap.field("next", 1, type: "App.Item"),
      ], [withoutTag])
    heap.set(owner, 0, other)
    heap.set(owner, 1, items[0])
    #expect(try edges(heap, from: owner, items + [other]) == ["state case1 strong 1", "next strong 0"])
    heap.words[owner.address + 16] = nil
    #expect(try edges(heap, from: owner, items) == ["next strong 0"])
  }

  @Test func indirectCasePayloadIsABox() throws {
    let heap = HeapBuilder()
    let items = items(heap, 1)
    heap.type("box", kind: .closureContext)
    let box = heap.object("box")
    let owner = owner(
      heap, [Heap.payload("state", 0, case: 0), Heap.payload("state", 0, type: "Builtin.NativeObject", case: 1)],
      [withoutTag])
    heap.set(owner, 0, box)
    #expect(try edges(heap, from: owner, items + [box]) == ["state case1 strong 1"])
    heap.set(owner, 0, items[0])
    #expect(try edges(heap, from: owner, items + [box]) == ["state case0 strong 0"])
  }

  @Test func payloadReferencesAreSkippedWhileTheFirstIsNil() throws {
    let heap = HeapBuilder()
    let items = items(heap, 2)
    let pair = EnumerationLayout(name: "pair", discriminator: .address(offset: 16))
    let owner = owner(heap, [Heap.payload("pair.left", 0, case: 0), Heap.payload("pair.right", 1, case: 0)], [pair])
    heap.set(owner, 1, items[1])
    #expect(try edges(heap, from: owner, items) == [])
    heap.set(owner, 0, items[0])
    #expect(try edges(heap, from: owner, items) == ["pair.left case0 strong 0", "pair.right case0 strong 1"])
  }

  @Test func smallStringDoesNotMarkAPayloadAsAbsent() throws {
    let heap = HeapBuilder()
    let items = items(heap, 1)
    // A small string is stored in the word for the reference to the string's storage.
    let named = EnumerationLayout(name: "named", discriminator: .address(offset: 16))
    var text = Heap.payload("named.text", 0, type: "Swift.String", case: 0)
    text.isAlwaysSet = false
    let owner = owner(heap, [text, Heap.payload("named.item", 1, case: 0)], [named])
    heap.set(owner, 1, items[0])
    #expect(try edges(heap, from: owner, items) == ["named.item case0 strong 0"])
  }

  /// A structure in an optional. Its last field is an optional reference. The outer `none` is the next small number in
  /// that field's word.
  @Test func optionalIsNilIfAPayloadReferenceIsASmallNumber() throws {
    let heap = HeapBuilder()
    let items = items(heap, 2)
    let optional = EnumerationLayout(name: "state", discriminator: .number(offset: 24))
    let fields = [Heap.payload("first", 0, case: 0), Heap.payload("rest", 1, case: 0)].map { field in
      var field = field
      field.isAlwaysSet = false
      return field
    }
    let owner = owner(heap, fields, [optional])
    heap.set(owner, 0, items[0])
    heap.set(owner, 1, items[1])
    #expect(try edges(heap, from: owner, items) == ["first case0 strong 0", "rest case0 strong 1"])
    heap.words[owner.address + 24] = nil
    #expect(try edges(heap, from: owner, items) == ["first case0 strong 0"])
    heap.words[owner.address + 24] = 1
    #expect(try edges(heap, from: owner, items) == [])
  }

  @Test func nestedEnumerationsAreDecodedOutsideIn() throws {
    let heap = HeapBuilder()
    let items = items(heap, 1)
    let outer = EnumerationLayout(name: "state", discriminator: .zeros(bits: [184, 185]))
    var inner = tag
    inner.payloads = [PayloadCase(enumeration: 0, index: 0)]
    let fields = (0..<2).map { index in
      var field = Heap.payload("state", 0, case: index, of: 1)
      field.payloads.insert(PayloadCase(enumeration: 0, index: 0), at: 0)
      return field
    }
    let owner = owner(heap, fields, [outer, inner])
    heap.words[owner.address + 16] = items[0].address | 1 << 62
    #expect(try edges(heap, from: owner, items) == ["state case1 strong 0"])
    // No case has this value, so it means nil.
    heap.words[owner.address + 16] = 0xFF << 56 | 7
    #expect(try edges(heap, from: owner, items) == [])
  }

  @Test func opaquePayloadsOfOtherCasesAreNotScanned() throws {
    let heap = HeapBuilder()
    let items = items(heap, 2)
    heap.type("App.Owner")
    let zero = PayloadCase(enumeration: 0, index: 0)
    let one = PayloadCase(enumeration: 0, index: 1)
    func layout(_ discriminator: EnumerationLayout.Discriminator) -> ObjectLayout {
      ObjectLayout(
        typeName: "App.Owner", size: 56,
        references: [
          ReferenceField(
            offset: 16, name: "state", caseName: "bare", strength: .unowned, kind: .object, typeName: "App.Item",
            payloads: [zero])
        ],
        opaque: [
          OpaqueField(
            range: 16..<40, name: "state", caseName: "any", typeName: "any P", metadataOffset: 40, payloads: [one])
        ],
        enumerations: [EnumerationLayout(name: "state", discriminator: discriminator, keepsOldWords: true)],
        tail: .plain)
    }
    heap.layout(of: "App.Owner", layout(.tag(bits: [384], cases: [0, 1])))
    let owner = heap.object("App.Owner", size: 56)
    heap.set(owner, 0, items[0])
    heap.set(owner, 1, items[1])
    heap.words[owner.address + 40] = Heap.slabMetadata
    heap.words[owner.address + 48] = 0
    #expect(try edges(heap, from: owner, items) == ["state bare unowned 0"])
    heap.words[owner.address + 48] = 1
    #expect(try edges(heap, from: owner, items) == ["state any strong 0", "state any conservative 1"])
    // If the case is unknown, a reference that one case has at a word is kept, and the other words are scanned.
    heap.layout(of: "App.Owner", layout(.unknown))
    #expect(try edges(heap, from: owner, items) == ["state unowned 0", "state conservative 1"])
    // The value needs metadata at this word, so without metadata there is no such value.
    heap.words[owner.address + 40] = items[1].address
    #expect(try edges(heap, from: owner, items).contains("state unowned 0"))
    #expect(try !edges(heap, from: owner, items).contains("state conservative 1"))
  }

  @Test func fieldsBehindAnEnumerationAreReadInEveryCase() throws {
    let heap = HeapBuilder()
    let items = items(heap, 1)
    let owner = owner(
      heap,
      [
        Heap.payload("state", 0, case: 0), Heap.payload("state", 0, .weak, case: 1),
        Heap.field("next", 1, type: "App.Item"),
      ], [tag])
    heap.set(owner, 1, items[0])
    #expect(try edges(heap, from: owner, items) == ["next strong 0"])
  }
}
