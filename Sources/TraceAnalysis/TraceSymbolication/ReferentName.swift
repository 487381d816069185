// The name of a reference's target, taken from the name of the reference's type.

package enum ReferentName {
  /// Wrappers whose values are a reference or nothing.
  private static let wrappers = ["Swift.Optional<", "Swift.Unmanaged<"]

  /// The target's name, as the recorder names types, private ones without their files. It is `M.C` for
  /// `Swift.Unmanaged<M.C>` and `weak Swift.Optional<M.C>`. For a captured variable, `<A> { var A } <M.C>`, the type is
  /// between the braces.
  package static func of(_ typeName: String) -> (name: String, isVariable: Bool) {
    var name = Substring(typeName)
    var isVariable = false
    if name.hasSuffix(">"), let open = name.range(of: "{ "), let close = name.range(of: " }", backwards: true),
      open.upperBound <= close.lowerBound,
      name[open.upperBound...].hasPrefix("var ") || name[open.upperBound...].hasPrefix("let ")
    {
      name = name[open.upperBound..<close.lowerBound].dropFirst(4)
      isVariable = true
    }
    for prefix in ["weak ", "unowned(unsafe) ", "unowned "] where name.hasPrefix(prefix) {
      name = name.dropFirst(prefix.count)
    }
    // A name with more behind the wrapper's end, such as a function's, does not end in its bracket.
    while name.hasSuffix(">"), let wrapper = wrappers.first(where: { name.hasPrefix($0) }) {
      name = name.dropFirst(wrapper.count).dropLast()
    }
    return (withoutFiles(String(name)), isVariable)
  }

  /// `M.(C in _0E5D…)`, a private class of one of the module's files, is `M.C`. Optimised programs have `M.(C in
  /// $5628…)`: the file has no name, but a place in the program. Linear.
  package static func withoutFiles(_ typeName: String) -> String {
    var result = ""
    var rest = typeName[...]
    while let open = rest.firstIndex(of: "(") {
      let inner = rest[rest.index(after: open)...]
      guard let space = inner.firstIndex(where: { $0 == " " || $0 == "(" || $0 == ")" }), space > inner.startIndex,
        inner[space...].hasPrefix(" in _") || inner[space...].hasPrefix(" in $"),
        let close = inner[space...].firstIndex(of: ")"),
        inner[space..<close].dropFirst(5).allSatisfy(\.isHexDigit)
      else {
        result += rest[...open]
        rest = inner
        continue
      }
      result += rest[..<open] + inner[..<space]
      rest = inner[inner.index(after: close)...]
    }
    return result + rest
  }
}

extension Substring {
  /// Returns the place of a text in this one, first or last.
  fileprivate func range(of text: String, backwards: Bool = false) -> Range<Index>? {
    let pattern = Array(text.utf8)
    let bytes = Array(utf8)
    guard bytes.count >= pattern.count else { return nil }
    let starts = 0...(bytes.count - pattern.count)
    func matches(_ start: Int) -> Bool { bytes[start..<start + pattern.count].elementsEqual(pattern) }
    guard let start = backwards ? starts.last(where: matches) : starts.first(where: matches) else { return nil }
    return utf8.index(startIndex, offsetBy: start)..<utf8.index(startIndex, offsetBy: start + pattern.count)
  }
}
