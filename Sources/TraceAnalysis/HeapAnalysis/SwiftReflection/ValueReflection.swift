// Expands the types of fields until only references, opaque parts and plain data remain.

import CRemoteMirror
import TraceSymbolication

/// Finds and caches the layouts of values by type. For one thread at a time.
final class ValueReflection {
  private let mirror: MirrorProcess
  private var known: [MirrorType: ValueLayout?] = [:]
  private var generation = 0
  /// Types that are being expanded. A type that contains itself is not expanded again.
  private var open: Set<MirrorType> = []
  /// Names of types that ended the child. Type numbers are valid for only one child.
  private(set) var fatal: Set<String> = []

  /// Maximum number of fields of one type. Real types have a few dozen.
  private static let fieldLimit = 4096
  private static let depthLimit = 64

  init(_ mirror: MirrorProcess) { self.mirror = mirror }

  /// The parts of a value, object or closure context, with offsets from its start.
  struct Parts {
    var references: [ReferenceField] = []
    var opaque: [OpaqueField] = []
    var enumerations: [EnumerationLayout] = []
    /// See `ValueLayout.narrow`.
    var narrow: [Range<Int>] = []
    var guess = LayoutGuess.none

    var count: Int { references.count + opaque.count + enumerations.count }
  }

  /// Returns the layout of a type's values; `nil` if not even their size is known.
  func layout(of type: MirrorType) throws(MirrorProcess.Failure) -> ValueLayout? {
    if generation != mirror.generation {
      generation = mirror.generation
      known = [:]
      open = []
    }
    if let layout = known[type] { return layout }
    guard open.count < Self.depthLimit, open.insert(type).inserted else { return nil }
    defer { open.remove(type) }
    let layout = try layout(of: try mirror.value(of: type))
    known[type] = .some(layout)
    return layout
  }

  /// Returns the layout of the values that an answer describes; `nil` if not even their size is known.
  func layout(of answer: MirrorAnswer) throws(MirrorProcess.Failure) -> ValueLayout? {
    guard answer.kind != LT_MIRROR_UNKNOWN else { return nil }
    let parts = try parts(of: answer, from: 0)
    return ValueLayout(
      typeName: answer.typeName, size: answer.size, stride: max(answer.stride, 1), alignment: answer.alignment,
      references: parts.references,
      opaque: parts.opaque, enumerations: parts.enumerations, narrow: parts.narrow, guess: parts.guess)
  }

  /// Returns the parts of the value that an answer describes, from offset `start` to the value's size.
  func parts(of answer: MirrorAnswer, from start: Int) throws(MirrorProcess.Failure) -> Parts {
    var parts = Parts()
    switch answer.kind {
    case LT_MIRROR_TUPLE, LT_MIRROR_STRUCT, LT_MIRROR_CLASS_INSTANCE, LT_MIRROR_CLOSURE_CONTEXT:
      let ends = Self.ends(of: answer.fields, size: answer.size)
      for (index, field) in answer.fields.enumerated() {
        var field = field
        if answer.kind == LT_MIRROR_TUPLE, field.name.isEmpty { field.name = String(index) }
        if answer.kind == LT_MIRROR_CLOSURE_CONTEXT { field.name = "" }
        try append(
          field, end: ends[index], caseName: nil, hasOwnOffset: answer.kind == LT_MIRROR_CLASS_INSTANCE, to: &parts)
        if parts.guess == .cases, ends[index] < answer.size { parts.guess = .offsets }
      }
      if answer.kind == LT_MIRROR_CLOSURE_CONTEXT, parts.guess != .none {
        // Offsets of captures come only from the library, so a wrong guess cannot be corrected.
        parts = Parts()
        if answer.size > start {
          parts.opaque.append(OpaqueField(range: start..<answer.size, name: "", typeName: answer.typeName))
        }
      }
      if answer.kind == LT_MIRROR_STRUCT, Self.isOfStandardLibrary(answer.typeName) {
        Self.collapse(&parts, to: ReferentName.of(answer.typeName).name)
      }
    case LT_MIRROR_NO_PAYLOAD_ENUM: parts.narrow = Self.lastWord(of: answer)
    case LT_MIRROR_SINGLE_PAYLOAD_ENUM, LT_MIRROR_MULTI_PAYLOAD_ENUM:
      try appendPayloads(of: answer, to: &parts)
      // Payloads share their words, so only the end of the value counts as narrow. The tag is there, after the longest
      // payload.
      parts.narrow = Self.lastWord(of: answer)
      if answer.kind == LT_MIRROR_MULTI_PAYLOAD_ENUM, answer.typeName.contains("<"),
        !Self.isOfStandardLibrary(answer.typeName)
      {
        parts.guess = parts.guess == .none ? .cases : .offsets
      }
    case LT_MIRROR_THICK_FUNCTION:
      // The layout is the address of the code, then the context.
      if answer.size >= 16 {
        parts.references.append(
          ReferenceField(
            offset: 8, name: "", strength: .strong, kind: .closure(functionOffset: 0), typeName: answer.typeName))
      }
    case LT_MIRROR_CLASS_EXISTENTIAL:
      // The layout is the object, then witness tables.
      let strength = answer.fields.first.flatMap { Self.strength(ofKind: $0.kind) } ?? .strong
      parts.references.append(
        ReferenceField(
          offset: 0, name: "", strength: strength, kind: .existential, typeName: ReferentName.of(answer.typeName).name,
          isAlwaysSet: strength == .strong))
    case LT_MIRROR_ERROR_EXISTENTIAL:
      parts.references.append(
        ReferenceField(
          offset: 0, name: "", strength: .strong, kind: .error, typeName: answer.typeName, isAlwaysSet: true))
    case LT_MIRROR_OPAQUE_EXISTENTIAL:
      // The layout is three words for the value or its box, then the value's metadata, then witness tables.
      parts.opaque.append(OpaqueField(range: 0..<24, name: "", typeName: answer.typeName, metadataOffset: 24))
    case LT_MIRROR_EXISTENTIAL_METATYPE: break
    case LT_MIRROR_BUILTIN where Self.isPlain(answer.typeName): parts.narrow = Self.lastWord(of: answer)
    default:
      if let reference = Self.reference(
        kind: Self.kind(of: answer), offset: 0, name: "", caseName: nil, typeName: answer.typeName)
      {
        parts.references.append(reference)
      } else if answer.size > start {
        parts.opaque.append(OpaqueField(range: start..<answer.size, name: "", typeName: answer.typeName))
      }
    }
    return parts
  }

