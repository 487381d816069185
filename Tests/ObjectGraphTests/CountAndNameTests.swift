import Testing

@testable import HeapAnalysis
@testable import TraceReading

@Suite struct ReferenceCountTests {
  @Test func freshObjectHasOneStrongAndOneUnownedReference() throws {
    let count = try #require(ReferenceCount(inline: 3))
    #expect(
      count == ReferenceCount(inline: 0x3) && count.strong == 1 && count.unowned == 1 && count.weak == 0
        && !count.isDeiniting
        && !count.isImmortal)
  }

  @Test func countsAreReadFromTheirBits() throws {
    let count = try #require(ReferenceCount(inline: 41 << 33 | 7 << 1 | 1))
    #expect(count.strong == 42 && count.unowned == 7 && !count.isDeiniting)
    let most = try #require(ReferenceCount(inline: 0x3FFF_FFFF << 33 | 0x7FFF_FFFE << 1))
    #expect(most.strong == 1 << 30 && most.unowned == 0x7FFF_FFFE)
  }

  @Test func deinitializingObjectHasNoStrongReferences() throws {
    let count = try #require(ReferenceCount(inline: 5 << 33 | 1 << 32 | 3))
    #expect(count.isDeiniting && count.strong == 0)
  }

  @Test(arguments: [0xFFFF_FFFF as UInt64, 0x8000_0000_FFFF_FFFF, 0xC000_0000_FFFF_FFFF, .max])
  func staticObjectsAreNotCounted(bits: UInt64) throws {
    let count = try #require(ReferenceCount(inline: bits))
    #expect(count.isImmortal && !count.isDeiniting)
  }

  @Test func sideTablesAreAddresses() {
    let table: UInt64 = 0x7F12_3456_7890
    #expect(ReferenceCount.sideTable(3 << 62 | table >> 3) == table)
    #expect(ReferenceCount(inline: 3 << 62 | table >> 3) == nil)
    for bits in [3, 1 << 62, 2 << 62, UInt64.max >> 1] { #expect(ReferenceCount.sideTable(bits) == nil) }
    #expect(ReferenceCount.sideTable(.max) == UInt64.max - 7)
  }

  @Test func countsOfASideTableAreReadThroughIt() throws {
    let object: UInt64 = 0x1000
    let table: UInt64 = 0x2000
    func count(_ words: [(address: UInt64, value: UInt64)]) -> ReferenceCount? {
      ObjectGraph.referenceCount(of: object, in: HeapImage(words: words))
    }
    let head: [(address: UInt64, value: UInt64)] = [(object + 8, 3 << 62 | table >> 3), (table, object)]
    let known = try #require(count(head + [(table + 16, 2 << 33 | 3), (table + 24, 9)]))
    #expect(known.strong == 3 && known.unowned == 1 && known.weak == 9)
    #expect(count(head + [(table + 16, 3)])?.weak == 0)
    #expect(count(head) == nil && count([]) == nil)
    // The table is at the end of the address space.
    #expect(count([(object + 8, .max - 1)]) == nil)
  }
}

@Suite struct NameTests {
  @Test(arguments: [
    ("items", false, "items"), ("items._buffer._storage", false, "items"), ("state.task", false, "state.task"),
    ("_storage", false, "_storage"),
    ("_storage._inner", false, "_storage"), ("pair.0", false, "pair.0"), ("pair.0", true, "pair"),
    ("pair.0.1", true, "pair"),
    ("0", true, "0"), ("", true, ""), ("", false, ""),
    ("$__lazy_storage_$_model", false, "model"), ("$__lazy_storage_$_model._object", false, "model"),
    ("a._", false, "a._"),
    (".", false, "."), ("a..b", false, "a..b"),
    ("value.some._x.y", false, "value.some"),
  ])
  func shortNamesMatchTheSource(name: String, isPayload: Bool, expected: String) {
    #expect(EdgeLabel.shortName(name, isPayload: isPayload) == expected)
  }

  @Test(arguments: [
    ("App.Node", "Node"), ("App.Outer.Node<Swift.Int>", "Outer.Node<Int>"), ("Node", "Node"), ("", ""), (".", "."),
    ("App.", ""),
    ("A.B.C.D", "B.C.D"),
    ("(App.A, B.C) -> Swift.Void", "(A, C) -> Void"), ("App.Über<Größe.Maß>", "Über<Maß>"),
    ("[App.A : Swift.Array<App.B>]", "[A : Array<B>]"), ("<<<", "<<<"),
    ("App.A?", "A?"), ("App.(Hidden in _1234).Inner", "(Hidden in _1234).Inner"),
  ])
  func moduleNamesAreOmitted(name: String, expected: String) { #expect(TypeNames.unqualified(name) == expected) }

  @Test(arguments: [
    ("A<B>", ["B"]), ("A<B, C<D, E>>", ["B", "C<D, E>"]), ("A", []), ("A<>", [""]), ("A<(B, C) -> D>", ["(B, C) -> D"]),
    ("A<B, (C) -> D, [E: F]>", ["B", "(C) -> D", "[E: F]"]),
    ("A<B", []), (">A<", []), ("A<B>>>, C>", ["B>>>, C"]), ("<", []), (">", []), ("A<,>", ["", ""]),
  ])
  func genericArgumentsAreSplit(name: String, expected: [String]) { #expect(TypeNames.arguments(name) == expected) }

  @Test func standardLibraryTypesAreSpelledAsInSource() {
    func name(_ qualified: String, _ kind: TraceType.Kind = .class) -> (NodeKind, String) {
      let type = TypeNames.type(TraceType(id: 1, metadata: RuntimeAddress(0), kind: kind, name: qualified))
      return (type.kind, type.name)
    }
    #expect(name("Swift._ContiguousArrayStorage<App.Node>") == (.array, "[Node]"))
    #expect(name("Swift._ContiguousArrayStorage<") == (.array, "[?]"))
    #expect(name("Swift._DictionaryStorage<Swift.String, (App.A) -> App.B>") == (.dictionary, "[String: (A) -> B]"))
    #expect(name("Swift._DictionaryStorage<A>") == (.dictionary, "[A: ?]"))
    #expect(name("Swift._SetStorage<App.Node>") == (.set, "Set<Node>"))
    #expect(name("", .closureContext) == (.closure, "closure") && name("", .box) == (.box, "box"))
    #expect(name("App.Fault", .error) == (.error, "Fault") && name("", .error) == (.error, "error"))
    #expect(name("", .task) == (.task, "Task"))
  }

  @Test func namesOfAMillionCharactersAreFast() {
    for piece in ["<", ">", ".", "a.", "_.", "a<b,", "é", "("] {
      let name = String(repeating: piece, count: 300_000) + ">"
      #expect(!TypeNames.unqualified(name).isEmpty)
      _ = TypeNames.arguments(name)
      _ = EdgeLabel.shortName(name, isPayload: true)
    }
  }
}
