// Decides which pairs of names can be a rename.

import TraceSymbolication

extension DiffRename {
  /// Whether a developer may have renamed the old name to the new one. A function stays a function, a closure a
  /// closure, and an initialiser an initialiser. For a type, either the module or everything else stays the same. Types
  /// of the platform are not renamed, but their generic arguments may be. O(length).
  var isPlausible: Bool {
    let (a, b) = (Form(old), Form(new))
    guard a.isFunction == b.isFunction, a.closures == b.closures else { return false }
    return a.isFunction ? a.role == b.role : Self.isPlausibleType(old[...], new[...])
  }

  /// The share of the longer name's letters that both names have in the same order, from 0 to 1. If only the owners
  /// differ, it is more than 1. O(length²).
  var resemblance: Double {
    let (lastOld, lastNew) = (old.split(separator: ".").last, new.split(separator: ".").last)
    if lastOld == lastNew { return 1.32 }
    let (a, b) = (Array(old.utf8.prefix(200)), Array(new.utf8.prefix(200)))
    guard !a.isEmpty, !b.isEmpty else { return 0 }
    return Double(CommonSubsequence.length(a, b)) / Double(max(a.count, b.count))
  }

  static func isFunction(_ name: String) -> Bool { Form(name).isFunction }

  /// Returns the type that a function belongs to, according to its name; empty if there is none.
  static func owner(of function: String) -> Substring {
    var rest = function[...]
    while let range = rest.firstRange(of: " in ") { rest = rest[range.upperBound...] }
    for word in ["static ", "closure "] where rest.hasPrefix(word) { rest = rest.dropFirst(word.count) }
    let base = rest.prefix { $0 != "(" && $0 != "<" }
    guard let dot = base.lastIndex(of: ".") else { return "" }
    let owner = base[..<dot]
    // `Type.property.getter` belongs to the type.
    let role = base[base.index(after: dot)...]
    guard ["getter", "setter", "modify", "read"].contains(role), let inner = owner.lastIndex(of: ".") else {
      return owner
    }
    return owner[..<inner]
  }

  /// Returns whether `name` is the type's whole name, or its last parts.
  static func isName(_ name: Substring, endOf type: String) -> Bool { type == name || type.hasSuffix("." + name) }

  private static func isPlausibleType(_ a: Substring, _ b: Substring) -> Bool {
    let (headA, headB) = (a.prefix { $0 != "<" }, b.prefix { $0 != "<" })
    // Names without a dot are fields, which may get any name.
    if !a.contains("."), !b.contains(".") { return true }
    let isGeneric = headA.endIndex < a.endIndex
    guard isGeneric == (headB.endIndex < b.endIndex) else { return false }
    if isGeneric, headA == headB { return true }
    let (moduleA, moduleB) = (headA.prefix { $0 != "." }, headB.prefix { $0 != "." })
    if moduleA == moduleB { return !SystemCode.isSystemModule(String(moduleA)) }
    return headA.dropFirst(moduleA.count) == headB.dropFirst(moduleB.count) && headA.count > moduleA.count
      && !SystemCode.isSystemModule(String(moduleA)) && !SystemCode.isSystemModule(String(moduleB))
  }

  /// The grammatical form of a name.
  private struct Form {
    var isFunction: Bool
    var closures: Int
    /// The role of a function whose name the language defines: `init`, `deinit`, `getter`. Empty for all other
    /// functions.
    var role: Substring

    private static let roles: Set<Substring> = [
      "init", "__allocating_init", "deinit", "__deallocating_deinit", "__isolated_deallocating_deinit", "getter",
      "setter", "modify", "read", "willset", "didset",
      "subscript", "unsafeAddressor", "unsafeMutableAddressor",
    ]

    init(_ name: String) {
      var rest = name[...]
      closures = 0
      while let range = rest.firstRange(of: "closure ") {
        closures += 1
        rest = rest[range.upperBound...]
      }
      if let range = rest.firstRange(of: " in ") { rest = rest[range.upperBound...] }
      let base = rest.prefix { $0 != "(" }
      let last = base.lastIndex(of: ".").map { base[base.index(after: $0)...] } ?? base
      role = Self.roles.contains(last.prefix { $0 != "<" }) ? last.prefix { $0 != "<" } : ""
      isFunction = closures > 0 || !role.isEmpty || name.contains("(")
    }
  }
}
