// What reflection knows of a type, made ready for reading its blocks.

/// Where layouts come from.
protocol LayoutSource: AnyObject {
  /// The layout of an instance at an address whose first word is `metadata`; nil if nothing is known.
  func layout(ofInstanceAt address: RuntimeAddress, metadata: RuntimeAddress) -> ObjectLayout?
  /// The layout of one instance says nothing of the next.
  func dependsOnInstance(_ metadata: RuntimeAddress) -> Bool
  /// The first word of a metadata record, which tells its kind; nil if it is not known.
  func metadataKind(at address: UInt64) -> UInt64?
  /// Where the variables of a name are that the concurrency runtime exports: one for each runtime in the process.
  func addresses(ofConcurrencyVariable name: String) -> [UInt64]
  /// Why there are no layouts at all.
  var problem: String? { get }
}

extension LayoutSource {
  func addresses(ofConcurrencyVariable name: String) -> [UInt64] { [] }
}

/// What reflection knows of one type, with its labels numbered.
struct NodeLayout {
  struct Reference {
    var offset: UInt64
    var strength: EdgeStrength
    var label: UInt32
    /// Types of the field; where several cases of an enum share a place, the one that fits what is found is taken.
    var typeName: String
    var hasAlternatives = false
    /// An unsafe pointer: it may lead to the end of a block, or to memory that was never malloc'd.
    var isRawPointer = false
  }
  struct Opaque {
    var range: Range<UInt64>
    /// Nil if the part has no name.
    var label: UInt32?
    /// The first word of an `any P`: an object, a box with the value, or the value's own first word.
    var isExistential: Bool
  }
  /// Values of one type, one after the other.
  struct Part {
    var stride: UInt64
    var references: [Reference]
    var opaque: [Opaque]
    /// What neither of them covers: no reference by what reflection says. A word there that is the address of an object is taken for one all the
    /// same, since a reference that is missed makes a leak of what is none.
    var gaps: [Range<UInt64>] = []
  }
  enum Tail {
    case scanned, plain
    case array(start: UInt64, countOffset: UInt64, Part)
    case hashTable(scale: UInt64, bitmap: UInt64, keys: UInt64, Part, values: UInt64?, Part?)
  }

  var size: UInt64
  var fields: Part
  var tail: Tail

  init(_ layout: ObjectLayout, kind: NodeKind, labels: LabelTable) {
    size = UInt64(clamping: layout.size)
    let isCapturing = kind == .closure || kind == .box
    fields = Part(layout.references, layout.opaque, stride: 0, role: isCapturing ? .capture : .field, prefix: "", labels: labels)
    fields.findGaps(in: 16..<max(16, size))
    func part(_ value: ValueLayout, _ role: EdgeLabel.Role, _ prefix: String) -> Part {
      var part = Part(value.references, value.opaque, stride: UInt64(clamping: value.stride), role: role, prefix: prefix, labels: labels)
      if !value.holdsNoReferences { part.findGaps(in: 0..<UInt64(clamping: value.size)) }
      return part
    }
    switch layout.tail {
    case .unknown: tail = .scanned
    case .plain: tail = .plain
    case .array(let start, let countOffset, let element):
      tail = .array(start: UInt64(clamping: start), countOffset: UInt64(clamping: countOffset), part(element, .element, "[]"))
    case .hashTable(let scale, let bitmap, let keys, let key, let values, let value):
      tail = .hashTable(
        scale: UInt64(clamping: scale), bitmap: UInt64(clamping: bitmap), keys: UInt64(clamping: keys), part(key, value == nil ? .element : .key, value == nil ? "[]" : "[key]"),
        values: values.map { UInt64(clamping: $0) }, value.map { part($0, .value, "[value]") })
    }
  }
}

extension NodeLayout.Part {
  mutating func findGaps(in whole: Range<UInt64>) {
    var next = whole.lowerBound
    let covered = (references.map { $0.offset..<$0.offset &+ 8 } + opaque.map(\.range)).sorted { $0.lowerBound < $1.lowerBound }
    for range in covered where range.upperBound > next {
      if range.lowerBound > next { gaps.append(next..<min(range.lowerBound, whole.upperBound)) }
      next = range.upperBound
      if next >= whole.upperBound { break }
    }
    if next < whole.upperBound { gaps.append(next..<whole.upperBound) }
  }

  init(_ references: [ReferenceField], _ opaque: [OpaqueField], stride: UInt64, role: EdgeLabel.Role, prefix: String, labels: LabelTable) {
    self.stride = stride
    let isElement = stride > 0
    func name(_ field: String, _ caseName: String?) -> String {
      let short = EdgeLabel.shortName(field, isPayload: caseName != nil)
      return prefix.isEmpty ? short : short.isEmpty ? prefix : "\(prefix).\(short)"
    }
    var counts: [Int: Int] = [:]
    for reference in references { counts[reference.offset, default: 0] += 1 }
    self.references = references.map { reference in
      var kind = role
      if case .closure(let offset) = reference.kind { kind = .closure(functionOffset: offset) }
      let label = EdgeLabel(
        name: name(reference.name, reference.caseName), role: kind, caseName: reference.caseName, typeName: reference.typeName, offset: reference.offset, isElement: isElement)
      let strength: EdgeStrength =
        switch reference.strength {
        case .strong: .strong
        case .weak: .weak
        case .unowned: .unowned
        case .unmanaged: .unmanaged
        }
      return NodeLayout.Reference(
        offset: UInt64(clamping: reference.offset), strength: strength, label: labels.number(label), typeName: reference.typeName,
        hasAlternatives: counts[reference.offset, default: 0] > 1, isRawPointer: reference.kind == .rawPointer)
    }
    self.opaque = opaque.map { field in
      let label = EdgeLabel(
        name: name(field.name, field.caseName), role: role, caseName: field.caseName, typeName: field.typeName, offset: field.range.lowerBound, isElement: isElement)
      return NodeLayout.Opaque(
        range: UInt64(clamping: field.range.lowerBound)..<UInt64(clamping: max(field.range.lowerBound, field.range.upperBound)),
        label: field.name.isEmpty && prefix.isEmpty ? nil : labels.number(label), isExistential: field.metadataOffset != nil)
    }
  }
}

/// Edge labels, each once.
final class LabelTable {
  private(set) var labels: [EdgeLabel] = []
  private var numbers: [EdgeLabel: UInt32] = [:]

  func number(_ label: EdgeLabel) -> UInt32 {
    if let known = numbers[label] { return known }
    let number = UInt32(labels.count)
    labels.append(label)
    numbers[label] = number
    return number
  }
}
