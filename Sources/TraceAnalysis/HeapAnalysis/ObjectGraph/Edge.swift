// Edges: the name of a reference, and its strength.

/// The strength of a reference, as bits of `EdgeKinds`.
package enum EdgeStrength: UInt8, CaseIterable, Codable, Hashable, Sendable {
  /// A counted reference in a field that reflection knows.
  case strong = 0
  /// A word that looks like a pointer, in memory of unknown layout.
  case conservative = 1
  /// A reference that the program counts by hand, or not at all.
  case unmanaged = 2
  case weak = 3
  case unowned = 4
  /// An object's side table, which weak references need.
  case bookkeeping = 5
  /// From a task's own words to another task: a place in a queue, or a word in a frame. A waiting task keeps itself
  /// until it is resumed, whatever code has a handle of it, and either word may be left over.
  case taskLink = 6
  /// A word that looks like a pointer, but is left over or borrowed. Either the references in known fields account for
  /// the reference count of its object, or the word is in a place of a task that keeps nothing. A frame that uses an
  /// object may have only such a word. So the word keeps its target in use, but it does not keep lost objects.
  case surplus = 7

  /// The name in JSON.
  package var key: String {
    switch self {
    case .strong: "strong"
    case .conservative, .taskLink, .surplus: "conservative"
    case .unmanaged: "unmanaged"
    case .weak: "weak"
    case .unowned: "unowned"
    case .bookkeeping: "bookkeeping"
    }
  }
}

/// A place in a type that holds a reference.
package struct EdgeLabel: Hashable, Sendable {
  package enum Role: Hashable, Sendable {
    case field
    /// A function value's context. The function is `functionOffset` bytes after the start of the block; for array
    /// elements, after the start of the element.
    case closure(functionOffset: Int)
    case capture
    case element, key, value
  }

  /// The name in the source code: `viewModel`, `[].handler`; empty for captures whose variable is unknown.
  package var name: String
  package var role: Role
  /// The enum case whose payload it is.
  package var caseName: String?
  /// Name of the field's type.
  package var typeName: String
  /// Bytes from the start of the block; in elements from the start of the element.
  package var offset: Int
  package var isElement: Bool

  package init(
    name: String, role: Role, caseName: String? = nil, typeName: String, offset: Int, isElement: Bool = false
  ) {
    self.name = name
    self.role = role
    self.caseName = caseName
    self.typeName = typeName
    self.offset = offset
    self.isElement = isElement
  }
}

extension EdgeLabel {
  /// Without the insides of library types: of `items._buffer._storage` only `items` is the programmer's. The storage of
  /// a lazy property has the property's name; in the payload of an enum case, the places of its parts say nothing that
  /// its name does not.
  static func shortName(_ name: String, isPayload: Bool) -> String {
    var parts = name.split(separator: ".", omittingEmptySubsequences: false)
    if let end = parts.dropFirst().firstIndex(where: { $0.hasPrefix("_") && $0.count > 1 }) {
      parts.removeLast(parts.count - end)
    }
    if isPayload {
      while parts.count > 1, let last = parts.last, last.allSatisfy({ $0.isNumber }) { parts.removeLast() }
    }
    if let first = parts.first, first.hasPrefix(lazyPrefix) { parts[0] = first.dropFirst(lazyPrefix.count) }
    return parts.joined(separator: ".")
  }

  private static let lazyPrefix = "$__lazy_storage_$_"

}

/// An edge's label: an index into the labels, or for a scanned word its offset in the block.
package struct EdgeLabelID: Hashable, Sendable {
  package var rawValue: UInt32
  package init(_ rawValue: UInt32) { self.rawValue = rawValue }

  private static let scanned: UInt32 = 1 << 31
  static func scanned(offset: UInt64) -> EdgeLabelID {
    EdgeLabelID(scanned | UInt32(min(offset >> 3, UInt64(scanned - 1))))
  }

  /// Bytes from the start of the block, for a scanned word.
  package var scannedOffset: UInt64? { rawValue & Self.scanned != 0 ? UInt64(rawValue & ~Self.scanned) << 3 : nil }
}
