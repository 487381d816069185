// Which names can be one name before and after somebody changed it.

extension DiffRename {
  /// Somebody may have renamed the one to the other: functions stay functions, closures closures, initialisers initialisers; of a type either the module
  /// stays or all the rest; and a generic type of the standard library stays what it is. O(length).
  var isPlausible: Bool {
    let (a, b) = (Form(old), Form(new))
    guard a.isFunction == b.isFunction, a.closures == b.closures else { return false }
    return a.isFunction ? a.role == b.role : Self.isPlausibleType(old[...], new[...])
  }

  private static func isPlausibleType(_ a: Substring, _ b: Substring) -> Bool {
    let (headA, headB) = (a.prefix { $0 != "<" }, b.prefix { $0 != "<" })
    // Fields have no owners.
    if !a.contains("."), !b.contains(".") { return true }
    let isGeneric = headA.endIndex < a.endIndex
    guard isGeneric == (headB.endIndex < b.endIndex) else { return false }
    if isGeneric, headA == headB { return true }
    let (moduleA, moduleB) = (headA.prefix { $0 != "." }, headB.prefix { $0 != "." })
    if moduleA == moduleB { return !SystemCode.isSystemModule(String(moduleA)) }
    return headA.dropFirst(moduleA.count) == headB.dropFirst(moduleB.count) && headA.count > moduleA.count
      && !SystemCode.isSystemModule(String(moduleA)) && !SystemCode.isSystemModule(String(moduleB))
  }

  /// What sort of thing a name names.
  private struct Form {
    var isFunction: Bool
    var closures: Int
    /// What a function does by its nature: `init`, `deinit`, `getter`; empty for those that people name.
    var role: Substring

    private static let roles: Set<Substring> = [
      "init", "__allocating_init", "deinit", "__deallocating_deinit", "__isolated_deallocating_deinit", "getter", "setter", "modify", "read", "willset", "didset",
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
