// The places of references in an object whose owned parts are known, but not the fields that hold them.

import HeapAnalysis
import TraceReading

/// Finds a place for each part of an object. A part goes to a field whose type fits. Several fields may fit: then the
/// report names all of them.
struct OwnedPlaces {
  private struct Field {
    var offset: UInt64
    var type: TypeShape
    var isFree = true
  }

  private var fields: [Field] = []
  private var next: UInt64
  private let end: UInt64
  /// The offsets of fields that each may hold the same part, so that the field of the part is not known.
  private(set) var alike: Set<[Int]> = []

  /// - Parameter layout: the layout of a class; nil if any word may hold a part.
  init(_ block: LiveBlock, _ type: NodeType, _ layout: ObjectLayout?) {
    fields = (layout?.references ?? []).filter { $0.strength == .strong }.map {
      Field(offset: UInt64($0.offset), type: TypeShape($0.typeName))
    }
    end = block.size
    next = !fields.isEmpty ? end : type.kind.isCollection ? UInt64(ClassLayouts.firstElement) : Self.firstField
  }

  /// The offset of an object's first field.
  private static let firstField: UInt64 = 16

  /// Returns the offset of a free place for a part; nil if there is none.
  mutating func take(for type: NodeType?) -> UInt64? {
    guard !fields.isEmpty else {
      guard next + 8 <= end else { return nil }
      next += 8
      return next - 8
    }
    let shape = type.map { TypeShape($0.name) }
    var fitting = fields.indices.filter { index in shape.map { $0.fits(fields[index].type) } ?? false }
    if fitting.isEmpty { fitting = fields.indices.filter { fields[$0].type.isAny } }
    if fitting.isEmpty { fitting = Array(fields.indices) }
    if fitting.count > 1 { alike.insert(fitting.map { Int(fields[$0].offset) }) }
    guard let free = fitting.first(where: { fields[$0].isFree }) else { return nil }
    fields[free].isFree = false
    return fields[free].offset
  }
}

/// A type's name, reduced to what compares a field with the object in it.
struct TypeShape: Hashable {
  private enum Kind: Hashable { case array, table, set, other }
  private var kind: Kind
  /// The names in the type without modules, in order.
  private var names: [Substring]

  init(_ qualifiedName: String) {
    var name = TypeNames.unqualified(qualifiedName)[...]
    if name.hasPrefix("Optional<") { name = name.dropFirst(9).dropLast() }
    names = name.split { !($0.isLetter || $0.isNumber || $0 == "_") }
    switch names.first {
    case "Array", "ContiguousArray", "ArraySlice": kind = .array
    case "Dictionary": kind = .table
    case "Set": kind = .set
    default: kind = !name.hasPrefix("[") ? .other : Self.hasKeys(name) ? .table : .array
    }
    names.removeAll { $0 == "Optional" }
    if kind != .other, !name.hasPrefix("[") { names.removeFirst() }
  }

  /// Returns whether the brackets of a name contain a colon, outside of inner brackets.
  private static func hasKeys(_ name: Substring) -> Bool {
    var depth = 0
    for character in name {
      switch character {
      case "[", "<", "(": depth += 1
      case "]", ">", ")": depth -= 1
      case ":" where depth == 1: return true
      default: break
      }
    }
    return false
  }

  /// Whether the type is a protocol, or a parameter of a generic type: any object may fit.
  var isAny: Bool { names.isEmpty || names.first == "any" || names.first == "AnyObject" }

  /// Returns whether an object of this type may be in a field. Arrays of all classes have one type.
  func fits(_ field: TypeShape) -> Bool {
    guard kind == field.kind else { return false }
    if names == field.names { return true }
    if kind == .array { return names == ["AnyObject"] }
    return kind == .other && names.first == "__StringStorage" && field.names.first == "String"
  }
}
