// Layouts of types from reflection, prepared for reading blocks of these types.

import TraceReading
import TraceSymbolication

/// A source of layouts.
package protocol LayoutSource: AnyObject {
  /// Returns the layout of an instance at an address. `metadata` is the instance's first word. Nil if nothing is known.
  func layout(ofInstanceAt address: RuntimeAddress, metadata: RuntimeAddress) -> ObjectLayout?
  /// Whether each instance of the type may have its own layout.
  func dependsOnInstance(_ metadata: RuntimeAddress) -> Bool
  /// Returns how the buffer of an `any P` stores a value of the type; nil if that is unknown.
  func bufferedValue(ofTypeWithMetadata address: UInt64) -> BufferedValue?
  /// The first word of a metadata record, which is its kind; nil if unknown.
  func metadataKind(at address: UInt64) -> UInt64?
  /// The 8 bytes at an address, from the heap image or a loaded image's file; nil if unknown.
  func word(at address: UInt64) -> UInt64?
  /// Whether values of the type whose metadata is at an address have no size; false if that is unknown.
  func hasNoSize(valuesOfTypeAt address: UInt64) -> Bool
  /// Returns the addresses of an exported variable, one for each concurrency runtime of the process.
  func addresses(ofConcurrencyVariable name: String) -> [UInt64]
  /// Returns whether a concurrency runtime of the process has a function with the given name.
  func hasConcurrency(function name: String) -> Bool
  /// The reason why there are no layouts at all; nil if there are layouts.
  var problem: String? { get }
}

extension LayoutSource {
  func bufferedValue(ofTypeWithMetadata address: UInt64) -> BufferedValue? { nil }
  func word(at address: UInt64) -> UInt64? { nil }
  func hasNoSize(valuesOfTypeAt address: UInt64) -> Bool { false }
  func addresses(ofConcurrencyVariable name: String) -> [UInt64] { [] }
  func hasConcurrency(function name: String) -> Bool { false }
}

/// The layout of one type, with its labels numbered.
struct NodeLayout {
  struct Reference {
    var offset: UInt64
    var strength: EdgeStrength
    var label: UInt32
    /// The label without the name of an enum case, for use while the active case is unknown.
    var unnamedLabel: UInt32
    /// `ReferenceField.isAlwaysSet`
    var isRequired = false
    /// The reference is an unsafe pointer. It may lead to the end of a block, or to memory that was never malloc'd.
    var isRawPointer = false
    /// The declared class of the target. Nil for a protocol, in an enumeration's payload, and for a generic class,
    /// since the spelling of its name may differ.
    var className: String?
  }
  struct Opaque {
    var range: Range<UInt64>
    /// The label of the part; nil if the part has no name.
    var label: UInt32?
    /// The label without the name of an enum case, like `Reference.unnamedLabel`.
    var unnamedLabel: UInt32?
    /// For the buffer of an `any P`: the offset of the metadata of the value in the buffer. The buffer's first word is
    /// an object, a box with the value, or the value's first word.
    var metadataOffset: UInt64?
    var conditions: [PayloadSelector.Condition] = []
  }
  /// The layout of one or more values of one type, one after the other.
  struct Part {
    var stride: UInt64
    /// The references, in order of offset.
    var references: [Reference]
    var opaque: [Opaque]
    var selectors: [PayloadSelector] = []
    /// By index of a reference: the index of the next reference with another offset.
    var ends: [Int] = []
    /// By index of a reference: the payloads that it is a part of.
    var conditions: [[PayloadSelector.Condition]] = []
    /// By index of a reference: the kind and type of its target.
    var targets: [ReferenceTarget] = []
    /// The range of offsets where the heap image keeps a word's lowest byte if the byte may be the case of an
    /// enumeration.
    var caseBytes: Range<UInt64> = 0..<0
    /// True if the part is the values of a dictionary. Older heap images lack the case bytes of such values.
    var isOfDictionaryValues = false
    /// Ranges outside all references and opaque parts. By reflection, these ranges have no references. But if a word
    /// there is the address of an object, it counts as a reference, since a missed reference makes a false leak. Words
    /// with a value smaller than a word are left out: the rest of such a word is padding with old contents.
    var gaps: [Range<UInt64>] = []
    /// Words of plain data outside `gaps` where the bytes of an address may begin.
    var numbers: [Range<UInt64>] = []
    /// True if the values have parts smaller than a word, such as bytes. An address may begin at any of these parts.
    var hasNarrowParts = false
  }
  enum Tail {
    case scanned, plain
    case array(start: UInt64, countOffset: UInt64, Part)
    case ring(start: UInt64, capacityOffset: UInt64, countOffset: UInt64, firstOffset: UInt64, Part)
    case hashTable(scale: UInt64, bitmap: UInt64, keys: UInt64, Part, values: UInt64?, Part?)
  }

