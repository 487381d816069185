// Kinds and types of live blocks, in a Swift programmer's words.

import TraceReading

/// The contents of a block.
package enum NodeKind: UInt8, Codable, Hashable, Sendable {
  case object, closure, box, error, task, sideTable, array, dictionary, set, malloc

  /// The name in JSON.
  package var key: String {
    switch self {
    case .object: "object"
    case .closure: "closure"
    case .box: "box"
    case .error: "error"
    case .task: "task"
    case .sideTable: "sideTable"
    case .array: "array"
    case .dictionary: "dictionary"
    case .set: "set"
    case .malloc: "malloc"
    }
  }

  /// True for the storage of one of the standard library's collections.
  package var isCollection: Bool {
    switch self {
    case .array, .dictionary, .set: true
    default: false
    }
  }

  /// True if the Swift runtime counts references to blocks of this kind.
  package var isCounted: Bool {
    switch self {
    case .sideTable, .malloc: false
    default: true
    }
  }
}

/// A type of node. Blocks of one type differ only in their contents.
package struct NodeType: Hashable, Sendable {
  package var kind: NodeKind
  /// The type's name in the runtime, with modules. For malloc'd blocks: the name of the function that allocated the
  /// block.
  package var qualifiedName: String
  /// The name without modules, with Swift's short forms for collections: `[Node]`, `[String: Handler]`.
  package var name: String
  /// The type's number in the trace; 0 for blocks that are not objects.
  package var typeID: UInt32
  /// True if reflection knows the fields. Otherwise blocks are scanned for words that look like pointers.
  var isReflected = false

  package init(kind: NodeKind, qualifiedName: String, name: String, typeID: UInt32, isReflected: Bool = false) {
    self.kind = kind
    self.qualifiedName = qualifiedName
    self.name = name
    self.typeID = typeID
    self.isReflected = isReflected
  }

  /// The module that declares the type; empty if the name does not show it.
  package var module: String {
    guard kind.isCounted, let dot = qualifiedName.firstIndex(of: ".") else { return "" }
    let head = qualifiedName[..<dot]
    return head.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" } ? String(head) : ""
  }
}

/// Converts the runtime's names of types to names that a Swift programmer would write.
package enum TypeNames {
  /// Returns the name without modules: `App.Outer.Node<Swift.Int>` becomes `Outer.Node<Int>`. Linear.
  package static func unqualified(_ name: String) -> String {
    var result: [UInt8] = []
    var word: [UInt8] = []
    var isFirst = true
    func isName(_ c: UInt8) -> Bool {
      c == 95 || (48...57).contains(c) || (65...90).contains(c) || (97...122).contains(c) || c >= 128
    }
    for c in name.utf8 {
      if isName(c) {
        word.append(c)
        continue
      }
      if c == UInt8(ascii: "."), isFirst, !word.isEmpty {
        // The first name of a dotted path is the module.
        word = []
        isFirst = false
        continue
      }
      result += word
      word = []
      result.append(c)
      if c != UInt8(ascii: ".") { isFirst = true }
    }
    result += word
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns the generic arguments: for `Head<A, B<C>>`, `A` and `B<C>`.
  package static func arguments(_ name: String) -> [String] {
    guard let open = name.firstIndex(of: "<"), name.hasSuffix(">") else { return [] }
    var depth = 0
    var arguments: [String] = []
    var current = ""
    var previous: Character = " "
    for c in name[name.index(after: open)...].dropLast() {
      if c == "<" || c == "(" || c == "[" { depth += 1 }
      if c == ")" || c == "]" || (c == ">" && previous != "-") { depth -= 1 }
      if c == "," && depth == 0 {
        arguments.append(current.trimmed)
        current = ""
      } else {
        current.append(c)
      }
      previous = c
    }
    arguments.append(current.trimmed)
    return arguments
  }

  package static func type(_ type: TraceType) -> NodeType {
    let qualified = type.name
    let short = unqualified(qualified)
    func make(_ kind: NodeKind, _ name: String) -> NodeType {
      NodeType(kind: kind, qualifiedName: qualified, name: name, typeID: type.id)
    }
    switch type.kind {
    case .closureContext: return make(.closure, "closure")
    case .box: return make(.box, "box")
    case .error: return make(.error, short.isEmpty ? "error" : short)
    case .task: return make(.task, "Task")
    case .class, .other:
      if qualified.hasPrefix("Swift._ContiguousArrayStorage<") {
        return make(.array, "[\(arguments(short).first ?? "?")]")
      }
      if qualified.hasPrefix("Swift._DictionaryStorage<") {
        let parts = arguments(short)
        return make(.dictionary, "[\(parts.first ?? "?"): \(parts.dropFirst().first ?? "?")]")
      }
      if qualified.hasPrefix("Swift._SetStorage<") { return make(.set, "Set<\(arguments(short).first ?? "?")>") }
      if qualified == "Swift.__StringStorage" { return make(.object, "String storage") }
      return make(.object, short.isEmpty ? type.displayName : short)
    }
  }
}

extension String {
  fileprivate var trimmed: String {
    var text = self[...]
    while text.first == " " { text = text.dropFirst() }
    while text.last == " " { text = text.dropLast() }
    return String(text)
  }
}
