// The layouts of objects in a running program, which is built in several ways.

import Testing

@testable import HeapAnalysis
@testable import TraceReading

@Suite struct LayoutTests {
  /// An expected reference, as in the tables below.
  struct Expected: Equatable, CustomStringConvertible {
    var offset: Int
    var name: String
    var strength: ReferenceStrength
    var kind: ReferenceField.Kind
    var caseName: String?

    init(
      _ offset: Int, _ name: String, _ strength: ReferenceStrength = .strong, _ kind: ReferenceField.Kind = .object,
      in caseName: String? = nil
    ) {
      self.offset = offset
      self.name = name
      self.strength = strength
      self.kind = kind
      self.caseName = caseName
    }

    init(_ field: ReferenceField) {
      self.init(field.offset, field.name, field.strength, field.kind, in: field.caseName)
    }

    var description: String { "\(offset) \(name) \(strength) \(kind) \(caseName ?? "")" }
  }

  static let classes: [(name: String, typeName: String, references: [Expected])] = [
    ("leaf", "specimens.Leaf", []),
    ("derived", "specimens.Derived", [Expected(24, "first"), Expected(40, "parent", .weak), Expected(48, "last")]),
    (
      "strengths", "specimens.Strengths",
      [
        Expected(16, "strong"), Expected(24, "optional"), Expected(32, "weak", .weak),
        Expected(40, "unowned", .unowned),
        Expected(48, "unsafe", .unmanaged), Expected(56, "unmanaged", .unmanaged),
        Expected(64, "delegate", .weak, .existential),
        Expected(80, "owner", .unowned, .existential),
      ]
    ),
    (
      "values", "specimens.Values",
      [
        Expected(24, "state.leaf"), Expected(40, "state.label"), Expected(56, "optionalState.leaf"),
        Expected(72, "optionalState.label"),
        Expected(80, "pair.0"), Expected(88, "pair.1"), Expected(104, "text"), Expected(112, "numbers"),
        Expected(120, "table"),
        Expected(128, "unique"), Expected(136, "pointer", .unmanaged, .rawPointer),
      ]
    ),
    (
      "enumerations", "specimens.Enumerations",
      [
        Expected(16, "phase", in: "loading"), Expected(16, "phase", in: "nested"),
        Expected(24, "phase.0.leaf", in: "loaded"),
        Expected(40, "phase.0.label", in: "loaded"), Expected(48, "phase.1", in: "loaded"),
        Expected(56, "optionalPhase", in: "loading"),
        Expected(56, "optionalPhase", in: "nested"), Expected(64, "optionalPhase.0.leaf", in: "loaded"),
        Expected(80, "optionalPhase.0.label", in: "loaded"), Expected(88, "optionalPhase.1", in: "loaded"),
        Expected(96, "either", in: "object"),
        Expected(112, "outcome", in: "success"), Expected(112, "outcome.culprit", in: "failure"),
      ]
    ),
    (
      "sizeless", "specimens.Sizeless",
      [
        Expected(16, "parent", .weak), Expected(24, "unsafe", .unmanaged), Expected(32, "mixed.leaf"),
        Expected(48, "last"),
      ]
    ),
    ("sizeless-derived", "specimens.SizelessDerived", [Expected(16, "parent", .weak), Expected(24, "leaf")]),
    ("box-of-nothing", "specimens.Box<specimens.Nothing>", [Expected(16, "after")]),
    (
      "cases", "specimens.Cases",
      [
        Expected(16, "gear", in: "forward"), Expected(16, "gear", in: "reverse"),
        Expected(24, "optionalGear", in: "forward"),
        Expected(24, "optionalGear", in: "reverse"), Expected(32, "reading.0", in: "named"),
        Expected(32, "reading.0", in: "shared"),
        Expected(56, "expression", in: "leaf"), Expected(56, "expression", in: "negated"),
        Expected(56, "expression", in: "sum"),
        Expected(64, "pair.0"), Expected(72, "pair.1"),
      ]
    ),
    ("box-of-int", "specimens.Box<Swift.Int>", [Expected(24, "after")]),
    ("box-of-leaf", "specimens.Box<specimens.Leaf>", [Expected(16, "content"), Expected(24, "after")]),
    (
      "box-of-state", "specimens.Box<Swift.Optional<specimens.State>>",
      [Expected(24, "content.leaf"), Expected(40, "content.label"), Expected(48, "after")]
    ),
    (
      "pair-box", "specimens.PairBox<specimens.Leaf, Swift.String>",
      [Expected(16, "content"), Expected(24, "after"), Expected(40, "right")]
    ),
    ("formatter", "specimens.Formatter2", [Expected(16, "leaf")]),
    ("nsobject", "specimens.Object", [Expected(16, "leaf")]),
    ("task", "specimens.WithTask", [Expected(16, "task"), Expected(24, "leaf")]),
    ("lazy", "specimens.Lazy", [Expected(16, "$__lazy_storage_$_leaf"), Expected(24, "_wrapped.wrappedValue")]),
    ("buffer", "specimens.Buffer", [Expected(16, "header")]),
    (
      "closures", "specimens.Closures",
      [
        Expected(24, "action", .strong, .closure(functionOffset: 16)),
        Expected(40, "optionalAction", .strong, .closure(functionOffset: 32)),
        Expected(56, "asynchronous", .strong, .closure(functionOffset: 48)),
        Expected(80, "handlers.0", .strong, .closure(functionOffset: 72)),
        Expected(96, "handlers.1", .strong, .closure(functionOffset: 88)),
      ]
    ),
  ]

