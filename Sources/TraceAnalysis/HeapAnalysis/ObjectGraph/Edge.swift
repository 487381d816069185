// Edges: the name of a reference, and its strength.

/// The strength of a reference. The raw value is the index of its bit in `EdgeKinds`.
package enum EdgeStrength: UInt8, CaseIterable, Codable, Hashable, Sendable {
  /// A counted reference in a field that reflection knows.
  case strong = 0
  /// A word that looks like a pointer, in memory of unknown layout.
  case conservative = 1
  /// A reference that the program counts by hand, or not at all.
  case unmanaged = 2
  case weak = 3
  case unowned = 4
  /// From an object or a weak reference to the object's side table.
  case bookkeeping = 5
  /// From a task's own words to another task: a queue link, or a word in a frame. Both may be left over. A waiting task
  /// needs no such reference: it stays alive until it is resumed, even if no code has a handle to it.
  case taskLink = 6
  /// A word that looks like a pointer, but is left over or borrowed. Either the references in known fields account for
  /// its target's whole reference count, or the word is in a place of a task that owns nothing. A running function may
  /// still use an object through such a word. So a surplus word in a reachable frame keeps its target in use. A surplus
  /// word in lost memory keeps nothing.
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
    /// The context of a function value. The function's address is `functionOffset` bytes after the start of the block,
    /// or of the array element.
    case closure(functionOffset: Int)
    case capture
    case element, key, value
  }

  /// The name in the source code: `viewModel`, `[].handler`; empty for captures whose variable is unknown.
  package var name: String
  package var role: Role
  /// The enum case whose payload has this place; nil if there is none.
  package var caseName: String?
  /// Name of the field's type.
  package var typeName: String
  /// Bytes from the start of the block, or from the start of the element if `isElement`.
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
  /// Returns the part of a field's path that the programmer wrote. The path ends before the internals of library types:
  /// `items._buffer._storage` becomes `items`. The storage of a lazy property gets the property's name. A path in an
  /// enum case's payload loses its tuple indices, since the case's name suffices.
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

/// An edge's label: an index into the labels, or the offset of a scanned word in its block.
package struct EdgeLabelID: Hashable, Sendable {
  package var rawValue: UInt32
  package init(_ rawValue: UInt32) { self.rawValue = rawValue }

  private static let scanned: UInt32 = 1 << 31
  static func scanned(offset: UInt64) -> EdgeLabelID {
    EdgeLabelID(scanned | UInt32(min(offset >> 3, UInt64(scanned - 1))))
  }

  /// Bytes from the start of the block to a scanned word; nil for an index into the labels.
  package var scannedOffset: UInt64? { rawValue & Self.scanned != 0 ? UInt64(rawValue & ~Self.scanned) << 3 : nil }
}