  /// - Parameters:
  ///   - end: the highest offset where the field may end.
  ///   - hasOwnOffset: whether the offsets of this field and of the next field come from metadata. Otherwise they are a
  ///     guess.
  private func append(
    _ field: MirrorAnswer.Field, end: Int, caseName: String?, hasOwnOffset: Bool = false, to parts: inout Parts
  ) throws(MirrorProcess.Failure) {
    guard parts.count < Self.fieldLimit else { return }
    if let reference = Self.reference(
      kind: field.kind, offset: field.offset, name: field.name, caseName: caseName, typeName: field.typeName)
    {
      parts.references.append(reference)
      return
    }
    var inner: ValueLayout?
    if let type = field.type, field.kind != LT_MIRROR_UNKNOWN, !fatal.contains(field.typeName) {
      do throws(MirrorProcess.Failure) {
        inner = try layout(of: type)
      } catch {
        if case .died = error { fatal.insert(field.typeName) }
        throw error
      }
    }
    guard var inner else {
      if end > field.offset {
        parts.opaque.append(
          OpaqueField(range: field.offset..<end, name: field.name, caseName: caseName, typeName: field.typeName))
      }
      return
    }
    if inner.guess != .none, hasOwnOffset {
      // The library's extra byte for the case may be wrong. The next field then begins earlier than the library's size
      // allows, unless padding absorbs the byte.
      let room = max(0, end - field.offset)
      let isConfirmed = inner.guess == .cases && inner.size <= room && (inner.size == room || (inner.size - 1) % 8 == 0)
      if !isConfirmed {
        inner =
          inner.guess == .cases
          ? inner.withOpenCases(size: min(inner.size - 1, room), stride: inner.stride)
          : inner.ofAnything(size: room, stride: room)
      }
    } else if inner.guess != .none, parts.guess != .offsets {
      parts.guess = inner.guess
    }
    let before = parts.enumerations.count
    guard parts.count + inner.enumerations.count < Self.fieldLimit else { return }
    for enumeration in inner.enumerations {
      var enumeration = enumeration.moved(by: field.offset, after: before)
      enumeration.name = Self.path(field.name, enumeration.name)
      parts.enumerations.append(enumeration)
    }
    for reference in inner.references.prefix(Self.fieldLimit - parts.count) {
      var reference = reference.moved(by: field.offset, after: before)
      reference.name = Self.path(field.name, reference.name)
      reference.caseName = Self.path(caseName, reference.caseName)
      parts.references.append(reference)
    }
    for opaque in inner.opaque.prefix(max(0, Self.fieldLimit - parts.count)) {
      var opaque = opaque.moved(by: field.offset, after: before)
      opaque.name = Self.path(field.name, opaque.name)
      opaque.caseName = Self.path(caseName, opaque.caseName)
      parts.opaque.append(opaque)
    }
    for range in inner.narrow.prefix(max(0, Self.fieldLimit - parts.narrow.count)) {
      parts.narrow.append(range.lowerBound + field.offset..<range.upperBound + field.offset)
    }
  }

