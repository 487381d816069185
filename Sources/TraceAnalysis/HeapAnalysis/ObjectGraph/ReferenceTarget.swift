// Checks by type whether a reference can lead to a block.

/// The possible targets of a reference, by its type.
struct ReferenceTarget {
  var kind: ReferenceField.Kind
  /// Name of the target's type.
  var typeName: String
}

extension NodeKind {
  /// Returns whether the reference's type allows a block of this kind.
  func mayBe(_ target: ReferenceTarget) -> Bool {
    switch target.kind {
    case .error: self == .error
    case .variable: self == .box || self == .closure
    case .existential: self == .object
    case .closure: isCounted && self != .error && self != .task
    case .rawPointer: true
    case .object: mayBeReferred(toBy: target.typeName)
    }
  }

  private func mayBeReferred(toBy name: String) -> Bool {
    // This is the type name of an indirect case, whose payload is in a box.
    if name == "Builtin.NativeObject" { return self == .box || self == .closure }
    guard name.hasPrefix("Swift.") else { return name.isEmpty || name.hasPrefix("Builtin.") || self == .object }
    for (prefix, kind) in Self.libraryTypes where name.hasPrefix(prefix) { return self == kind }
    return true
  }

  /// Types of the standard library whose values are a reference to one kind of object.
  private static let libraryTypes: [(prefix: String, kind: NodeKind)] = [
    ("Swift.Task<", .task), ("Swift.Array<", .array), ("Swift.ContiguousArray<", .array),
    ("Swift.Dictionary<", .dictionary), ("Swift.Set<", .set),
    ("Swift.String", .object),
  ]
}

extension ReferenceTarget {
  /// Returns whether the target may be an instance of a class. `classNames` has the names of the class and its
  /// superclasses. If it is nil or empty, the names are unknown and the result is true.
  func mayBeInstance(of classNames: [String]?) -> Bool {
    guard case .object = kind, let classNames, !classNames.isEmpty, !typeName.isEmpty, !typeName.hasPrefix("Swift."),
      !typeName.hasPrefix("Builtin.")
    else { return true }
    return classNames.contains(typeName)
  }
}