  @Test(arguments: SpecimenBuild.tested)
  func enumerationsHaveTheOffsetOfTheirCase(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    let found = try #require(process.layout(of: "cases", reflection)).enumerations
    #expect(found.map(\.name) == ["gear", "optionalGear", "optionalGear", "reading", "expression", "pair"])
    let discriminators = found.map(\.discriminator)
    // The tag is in the highest spare bits of a reference. The spare bits are the top byte and the bits below the
    // alignment.
    #expect(discriminators.first == .tag(bits: [190, 191], cases: [0, 1, nil, nil]))
    guard discriminators.count == 6, case .zeros(let bits) = discriminators[1] else {
      throw SpecimenFailure(description: "\(discriminators)")
    }
    // nil sets all spare bits, including the bits that the enumeration itself uses.
    #expect(Set(bits).isSuperset(of: [192, 193, 194, 248]) && bits.allSatisfy { (192..<256).contains($0) })
    #expect(discriminators[2] == .tag(bits: [254, 255], cases: [0, 1, nil, nil]))
    #expect(found[2].payloads == [PayloadCase(enumeration: 1, index: 0)])
    guard case .tag(let byte, let cases) = discriminators[3] else {
      throw SpecimenFailure(description: "\(discriminators[3])")
    }
    #expect(byte == Array(384..<392) && cases.prefix(4) == [0, 1, 2, nil])
    #expect(discriminators[4] == .tag(bits: [510, 511], cases: [0, 1, 2, nil]))
    #expect(discriminators[5] == .address(offset: 64))
    // A number beside a reference may look like any case.
    #expect(found.map { $0.referenceWords } == [[16], [], [24], [], [56], []])
    #expect(reflection.failedQuestions == 0)
  }