  /// Returns the part of a value after its last whole word; empty if there is none.
  private static func lastWord(of answer: MirrorAnswer) -> [Range<Int>] {
    let start = answer.size & ~7
    return start < answer.size ? [start..<answer.size] : []
  }

  // MARK: Enumerations

  /// Adds the contents of an enumeration's payloads.
  private func appendPayloads(of answer: MirrorAnswer, to parts: inout Parts) throws(MirrorProcess.Failure) {
    let isOptional = answer.typeName.hasPrefix("Swift.Optional<")
    var payloads: [(index: Int, parts: Parts)] = []
    for (index, field) in answer.fields.enumerated() where field.type != nil || Self.isReference(field.kind) {
      var payload = field
      payload.name = ""
      var held = Parts()
      try append(payload, end: answer.size, caseName: isOptional ? nil : field.name, to: &held)
      if held.guess != .none, parts.guess != .offsets { parts.guess = held.guess }
      if held.count > 0 { payloads.append((index, held)) }
    }
    // A single reference needs no discriminator: the word is a reference or not.
    if payloads.count == 1, payloads[0].parts.references.count == 1, payloads[0].parts.count == 1 {
      var reference = payloads[0].parts.references[0]
      reference.isAlwaysSet = false
      parts.references.append(reference)
      return
    }
    guard !payloads.isEmpty, payloads.reduce(parts.count, { $0 + $1.parts.count }) < Self.fieldLimit else {
      if !payloads.isEmpty {
        parts.opaque.append(OpaqueField(range: 0..<answer.size, name: "", typeName: answer.typeName))
      }
      return
    }
    let own = parts.enumerations.count
    let discriminator = try discriminator(of: answer)
    let keepsOldWords =
      answer.typeName.contains("<") && !isOptional || payloads.contains { Self.isCopiedInPlace($0.parts) }
    var referenceWords: Set<Int> = []
    if case .tag(let bits, _) = discriminator, !keepsOldWords {
      // Skip words that extend beyond the value: a tag byte there shares its word with the next field.
      for word in Set(bits.map { $0 / 64 * 8 }) where word + 8 <= answer.size {
        if try hasReferenceOrNothing(answer, at: word, payloads) { referenceWords.insert(word) }
      }
    }
    parts.enumerations.append(
      EnumerationLayout(
        name: "", discriminator: discriminator, keepsOldWords: keepsOldWords, referenceWords: referenceWords))
    for (index, held) in payloads {
      let payload = PayloadCase(enumeration: own, index: index)
      let before = parts.enumerations.count
      for enumeration in held.enumerations {
        var enumeration = enumeration.moved(by: 0, after: before)
        enumeration.payloads.insert(payload, at: 0)
        parts.enumerations.append(enumeration)
      }
      for reference in held.references {
        var reference = reference.moved(by: 0, after: before)
        reference.payloads.insert(payload, at: 0)
        parts.references.append(reference)
      }
      for opaque in held.opaque {
        var opaque = opaque.moved(by: 0, after: before)
        opaque.payloads.insert(payload, at: 0)
        parts.opaque.append(opaque)
      }
    }
  }

  /// Returns whether the word at `offset` is a reference in every payload that is long enough to contain it.
  private func hasReferenceOrNothing(
    _ answer: MirrorAnswer, at offset: Int, _ payloads: [(index: Int, parts: Parts)]
  ) throws(MirrorProcess.Failure) -> Bool {
    for (index, field) in answer.fields.enumerated() {
      var size = 8
      if let type = field.type, !Self.isReference(field.kind) {
        guard let layout = try layout(of: type) else { return false }
        size = layout.size
      } else if !Self.isReference(field.kind) {
        continue
      }
      if size <= offset { continue }
      let references = payloads.first { $0.index == index }?.parts.references ?? []
      guard references.contains(where: { $0.offset == offset && ($0.isAlwaysSet || !Self.mayBeData($0)) }) else {
        return false
      }
    }
    return true
  }

  /// Returns whether the word may be something other than an address or 0, as in a short string.
  private static func mayBeData(_ reference: ReferenceField) -> Bool {
    reference.kind == .rawPointer || reference.strength == .unmanaged || reference.typeName.hasPrefix("Swift.")
      || reference.typeName.hasPrefix("Foundation.")
      || reference.typeName == bridgeObject
  }

  /// Returns whether a value with these parts can be copied only in place, not word by word.
  private static func isCopiedInPlace(_ parts: Parts) -> Bool {
    parts.references.contains { $0.strength == .weak } || parts.opaque.contains { $0.metadataOffset != nil }
      || parts.enumerations.contains(where: \.keepsOldWords)
  }

