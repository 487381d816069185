// Finds words, brackets and types in a demangled Swift name.

extension SwiftNameShortener {
  /// Returns a generic clause without constraints and modules: `<A where A: Module.Protocol>` becomes `<A>`.
  func shortGenerics(_ clause: ArraySlice<UInt8>) -> [UInt8] {
    let inner = clause.dropFirst().dropLast()
    let end = firstOutside(" where ", in: inner) ?? inner.endIndex
    return [UInt8(ascii: "<")] + withoutModules(inner[..<end]) + [UInt8(ascii: ">")]
  }

  /// Returns a type without modules: leaves out the first name of each dotted path. Keeps the first name if it is a
  /// generic parameter such as `A` or `B1`, which precedes an associated type.
  func withoutModules(_ type: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var index = type.startIndex
    var isPathStart = true
    while index < type.endIndex {
      let byte = type[index]
      if Self.endsIdentifier[Int(byte)] || isOperator(byte) {
        if byte == UInt8(ascii: "(") {
          if type[index...].starts(with: Array("(extension in ".utf8)),
            let end = firstIndex(of: "):", in: type[index...])
          {
            index = end + 2
            continue
          }
          if let name = privateName(type[index...]) {
            result += name.text
            index = name.end
            isPathStart = false
            continue
          }
        }
        result.append(byte)
        isPathStart = byte != UInt8(ascii: ".")
        index += 1
        continue
      }
      var end = index
      while end < type.endIndex, !Self.endsIdentifier[Int(type[end])], !isOperator(type[end]) { end += 1 }
      let word = type[index..<end]
      let isPath =
        end < type.endIndex && type[end] == UInt8(ascii: ".") && end + 1 < type.endIndex && !isOperator(type[end + 1])
      if isPathStart, isPath, !isParameter(word) {
        index = end + 1
        isPathStart = false
      } else {
        result += word
        index = end
        isPathStart = false
      }
    }
    return result
  }

  /// Returns the name in `(name in _discriminator)`, and the index after the closing parenthesis.
  func privateName(_ slice: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, end: Int)? {
    let name = slice.dropFirst().prefix { !Self.endsIdentifier[Int($0)] }
    guard !name.isEmpty, slice[name.endIndex...].starts(with: Array(" in _".utf8)) else { return nil }
    let discriminator = slice[(name.endIndex + 4)...].prefix { !Self.endsIdentifier[Int($0)] }
    guard discriminator.endIndex < slice.endIndex, slice[discriminator.endIndex] == UInt8(ascii: ")") else {
      return nil
    }
    return (name, discriminator.endIndex + 1)
  }

  func isParameter(_ word: ArraySlice<UInt8>) -> Bool {
    guard let first = word.first, first >= UInt8(ascii: "A"), first <= UInt8(ascii: "Z") else { return false }
    return word.dropFirst().allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }

  static let endsIdentifier: [Bool] = {
    var table = [Bool](repeating: false, count: 256)
    for byte in " .<>()[]{},:;\"'?!&@=-".utf8 { table[Int(byte)] = true }
    return table
  }()

  static let operators: [Bool] = {
    var table = [Bool](repeating: false, count: 256)
    for byte in "/=-+!*%<>&|^~?.".utf8 { table[Int(byte)] = true }
    return table
  }()

  func isOperator(_ byte: UInt8) -> Bool { Self.operators[Int(byte)] }

  func take(_ prefix: String, from rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.starts(with: prefix.utf8) else { return false }
    rest = rest.dropFirst(prefix.utf8.count)
    return true
  }

  func firstIndex(of needle: String, in slice: ArraySlice<UInt8>) -> Int? {
    let needle = Array(needle.utf8)
    var start = slice.startIndex
    while start + needle.count <= slice.endIndex, let found = slice[start...].firstIndex(of: needle[0]) {
      if slice[found...].starts(with: needle) { return found }
      start = found + 1
    }
    return nil
  }

  func lastIndex(of needle: String, in slice: ArraySlice<UInt8>) -> Int? {
    let needle = Array(needle.utf8)
    var start = slice.endIndex - needle.count
    while start >= slice.startIndex {
      if slice[start...].starts(with: needle) { return start }
      start -= 1
    }
    return nil
  }

  /// Calls `body` with each index outside all brackets, and with the index after each outermost closing bracket. Stops
  /// when `body` returns `true`.
  func scan(_ slice: ArraySlice<UInt8>, _ body: (_ index: Int, _ depth: Int) -> Bool) {
    var depth = 0
    var index = slice.startIndex
    while index < slice.endIndex {
      let byte = slice[index]
      if byte == UInt8(ascii: "."), index + 1 < slice.endIndex, isOperator(slice[index + 1]), index > slice.startIndex {
        // Skip the name of an operator, which may contain angle brackets.
        index += 1
        while index < slice.endIndex, isOperator(slice[index]) { index += 1 }
        continue
      }
      switch byte {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "<"):
        if depth == 0, body(index, 0) { return }
        depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ">"):
        let isArrow = byte == UInt8(ascii: ">") && index > slice.startIndex && slice[index - 1] == UInt8(ascii: "-")
        if !isArrow {
          depth -= 1
          if depth <= 0 {
            depth = 0
            if body(index + 1, 0) { return }
          }
        }
      default:
        if depth == 0, body(index, 0) { return }
      }
      index += 1
    }
  }

  /// Returns the index after the closing bracket for the opening bracket at the start of `slice`; nil if there is none.
  func endOfBracket(_ slice: ArraySlice<UInt8>) -> Int? {
    var result: Int?
    var isOpen = false
    scan(slice) { index, _ in
      if index == slice.startIndex {
        isOpen = true
        return false
      }
      if isOpen { result = index }
      return true
    }
    return result
  }

  /// Returns the first index of `needle` outside all brackets.
  func firstOutside(_ needle: String, in slice: ArraySlice<UInt8>) -> Int? {
    let needle = Array(needle.utf8)
    var result: Int?
    scan(slice) { index, _ in
      guard index < slice.endIndex, slice[index] == needle[0], slice[index...].starts(with: needle) else {
        return false
      }
      result = index
      return true
    }
    return result
  }
}
