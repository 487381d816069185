// Whether a reference of a type can lead to a block, by what the two are.

/// How well a reference of some type fits what a word leads to.
enum ReferenceFit {
  case never, possibly
}

extension NodeKind {
  /// Whether the reference's type allows for a block of this kind.
  func mayBeTarget(of reference: NodeLayout.Reference) -> Bool {
    switch reference.kind {
    case .error: self == .error
    case .variable: self == .box || self == .closure
    case .existential: self == .object
    case .closure: isCounted && self != .error && self != .task
    case .rawPointer: true
    case .object: mayBeTarget(ofTypeNamed: reference.typeName)
    }
  }

  private func mayBeTarget(ofTypeNamed name: String) -> Bool {
    // The payload of an indirect case stands in a box.
    if name == "Builtin.NativeObject" { return self == .box || self == .closure }
    guard name.hasPrefix("Swift.") else { return name.isEmpty || name.hasPrefix("Builtin.") || self == .object }
    for (prefix, kind) in Self.libraryTypes where name.hasPrefix(prefix) { return self == kind }
    return true
  }

  /// Types of the standard library that are a reference to one kind of object.
  private static let libraryTypes: [(prefix: String, kind: NodeKind)] = [
    ("Swift.Task<", .task), ("Swift.Array<", .array), ("Swift.ContiguousArray<", .array), ("Swift.Dictionary<", .dictionary), ("Swift.Set<", .set),
    ("Swift.String", .object),
  ]
}

extension NodeLayout.Reference {
  /// Whether it may lead to an instance of a class that has these names, by itself and by its superclasses; nil and none where they are not known.
  func mayLead(toInstanceOf classNames: [String]?) -> Bool {
    guard case .object = kind, let classNames, !classNames.isEmpty, !typeName.isEmpty, !typeName.hasPrefix("Swift."), !typeName.hasPrefix("Builtin.") else { return true }
    return classNames.contains(typeName)
  }
}