  private func discriminator(of answer: MirrorAnswer) throws(MirrorProcess.Failure) -> EnumerationLayout.Discriminator {
    guard let type = answer.type else { return .unknown }
    // The compiler treats payloads of no size as cases without payload, unless their types depend on generic
    // parameters.
    var sized: [Int] = []
    var hasUnsized = false
    for (index, field) in answer.fields.enumerated() {
      guard let type = field.type, !Self.isReference(field.kind) else {
        if Self.isReference(field.kind) { sized.append(index) }
        continue
      }
      guard let layout = try layout(of: type) else { return .unknown }
      if layout.size > 0 { sized.append(index) } else { hasUnsized = true }
    }
    if hasUnsized, sized.count < 2 || answer.typeName.contains("<") { return .unknown }
    switch try mirror.cases(of: type) {
    case .unknown: return .unknown
    case .tag(let bits, let cases):
      return .tag(
        bits: bits, cases: cases.map { index in index.flatMap { sized.indices.contains($0) ? sized[$0] : nil } })
    case .address(let offset): return .address(offset: offset)
    case .number(let offset): return .number(offset: offset)
    case .zeros(let bits): return .zeros(bits: bits)
    }
  }

  /// Returns for each field the highest offset where the field may end: the beginning of the next field.
  private static func ends(of fields: [MirrorAnswer.Field], size: Int) -> [Int] {
    let offsets = fields.map(\.offset).sorted()
    return fields.map { field in
      var low = 0
      var high = offsets.count
      while low < high {
        let middle = (low + high) / 2
        if offsets[middle] <= field.offset { low = middle + 1 } else { high = middle }
      }
      return low < offsets.count ? min(offsets[low], size) : size
    }
  }

  /// Removes the names of the parts of a standard library type, and sets their types to that type.
  private static func collapse(_ parts: inout Parts, to typeName: String) {
    for index in parts.references.indices {
      parts.references[index].name = ""
      parts.references[index].typeName = typeName
    }
    for index in parts.opaque.indices {
      parts.opaque[index].name = ""
      parts.opaque[index].typeName = typeName
    }
    for index in parts.enumerations.indices { parts.enumerations[index].name = "" }
  }

  /// The type of a word that is an object, or the text of a short string.
  private static let bridgeObject = "Builtin.BridgeObject"

  private static func isOfStandardLibrary(_ typeName: String) -> Bool { typeName.hasPrefix("Swift.") }

  /// Returns whether values of a type have no references, as integers do. Imported C types have the same kind in an
  /// answer, but may hold pointers.
  private static func isPlain(_ typeName: String) -> Bool {
    // Such a value is the address of code, or of a type's metadata.
    for prefix in ["@convention(", "@thin ", "@thick "] where typeName.hasPrefix(prefix) { return true }
    guard typeName.hasPrefix("Builtin.") else { return false }
    return switch typeName {
    case "Builtin.BridgeObject", "Builtin.DefaultActorStorage", "Builtin.NonDefaultDistributedActorStorage",
      "Builtin.UnsafeValueBuffer":
      false
    default: true
    }
  }

  /// Returns the kind of an answer. For a bridge object, returns a strong reference: the library describes bridge
  /// objects as opaque data.
  private static func kind(of answer: MirrorAnswer) -> Int {
    answer.kind == LT_MIRROR_BUILTIN && answer.typeName == bridgeObject ? LT_MIRROR_STRONG_REFERENCE : answer.kind
  }

  private static func strength(ofKind kind: Int) -> ReferenceStrength? {
    switch kind {
    case LT_MIRROR_STRONG_REFERENCE: .strong
    case LT_MIRROR_WEAK_REFERENCE: .weak
    case LT_MIRROR_UNOWNED_REFERENCE: .unowned
    case LT_MIRROR_UNMANAGED_REFERENCE, LT_MIRROR_RAW_POINTER: .unmanaged
    default: nil
    }
  }

  private static func isReference(_ kind: Int) -> Bool { strength(ofKind: kind) != nil }

  private static func reference(kind: Int, offset: Int, name: String, caseName: String?, typeName: String)
    -> ReferenceField?
  {
    guard let strength = strength(ofKind: kind) else { return nil }
    let (referent, isVariable) = ReferentName.of(typeName)
    let fieldKind: ReferenceField.Kind = kind == LT_MIRROR_RAW_POINTER ? .rawPointer : isVariable ? .variable : .object
    let isAlwaysSet = (strength == .strong || strength == .unowned) && typeName == referent && typeName != bridgeObject
    return ReferenceField(
      offset: offset, name: name, caseName: caseName, strength: strength, kind: fieldKind, typeName: referent,
      isAlwaysSet: isAlwaysSet)
  }

  private static func path(_ outer: String, _ inner: String) -> String {
    outer.isEmpty ? inner : inner.isEmpty ? outer : outer + "." + inner
  }

  private static func path(_ outer: String?, _ inner: String?) -> String? {
    guard let outer else { return inner }
    return inner.map { outer + "." + $0 } ?? outer
  }
}