  /// `LT_ENUM_TAG_LIMIT` in bytes.
  private static let caseByteLimit: UInt64 = 64 * 8

  var size: UInt64
  /// The names of the class and its superclasses; empty for types that are not classes.
  var classNames: [String]
  var fields: Part
  var tail: Tail

  init(_ layout: ObjectLayout, kind: NodeKind, labels: LabelTable) {
    size = UInt64(clamping: layout.size)
    classNames = kind == .object && !layout.typeName.isEmpty ? [layout.typeName] + layout.superclassNames : []
    let isCapturing = kind == .closure || kind == .box
    fields = Part(
      layout.references, layout.opaque, layout.enumerations, stride: 0, role: isCapturing ? .capture : .field,
      prefix: "", labels: labels)
    fields.findGaps(in: 16..<max(16, size), narrow: layout.narrow)
    if kind == .object { fields.caseBytes = 16..<16 + Self.caseByteLimit }
    func part(_ value: ValueLayout, _ role: EdgeLabel.Role, _ prefix: String) -> Part {
      var part = Part(
        value.references, value.opaque, value.enumerations, stride: UInt64(clamping: value.stride), role: role,
        prefix: prefix, labels: labels)
      if !value.holdsNoReferences { part.findGaps(in: 0..<UInt64(clamping: value.size), narrow: value.narrow) }
      part.hasNarrowParts = !value.narrow.isEmpty
      return part
    }
    switch layout.tail {
    case .unknown: tail = .scanned
    case .plain: tail = .plain
    case .array(let start, let countOffset, let element):
      var elements = part(element, .element, "[]")
      elements.caseBytes = 0..<Self.caseByteLimit
      tail = .array(start: UInt64(clamping: start), countOffset: UInt64(clamping: countOffset), elements)
    case .ring(let start, let capacityOffset, let countOffset, let firstOffset, let element):
      tail = .ring(
        start: UInt64(clamping: start), capacityOffset: UInt64(clamping: capacityOffset),
        countOffset: UInt64(clamping: countOffset), firstOffset: UInt64(clamping: firstOffset),
        part(element, .element, "[]"))
    case .hashTable(let scale, let bitmap, let keys, let key, let values, let value):
      var valuePart = value.map { part($0, .value, "[value]") }
      valuePart?.caseBytes = 0..<Self.caseByteLimit
      valuePart?.isOfDictionaryValues = true
      tail = .hashTable(
        scale: UInt64(clamping: scale), bitmap: UInt64(clamping: bitmap), keys: UInt64(clamping: keys),
        part(key, value == nil ? .element : .key, value == nil ? "[]" : "[key]"),
        values: values.map { UInt64(clamping: $0) }, valuePart)
    }
  }
}

extension NodeLayout.Part {
  /// Makes the part for a value in the buffer of an `any P`. The names of its fields begin with the buffer's name. Its
  /// offsets count from the start of the value that contains the buffer.
  init(_ value: ValueLayout, in buffer: NodeLayout.Opaque, labels: LabelTable) {
    let label = buffer.label.map { labels.labels[Int($0)] }
    let start = Int(clamping: buffer.range.lowerBound)
    self.init(
      value.references.map { $0.moved(by: start) }, value.opaque.map { $0.moved(by: start) },
      value.enumerations.map { $0.moved(by: start, after: 0) },
      stride: label?.isElement == true ? UInt64(clamping: value.stride) : 0, role: label?.role ?? .field,
      prefix: label?.name ?? "", labels: labels)
    guard !value.holdsNoReferences else {
      if value.size > 0 {
        numbers = [buffer.range.lowerBound..<buffer.range.lowerBound &+ UInt64(clamping: value.size)]
      }
      return
    }
    findGaps(
      in: buffer.range.lowerBound..<buffer.range.lowerBound &+ UInt64(clamping: value.size),
      narrow: value.narrow.map { $0.lowerBound + start..<$0.upperBound + start })
  }

