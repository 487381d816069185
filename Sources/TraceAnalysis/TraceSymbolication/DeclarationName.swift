// Reads demangled names of declarations.

/// Reads demangled names, without their arguments, as the compiler writes them.
package enum DeclarationName {
  /// Returns whether a function is an initialiser of a type. `type` is the type's name without arguments.
  package static func isInitialiser(_ function: String, of type: Substring) -> Bool {
    guard let dot = function.range(ofInitialiser: ()) else { return false }
    let owner = function[..<dot]
    return owner == type || owner.hasSuffix(".\(type)") || owner.hasSuffix(" \(type)") || owner.hasPrefix("\(type)<")
  }

  /// Returns whether a function is an initialiser of any type.
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
  /// Returns the index of ` in _` if 32 hexadecimal digits follow it up to the end.
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
  /// Returns the index of `.init(` or `.__allocating_init(`.
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
