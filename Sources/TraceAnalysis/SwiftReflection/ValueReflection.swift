// Takes the types of fields apart until only references, opaque parts and plain data are left.

import CRemoteMirror

/// Layouts of values by type. Not to be shared between threads.
final class ValueReflection {
  private let mirror: MirrorProcess
  private var known: [MirrorType: ValueLayout?] = [:]
  private var generation = 0
  /// Types that are being taken apart; a type within itself is left alone.
  private var open: Set<MirrorType> = []
  /// Types that ended the child. Names, since numbers end with the child too.
  private(set) var fatal: Set<String> = []

  /// Of one type; real ones have some dozens.
  private static let fieldLimit = 4096
  private static let depthLimit = 64

  init(_ mirror: MirrorProcess) { self.mirror = mirror }

  /// The parts of a value, object or capture list, with offsets as they are in it.
  struct Parts {
    var references: [ReferenceField] = []
    var opaque: [OpaqueField] = []

    var count: Int { references.count + opaque.count }
  }

  /// The layout of a type's values; `nil` if not even their size is known.
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

  /// The layout of the values that an answer describes.
  func layout(of answer: MirrorAnswer) throws(MirrorProcess.Failure) -> ValueLayout? {
    guard answer.kind != LT_MIRROR_UNKNOWN else { return nil }
    let parts = try parts(of: answer, from: 0)
    return ValueLayout(
      typeName: answer.typeName, size: answer.size, stride: max(answer.stride, 1), alignment: answer.alignment, references: parts.references,
      opaque: parts.opaque)
  }

  /// Everything in an answer from `start` to its size.
  func parts(of answer: MirrorAnswer, from start: Int) throws(MirrorProcess.Failure) -> Parts {
    var parts = Parts()
    switch answer.kind {
    case LT_MIRROR_TUPLE, LT_MIRROR_STRUCT, LT_MIRROR_CLASS_INSTANCE, LT_MIRROR_CLOSURE_CONTEXT:
      let ends = Self.ends(of: answer.fields, size: answer.size)
      for (index, field) in answer.fields.enumerated() {
        var field = field
        if answer.kind == LT_MIRROR_TUPLE, field.name.isEmpty { field.name = String(index) }
        if answer.kind == LT_MIRROR_CLOSURE_CONTEXT { field.name = "" }
        try append(field, end: ends[index], caseName: nil, to: &parts)
      }
      if answer.kind == LT_MIRROR_STRUCT, Self.isOfStandardLibrary(answer.typeName) { Self.collapse(&parts, to: answer.typeName) }
    case LT_MIRROR_NO_PAYLOAD_ENUM: break
    case LT_MIRROR_SINGLE_PAYLOAD_ENUM, LT_MIRROR_MULTI_PAYLOAD_ENUM:
      let isOptional = answer.typeName.hasPrefix("Swift.Optional<")
      for case let field in answer.fields where field.type != nil || Self.isReference(field.kind) {
        var payload = field
        payload.name = ""
        try append(payload, end: answer.size, caseName: isOptional ? nil : field.name, to: &parts)
      }
    case LT_MIRROR_THICK_FUNCTION:
      // The code's address, then the context.
      if answer.size >= 16 {
        parts.references.append(
          ReferenceField(offset: 8, name: "", strength: .strong, kind: .closure(functionOffset: 0), typeName: answer.typeName))
      }
    case LT_MIRROR_CLASS_EXISTENTIAL:
      // The object, then witness tables.
      let strength = answer.fields.first.flatMap { Self.strength(ofKind: $0.kind) } ?? .strong
      parts.references.append(ReferenceField(offset: 0, name: "", strength: strength, kind: .existential, typeName: ReferentName.of(answer.typeName).name))
    case LT_MIRROR_ERROR_EXISTENTIAL:
      parts.references.append(ReferenceField(offset: 0, name: "", strength: .strong, kind: .error, typeName: answer.typeName))
    case LT_MIRROR_OPAQUE_EXISTENTIAL:
      // Three words for the value or its box, then the value's metadata, then witness tables.
      parts.opaque.append(OpaqueField(range: 0..<24, name: "", typeName: answer.typeName, metadataOffset: 24))
    case LT_MIRROR_EXISTENTIAL_METATYPE: break
    case LT_MIRROR_BUILTIN where Self.isPlain(answer.typeName): break
    default:
      if let reference = Self.reference(kind: Self.kind(of: answer), offset: 0, name: "", caseName: nil, typeName: answer.typeName) {
        parts.references.append(reference)
      } else if answer.size > start {
        parts.opaque.append(OpaqueField(range: start..<answer.size, name: "", typeName: answer.typeName))
      }
    }
    return parts
  }