  @Test(arguments: SpecimenBuild.tested)
  func actorKeepsItsFieldsBesideAZeroSizedField(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let layout = try #require(
      process.layout(of: "sizeless-actor", process.reflection(ProcessMemory(of: process.processID))))
    #expect(layout.references.map { Expected($0) } == [Expected(112, "owner", .unowned), Expected(120, "leaf")])
    #expect(layout.opaque.map(\.range) == [16..<112])
  }

  @Test(arguments: SpecimenBuild.tested)
  func valuesSmallerThanAWordAreDistinguishedFromPointers(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    let values = try #require(process.layout(of: "values", reflection))
    #expect(values.narrow.filter { $0.lowerBound >= 128 } == [152..<153])
    let leaf = try #require(process.layout(of: "strengths", reflection))
    #expect(leaf.narrow.isEmpty)
  }

  /// Closure contexts, whose fields have no names. The optimiser makes other contexts.
  static let contexts: [(name: String, references: [Expected])] = [
    ("closure", [Expected(16, ""), Expected(32, "")]),
    ("closure-weak", [Expected(16, "", .unowned), Expected(32, "", .strong, .variable)]),
    ("closure-of-closure", [Expected(24, "", .strong, .closure(functionOffset: 16))]),
    ("variable", [Expected(16, "")]),
    ("closure-self", [Expected(16, "leaf")]),
    ("error", [Expected(32, "culprit")]),
  ]

  @Test(arguments: SpecimenBuild.tested)
  func capturesOfClosuresAreFound(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    for (name, references) in Self.contexts {
      let layout = try #require(process.layout(of: name, reflection), "\(name)")
      #expect(layout.references.map { Expected($0) } == references, "\(name)")
      #expect(layout.opaque == [], "\(name)")
    }
  }

  @Test(arguments: SpecimenBuild.tested)
  func capturesOfGenericClosuresDependOnTheirGenericArguments(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    let objects = try #require(process.layout(of: "closure-generic", reflection)).references.map(\.typeName)
    let numbers = try #require(process.layout(of: "closure-generic-int", reflection)).references.map(\.typeName)
    #expect(objects == ["specimens.Leaf", "Swift.String", "specimens.Leaf"])
    #expect(numbers == ["Swift.Array<specimens.Leaf>", "specimens.Leaf"])
  }

  @Test(arguments: SpecimenBuild.tested)
  func fieldOfUnknownTypeKeepsItsName(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    let mutex = try #require(process.layout(of: "mutex", reflection))
    let fields = mutex.references.map { ($0.offset, $0.name) } + mutex.opaque.map { ($0.range.lowerBound, $0.name) }
    #expect(fields.sorted { $0.0 < $1.0 }.map(\.1) == ["before", "state", "after"])
    let imported = try #require(process.layout(of: "c", reflection))
    #expect(imported.references.map { Expected($0) } == [Expected(16, "before"), Expected(168, "after")])
    #expect(imported.opaque.map(\.range) == [24..<168])
    let actor = try #require(process.layout(of: "actor", reflection))
    #expect(actor.references.map { Expected($0) } == [Expected(112, "leaf")])
    #expect(actor.opaque.map(\.range) == [16..<112])
  }

  @Test(arguments: SpecimenBuild.tested)
  func existentialContainersAreRefinedByTheirMetadata(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let memory = ProcessMemory(of: process.processID)
    let reflection = try process.reflection(memory)
    let layout = try #require(process.layout(of: "existentials", reflection))
    #expect(
      layout.references.map { Expected($0) } == [
        Expected(128, "delegate", .strong, .existential), Expected(144, "optionalDelegate", .strong, .existential),
        Expected(160, "anyObject", .strong, .existential), Expected(168, "composed", .strong, .existential),
        Expected(192, "error", .strong, .error),
      ])
    #expect(layout.opaque.map(\.name) == ["value", "optionalValue", "any"])
    let address = try #require(process.specimens["existentials"]).address
    let sizes = try layout.opaque.map { opaque in
      let metadata = try #require(
        memory.word(at: RuntimeAddress(address.rawValue + UInt64(opaque.metadataOffset ?? 0))))
      return try #require(reflection.value(ofTypeWithMetadata: RuntimeAddress(metadata)))
    }
    #expect(sizes.map(\.typeName) == ["specimens.Leaf", "specimens.State", "Swift.Int"])
    #expect(sizes.map(\.references.count) == [1, 2, 0])
  }

  @Test(arguments: SpecimenBuild.tested)
  func metadataDecidesWhetherABufferStoresItsValueInline(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let memory = ProcessMemory(of: process.processID)
    let reflection = try process.reflection(memory)
    func values(_ specimen: String) throws -> [BufferedValue?] {
      let layout = try #require(process.layout(of: specimen, reflection))
      let address = try #require(process.specimens[specimen]).address
      return try layout.opaque.map { opaque in
        let metadata = try #require(
          memory.word(at: RuntimeAddress(address.rawValue + UInt64(opaque.metadataOffset ?? 0))))
        return reflection.bufferedValue(ofTypeWithMetadata: RuntimeAddress(metadata))
      }
    }
    func size(_ value: BufferedValue?) -> Int? { if case .inline(let size, _) = value { size } else { nil } }
    func references(_ value: BufferedValue?) -> [Expected]? {
      if case .inline(_, let layout?) = value { layout.references.map { Expected($0) } } else { nil }
    }
    // The values are an instance of a class, a structure of four words, and a number.
    let existentials = try values("existentials")
    #expect(Array(existentials.prefix(2)) == [.object, .object] && size(existentials[2]) == 8)
    let buffered = try values("buffered")
    #expect(buffered.map(size) == [0, 9, 16])
    #expect(buffered.map(references) == [[], [Expected(0, "content")], [Expected(8, "")]])
    #expect(reflection.bufferedValue(ofTypeWithMetadata: RuntimeAddress(1)) == nil)
    #expect(reflection.bufferedValue(ofTypeWithMetadata: try #require(process.specimens["leaf"]).address) == nil)
  }

  @Test(arguments: SpecimenBuild.tested)
  func optionalStructureIsNilByTheFieldTheCompilerChooses(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    let layout = try #require(process.layout(of: "framed", reflection))
    #expect(layout.enumerations.map(\.discriminator) == [.number(offset: 40), .number(offset: 72)])
    #expect(
      layout.references.map { Expected($0) }.filter { $0.strength == .strong } == [
        Expected(40, "frames.rest.leaf"), Expected(72, "none.rest.leaf"),
      ])
  }

  @Test(arguments: SpecimenBuild.tested)
  func fieldsTooNarrowForAReferenceAreMarked(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    #expect(try #require(process.layout(of: "derived", reflection)).narrow == [16..<17, 32..<33])
  }

  @Test(arguments: SpecimenBuild.tested)
  func elementsOfStorageAreDescribed(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    func tail(_ name: String) throws -> ObjectTail {
      let layout = try #require(process.layout(of: name, reflection), "\(name)")
      #expect(layout.references == [] && layout.opaque == [])
      return layout.tail
    }
    guard case .array(32, 16, let state) = try tail("array-of-state") else {
      throw SpecimenFailure(description: "no array")
    }
    #expect(state.stride == 32)
    #expect(state.references.map { Expected($0) } == [Expected(8, "leaf"), Expected(24, "label")])
    guard case .array(32, 16, let number) = try tail("array-of-int") else {
      throw SpecimenFailure(description: "no array")
    }
    #expect(number.holdsNoReferences)
    guard case .array(32, 16, let closure) = try tail("array-of-closures") else {
      throw SpecimenFailure(description: "no array")
    }
    #expect(closure.references.map { Expected($0) } == [Expected(8, "", .strong, .closure(functionOffset: 0))])
    guard case .hashTable(32, 64, 48, let key, 56, let value) = try tail("dictionary") else {
      throw SpecimenFailure(description: "no table")
    }
    #expect(key.stride == 16)
    #expect(key.references.map { Expected($0) } == [Expected(8, "")])
    #expect(value?.references.map { Expected($0) } == [Expected(0, "")])
    guard case .hashTable(32, 56, 48, let member, nil, nil) = try tail("set") else {
      throw SpecimenFailure(description: "no table")
    }
    #expect(member.references.map { Expected($0) } == [Expected(8, "")])
    #expect(try tail("string") == .plain)
  }

  @Test(arguments: SpecimenBuild.tested)
  func genericEnumerationHasTheRuntimesSize(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    func element(_ name: String) throws -> ValueLayout {
      guard case .array(32, 16, let element) = try #require(process.layout(of: name, reflection)).tail else {
        throw SpecimenFailure(description: "no array")
      }
      return element
    }
    for name in ["array-of-slots", "array-of-optional-slots"] {
      let slot = try element(name)
      #expect(slot.size == 8 && slot.stride == 8)
      // Each of the three cases has its reference in the same word.
      #expect(
        slot.references.map(\.offset) == [0, 0, 0] && slot.enumerations.allSatisfy { $0.discriminator == .unknown })
    }
    for (name, size) in [("array-of-racks", 16), ("array-of-trays", 24)] {
      let row = try element(name)
      #expect(row.size == size && row.stride == size && row.references.isEmpty && row.opaque.map(\.range) == [0..<size])
    }
    let shelf = try #require(process.layout(of: "shelf", reflection))
    #expect(
      shelf.references.map(\.offset) == [16, 16, 16, 24] && shelf.enumerations.map(\.discriminator) == [.unknown])
    #expect(shelf.opaque.map(\.range) == [32..<48] && shelf.opaque.map(\.name) == ["rack"])
  }

  @Test(arguments: SpecimenBuild.tested)
  func referencesOfClassesHaveNames(_ build: SpecimenBuild) throws {
    let process = try SpecimenProcess.running(build)
    let reflection = try process.reflection(ProcessMemory(of: process.processID))
    for (name, typeName, references) in Self.classes {
      let layout = try #require(process.layout(of: name, reflection), "\(name)")
      #expect(layout.typeName == typeName)
      #expect(layout.references.map { Expected($0) } == references, "\(name)")
      #expect(layout.opaque == [], "\(name)")
    }
    #expect(reflection.failedQuestions == 0)
  }
}
