// Demangled names of declarations.

/// Reads demangled names, without their arguments, as the compiler writes them.
package enum DeclarationName {
  /// An initialiser of a type, given by its name without arguments.
  package static func isInitialiser(_ function: String, of type: Substring) -> Bool {
    guard let dot = function.range(ofInitialiser: ()) else { return false }
    let owner = function[..<dot]
    return owner == type || owner.hasSuffix(".\(type)") || owner.hasSuffix(" \(type)") || owner.hasPrefix("\(type)<")
  }

  /// An initialiser of some type.
  package static func isInitialiser(_ function: String) -> Bool { function.range(ofInitialiser: ()) != nil }

  /// Returns the name without the compiler's marks of private names: `(entries in _48EE…)` becomes `entries`.
  package static func withoutDiscriminators(_ name: String) -> String {
    var result = ""
    var rest = name[...]
    while let open = rest.firstIndex(of: "(") {
      let inner = rest[rest.index(after: open)...]
      guard let close = inner.firstIndex(of: ")"), let range = inner[..<close].firstRange(ofDiscriminator: ()) else {
        result += rest[...open]
        rest = inner
        continue
      }
      result += rest[..<open] + inner[..<range]
      rest = rest[rest.index(after: close)...]
    }
    return result + rest
  }
}

extension Substring {
  /// Returns the beginning of ` in _` and hexadecimal digits to the end.
  fileprivate func firstRange(ofDiscriminator: Void) -> String.Index? {
    var index = startIndex
    while index < endIndex {
      if self[index...].hasPrefix(" in _") {
        let digits = self[self.index(index, offsetBy: 5)...]
        return digits.count == 32 && digits.allSatisfy(\.isHexDigit) ? index : nil
      }
      index = self.index(after: index)
    }
    return nil
  }
}

extension String {
  /// Returns the place of `.init(` or `.__allocating_init(`.
  fileprivate func range(ofInitialiser: Void) -> String.Index? {
    for marker in [".__allocating_init(", ".init("] {
      var index = startIndex
      while let dot = self[index...].firstIndex(of: ".") {
        if self[dot...].hasPrefix(marker) { return dot }
        index = self.index(after: dot)
      }
    }
    return nil
  }
}