  private func append(_ field: MirrorAnswer.Field, end: Int, caseName: String?, to parts: inout Parts) throws(MirrorProcess.Failure) {
    guard parts.count < Self.fieldLimit else { return }
    if let reference = Self.reference(kind: field.kind, offset: field.offset, name: field.name, caseName: caseName, typeName: field.typeName) {
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
    guard let inner else {
      if end > field.offset {
        parts.opaque.append(OpaqueField(range: field.offset..<end, name: field.name, caseName: caseName, typeName: field.typeName))
      }
      return
    }
    for var reference in inner.references.prefix(Self.fieldLimit - parts.count) {
      reference.offset += field.offset
      if case .closure(let functionOffset) = reference.kind { reference.kind = .closure(functionOffset: functionOffset + field.offset) }
      reference.name = Self.path(field.name, reference.name)
      reference.caseName = Self.path(caseName, reference.caseName)
      parts.references.append(reference)
    }
    for var opaque in inner.opaque.prefix(max(0, Self.fieldLimit - parts.count)) {
      opaque.range = opaque.range.lowerBound + field.offset..<opaque.range.upperBound + field.offset
      opaque.name = Self.path(field.name, opaque.name)
      opaque.caseName = Self.path(caseName, opaque.caseName)
      opaque.metadataOffset = opaque.metadataOffset.map { $0 + field.offset }
      parts.opaque.append(opaque)
    }
  }

  /// Where the part of a field ends, at most: where the next begins.
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

  /// What a standard library type is made of is nobody's business: its own name stands for all of it.
  private static func collapse(_ parts: inout Parts, to typeName: String) {
    for index in parts.references.indices {
      parts.references[index].name = ""
      parts.references[index].typeName = typeName
    }
    for index in parts.opaque.indices {
      parts.opaque[index].name = ""
      parts.opaque[index].typeName = typeName
    }
  }

  private static func isOfStandardLibrary(_ typeName: String) -> Bool { typeName.hasPrefix("Swift.") }

  /// Integers and the like; imported C types have the same kind, and may hold pointers.
  private static func isPlain(_ typeName: String) -> Bool {
    if typeName.hasPrefix("@convention(") { return true }
    guard typeName.hasPrefix("Builtin.") else { return false }
    return switch typeName {
    case "Builtin.BridgeObject", "Builtin.DefaultActorStorage", "Builtin.NonDefaultDistributedActorStorage", "Builtin.UnsafeValueBuffer": false
    default: true
    }
  }

  /// A bridge object is called opaque data, but refers to an object as others do.
  private static func kind(of answer: MirrorAnswer) -> Int {
    answer.kind == LT_MIRROR_BUILTIN && answer.typeName == "Builtin.BridgeObject" ? LT_MIRROR_STRONG_REFERENCE : answer.kind
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

  private static func reference(kind: Int, offset: Int, name: String, caseName: String?, typeName: String) -> ReferenceField? {
    guard let strength = strength(ofKind: kind) else { return nil }
    let (referent, isVariable) = ReferentName.of(typeName)
    let fieldKind: ReferenceField.Kind = kind == LT_MIRROR_RAW_POINTER ? .rawPointer : isVariable ? .variable : .object
    return ReferenceField(offset: offset, name: name, caseName: caseName, strength: strength, kind: fieldKind, typeName: referent)
  }

  private static func path(_ outer: String, _ inner: String) -> String {
    outer.isEmpty ? inner : inner.isEmpty ? outer : outer + "." + inner
  }

  private static func path(_ outer: String?, _ inner: String?) -> String? {
    guard let outer else { return inner }
    return inner.map { outer + "." + $0 } ?? outer
  }
}
