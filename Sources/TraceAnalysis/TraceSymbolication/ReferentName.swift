// Derives the name of a reference's target from the name of the reference's type.

package enum ReferentName {
  /// Generic types whose values are a reference or nothing.
  private static let wrappers = ["Swift.Optional<", "Swift.Unmanaged<"]

  /// Returns the target's name in the form of the recorder's type names. Names of private types lose their file. The
  /// name is `M.C` for `Swift.Unmanaged<M.C>` and `weak Swift.Optional<M.C>`. For a captured variable, as in `<A> { var
  /// A } <M.C>`, it is the type between the braces.
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
    // Remove wrappers. If more text follows the wrapper, as in a function type, the name does not end with the
    // wrapper's bracket.
    while name.hasSuffix(">"), let wrapper = wrappers.first(where: { name.hasPrefix($0) }) {
      name = name.dropFirst(wrapper.count).dropLast()
    }
    return (withoutFiles(String(name)), isVariable)
  }

  /// Returns a name without the files of private types: `M.(C in _0E5D…)` becomes `M.C`. In optimised programs, an
  /// address in the program replaces the file, as in `M.(C in $5628…)`. Linear.
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
  /// Returns the range of the first or the last occurrence of a text.
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
