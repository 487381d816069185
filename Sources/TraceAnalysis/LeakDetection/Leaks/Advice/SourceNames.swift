// Names that a path's references have in the program's source.

import TraceSymbolication

/// Names that a reader can search for: fields together with the types that declare them. Positions in a collection are
/// not names.
struct SourceNames {
  let path: [Finding.Step]
  let isCycle: Bool

  init(_ finding: Finding) { (path, isCycle) = (finding.path, finding.evidence.isCycle) }

  /// Returns the step that a step's reference leads to; nil at the end of a path.
  func next(_ index: Int) -> Int? {
    if index + 1 < path.count { return index + 1 }
    return isCycle && !path.isEmpty ? 0 : nil
  }

  /// Returns the step whose reference leads to a step; nil at the beginning of a path.
  func previous(_ index: Int) -> Int? {
    if index > 0 { return index - 1 }
    return isCycle && !path.isEmpty ? path.count - 1 : nil
  }

  /// Returns the field of a step's reference: `Room.players`. For an element of a collection, returns the field that
  /// has the collection. Nil if a closure's variable is closer. O(path).
  func field(of index: Int) -> String? {
    var index = index
    for _ in path.indices {
      guard path.indices.contains(index) else { return nil }
      let step = path[index]
      guard let reference = step.reference else { return nil }
      if step.kind == .object, !SystemCode.isSystemModule(Self.module(step)), Self.isWord(reference.name) {
        return "\(Self.plain(step.type)).\(reference.name)"
      }
      if step.kind == .closure { return nil }
      guard let before = previous(index) else { return nil }
      index = before
    }
    return nil
  }

  /// Returns the field of a structure in a collection: `Origin.fragment` for `[].fragment` of `[Origin]`. Returns nil
  /// if the element is itself the reference, or a tuple.
  func elementField(of index: Int) -> String? {
    let step = path[index]
    guard let name = step.reference?.name, name.hasPrefix("["), let close = name.firstIndex(of: "]") else { return nil }
    let part = name[name.index(after: close)...].drop { $0 == "." }
    guard Self.isWord(part), let element = elementType(of: step, isKey: name.hasPrefix("[key]")) else { return nil }
    return "\(element).\(part)"
  }

  /// Returns the type of a collection's elements, without arguments; nil if the type is not known, or is `Any` or
  /// similar.
  func elementType(of step: Finding.Step, isKey: Bool) -> String? {
    var text = step.type[...]
    switch step.kind {
    case .array, .dictionary:
      guard text.hasPrefix("["), text.hasSuffix("]") else { return nil }
      text = text.dropFirst().dropLast()
    case .set:
      guard text.hasPrefix("Set<"), text.hasSuffix(">") else { return nil }
      text = text.dropFirst(4).dropLast()
    default: return nil
    }
    if step.kind == .dictionary {
      guard let colon = Self.colon(in: text) else { return nil }
      text = isKey ? text[..<colon] : text[text.index(after: colon)...].drop { $0 == " " }
    }
    let name = Self.plain(String(text))
    return Self.isWord(name) && !["AnyObject", "Any", "AnyHashable"].contains(name) && !text.contains(" ") ? name : nil
  }

  /// Returns the index of the colon between the types of key and value.
  private static func colon(in text: Substring) -> Substring.Index? {
    var depth = 0
    for index in text.indices {
      switch text[index] {
      case "<", "[", "(": depth += 1
      case ">", "]", ")": depth -= 1
      case ":" where depth == 0: return index
      default: break
      }
    }
    return nil
  }

  /// Returns a type's name without arguments, as in its declaration: `Relay` for `Relay<SearchScreen>`.
  static func plain(_ type: String) -> String { String(type.prefix { $0 != "<" }) }

  static func module(_ step: Finding.Step) -> String { String(step.qualifiedType.prefix { $0 != "." }) }

  /// Returns whether a name can be a name in source. Positions of elements, numbers of tuple elements and empty names
  /// cannot.
  static func isWord(_ name: some StringProtocol) -> Bool {
    guard let first = name.first else { return false }
    return (first.isLetter || first == "_" || first == "`")
      && !name.split(separator: ".").contains { $0.first?.isNumber ?? true }
  }
}