  private static func className(_ reference: ReferenceField) -> String? {
    let name = ReferentName.withoutFiles(reference.typeName)
    guard reference.kind == .object, reference.payloads.isEmpty, name.contains("."), !name.contains("<") else {
      return nil
    }
    return name
  }

  /// Sets `gaps` and `numbers`. `narrow`: see `ValueLayout.narrow`.
  mutating func findGaps(in whole: Range<UInt64>, narrow: [Range<Int>]) {
    var next = whole.lowerBound
    let partial = narrow.map { range in
      let lower = UInt64(clamping: range.lowerBound) & ~7
      return lower..<max(lower, UInt64(clamping: range.upperBound).addingReportingOverflow(7).partialValue & ~7)
    }
    let covered = (references.map { $0.offset..<$0.offset &+ 8 } + opaque.map(\.range) + partial).sorted {
      $0.lowerBound < $1.lowerBound
    }
    for range in covered where range.upperBound > next {
      if range.lowerBound > next { gaps.append(next..<min(range.lowerBound, whole.upperBound)) }
      next = range.upperBound
      if next >= whole.upperBound { break }
    }
    if next < whole.upperBound { gaps.append(next..<whole.upperBound) }
    findNumbers(in: whole, narrow: narrow)
  }

  /// The number of bytes of an address that may differ from 0.
  private static let addressSize: UInt64 = 6

  /// Finds the words where an address may begin that spans several narrow values, such as bytes. The address must not
  /// span padding.
  private mutating func findNumbers(in whole: Range<UInt64>, narrow: [Range<Int>]) {
    guard !narrow.isEmpty else { return }
    let values = narrow.map {
      let lower = min(UInt64(clamping: $0.lowerBound), whole.upperBound)
      return lower..<max(lower, min(UInt64(clamping: $0.upperBound), whole.upperBound))
    }
    var row: Range<UInt64> = 0..<0
    func words(_ row: Range<UInt64>) -> Range<UInt64>? {
      guard row.upperBound - row.lowerBound >= Self.addressSize else { return nil }
      let last = row.upperBound - Self.addressSize
      // The heap image may store an address that begins in the last bytes of a word as the next word.
      return row.lowerBound & ~7..<(last & ~7) + (last & 7 >= 6 ? 16 : 8)
    }
    for range in (values + gaps).sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if range.lowerBound > row.upperBound {
        if let words = words(row) { numbers.append(words) }
        row = range
      } else {
        row = row.lowerBound..<max(row.upperBound, range.upperBound)
      }
    }
    if let words = words(row) { numbers.append(words) }
    if gaps.count > 0 {
      numbers.removeAll { range in
        gaps.contains { $0.lowerBound <= range.lowerBound && $0.upperBound >= range.upperBound }
      }
    }
  }

  init(
    _ references: [ReferenceField], _ opaque: [OpaqueField], _ enumerations: [EnumerationLayout], stride: UInt64,
    role: EdgeLabel.Role, prefix: String,
    labels: LabelTable
  ) {
    self.stride = stride
    let isElement = stride > 0
    func name(_ field: String, _ caseName: String?) -> String {
      let short = EdgeLabel.shortName(field, isPayload: caseName != nil)
      return prefix.isEmpty ? short : short.isEmpty ? prefix : "\(prefix).\(short)"
    }
    /// Returns the label of a part while its active case is unknown.
    func unnamed(_ label: EdgeLabel, _ payloads: [PayloadCase]) -> EdgeLabel {
      guard let enumeration = payloads.first?.enumeration, enumerations.indices.contains(enumeration) else {
        return label
      }
      var label = label
      label.name = name(enumerations[enumeration].name, nil)
      label.caseName = nil
      label.typeName = ""
      return label
    }
    let areCasesNamed = enumerations.count <= PayloadSelector.limit
    let cases = CaseBits(references, opaque, areCasesNamed ? enumerations : [])
    let sorted = references.sorted { $0.offset < $1.offset }
    conditions = sorted.map { cases.conditions($0.payloads) }
    targets = sorted.map { ReferenceTarget(kind: $0.kind, typeName: $0.typeName) }
    self.references = sorted.map { reference in
      var kind = role
      if case .closure(let offset) = reference.kind { kind = .closure(functionOffset: offset) }
      let label = EdgeLabel(
        name: name(reference.name, reference.caseName), role: kind, caseName: reference.caseName,
        typeName: reference.typeName, offset: reference.offset, isElement: isElement)
      let strength: EdgeStrength =
        switch reference.strength {
        case .strong: .strong
        case .weak: .weak
        case .unowned: .unowned
        case .unmanaged: .unmanaged
        }
      return NodeLayout.Reference(
        offset: UInt64(clamping: reference.offset), strength: strength,
        label: labels.number(areCasesNamed ? label : unnamed(label, reference.payloads)),
        unnamedLabel: labels.number(unnamed(label, reference.payloads)),
        isRequired: reference.isAlwaysSet, isRawPointer: reference.kind == .rawPointer,
        className: Self.className(reference))
    }
    ends = Array(repeating: self.references.count, count: self.references.count)
    for index in self.references.indices.dropLast().reversed() {
      ends[index] = self.references[index + 1].offset == self.references[index].offset ? ends[index + 1] : index + 1
    }
    self.opaque = opaque.map { field in
      let label = EdgeLabel(
        name: name(field.name, field.caseName), role: role, caseName: field.caseName, typeName: field.typeName,
        offset: field.range.lowerBound, isElement: isElement)
      let hasName = !field.name.isEmpty || !prefix.isEmpty
      return NodeLayout.Opaque(
        range: UInt64(
          clamping: field.range.lowerBound)..<UInt64(clamping: max(field.range.lowerBound, field.range.upperBound)),
        label: hasName ? labels.number(label) : nil,
        unnamedLabel: hasName ? labels.number(unnamed(label, field.payloads)) : nil,
        metadataOffset: field.metadataOffset.map { UInt64(clamping: $0) },
        conditions: cases.conditions(field.payloads))
    }
    guard areCasesNamed else { return }
    selectors = enumerations.indices.map { index in
      var required: [PayloadSelector.Required] = []
      for (reference, conditions) in zip(self.references, conditions) where reference.isRequired {
        if let last = conditions.last, last.selector == index {
          required.append(.init(offset: reference.offset, cases: last.cases))
        }
      }
      for opaque in self.opaque {
        guard let metadata = opaque.metadataOffset, let last = opaque.conditions.last, last.selector == index else {
          continue
        }
        required.append(.init(offset: metadata, cases: last.cases, isMetadata: true))
      }
      // Enumerations are read in order, so an enclosing one must come first.
      let enclosing = cases.conditions(enumerations[index].payloads.filter { $0.enumeration < index })
      return PayloadSelector(
        enumerations[index], enclosing: enclosing, cases: cases.all(of: index), required: required,
        references: self.references
      ) {
        cases.bit(of: $0, in: index)
      }
    }
  }
}

/// Numbers those cases of each enumeration that have parts.
private struct CaseBits {
  /// By enumeration: the indices of its cases with parts, in order.
  private var cases: [[Int]]

  init(_ references: [ReferenceField], _ opaque: [OpaqueField], _ enumerations: [EnumerationLayout]) {
    var found = Array(repeating: Set<Int>(), count: enumerations.count)
    func add(_ payloads: [PayloadCase]) {
      for payload in payloads where found.indices.contains(payload.enumeration) {
        found[payload.enumeration].insert(payload.index)
      }
    }
    for reference in references { add(reference.payloads) }
    for field in opaque { add(field.payloads) }
    for enumeration in enumerations { add(enumeration.payloads) }
    cases = found.map { $0.sorted() }
  }

  func bit(of index: Int, in enumeration: Int) -> UInt64 {
    cases[enumeration].firstIndex(of: index).map { PayloadSelector.bit($0) } ?? 0
  }

  func all(of enumeration: Int) -> UInt64 { cases[enumeration].indices.reduce(0) { $0 | PayloadSelector.bit($1) } }

  func conditions(_ payloads: [PayloadCase]) -> [PayloadSelector.Condition] {
    payloads.compactMap { payload in
      guard cases.indices.contains(payload.enumeration) else { return nil }
      return PayloadSelector.Condition(
        selector: payload.enumeration, cases: bit(of: payload.index, in: payload.enumeration))
    }
  }
}

/// All distinct edge labels, with a number for each.
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
