// Names the variables in a closure's context. The context itself contains only the variables' values.

/// A variable that a closure captured, as debug information describes it.
package struct CapturedVariable: Hashable, Sendable {
  /// The name in the source, such as `self` or `owner`.
  package var name: String
  /// The demangled type, with all modules; `nil` if it is not known.
  package var typeName: String?
  /// The number of bytes in the closure's context. For a boxed variable, the size of the reference to the box. `nil` if
  /// the size depends on generic parameters.
  package var size: Int?
  /// True if the closure shares the variable with other code. The context then has a reference to the variable's box.
  var isBoxed: Bool

  package init(name: String, typeName: String?, size: Int?, isBoxed: Bool) {
    self.name = name
    self.typeName = typeName
    self.size = size
    self.isBoxed = isBoxed
  }
}

/// The variables that a closure captured, in the order of the closure's context.
package struct ClosureCaptures: Hashable, Sendable {
  package var variables: [CapturedVariable]
  /// True if metadata of generic parameters may precede the variables in the context.
  package var isGeneric: Bool

  package init(variables: [CapturedVariable], isGeneric: Bool) {
    self.variables = variables
    self.isGeneric = isGeneric
  }

  private static let headerSize = 16
  /// Maximum number of words for generic parameters and conformances in a context. No real context has more.
  private static let bindingLimit = 16

  /// Returns the variable that contains a reference at `offset` of the context; `nil` if the answer might be wrong.
  ///
  /// If all sizes are known, finds the variable by its offset. The sizes must then add up to `contextSize`. If a size
  /// is unknown, finds the variable by its type. No other variable may then have the same type. O(variables).
  ///
  /// - Parameters:
  ///   - typeName: the type of the reference; empty if unknown.
  ///   - contextSize: the bytes of the context, including its header.
  ///   - isPart: true if the reference is only a part of the variable's value. The variable then has another type.
  package func variable(at offset: Int, typeName: String, contextSize: Int, isPart: Bool = false) -> CapturedVariable? {
    let head = isPart ? "" : Self.head(of: typeName)
    guard variables.allSatisfy({ $0.size != nil }) else {
      // If a size is unknown, only the type can identify the variable.
      let fitting = variables.filter { !$0.isBoxed && !head.isEmpty && $0.head == head }
      return fitting.count == 1 ? fitting[0] : nil
    }
    guard let start = start(inContextOf: contextSize) else { return nil }
    var end = start
    for variable in variables {
      let size = variable.size ?? 0
      let place = Self.aligned(end, for: size)
      end = place + size
      guard offset < end else { continue }
      guard offset >= place else { return nil }
      // If another variable has this type, the assumed order of the variables is wrong.
      if !variable.isBoxed, !head.isEmpty, variable.head != head, variables.contains(where: { $0.head == head }) {
        return nil
      }
      return variable
    }
    return nil
  }

  /// Returns the offset of the first variable. In a generic closure, bindings precede the first variable. Returns `nil`
  /// unless the bindings and the variables exactly fill the context.
  private func start(inContextOf contextSize: Int) -> Int? {
    for bindings in 0...(isGeneric ? Self.bindingLimit : 0) {
      let start = Self.headerSize + 8 * bindings
      var end = start
      for variable in variables {
        let size = variable.size ?? 0
        end = Self.aligned(end, for: size) + size
        if end > contextSize { return nil }
      }
      if end == contextSize { return start }
    }
    return nil
  }

  /// Returns the first offset from `offset` on where a value of this size may begin. Debug information has no
  /// alignments, so values of eight bytes or more are assumed to be aligned to eight bytes.
  private static func aligned(_ offset: Int, for size: Int) -> Int {
    let alignment = size == 0 ? 1 : size >= 8 ? 8 : min(8, size & -size)
    return (offset + alignment - 1) & -alignment
  }

  /// Returns the head of a type's name: `Cache` for `weak M.Cache<Swift.Int>?`. Only the head is compared, since
  /// arguments and contexts may be written in several ways.
  fileprivate static func head(of typeName: String) -> Substring {
    let plain = ReferentName.of(typeName).name
    var name = plain[...]
    while name.hasSuffix("?") { name = name.dropLast() }
    name = name.prefix { $0 != "<" }
    // The name of a private type is in parentheses, with a discriminator.
    if let open = name.lastIndex(of: "("), let end = name[open...].range(of: " in ") {
      return name[name.index(after: open)..<end.lowerBound]
    }
    if name.contains(" ") || name.contains("(") { return "" }
    if let dot = name.lastIndex(of: ".") { name = name[name.index(after: dot)...] }
    return name
  }
}

extension CapturedVariable {
  fileprivate var head: Substring { typeName.map(ClosureCaptures.head) ?? "" }
}

extension Substring {
  fileprivate func range(of text: String) -> Range<Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<index(start, offsetBy: text.count) }
      start = index(after: start)
    }
    return nil
  }
}

/// Parses the linker names and demangled names of closures.
enum ClosureName {
  /// Returns the linker name of the specialised closure that a reabstraction thunk calls. The thunk has the parameters
  /// of the generic closure. Returns all other names unchanged.
  static func withoutReabstraction(_ mangled: String) -> String {
    mangled.hasSuffix("_TG5") ? mangled.dropLast(4) + "_Tg5" : mangled
  }

  /// Returns the number of parameters of a closure or local function, given a name such as `closure #1 (Swift.Int) ->
  /// () in f()`. Returns `nil` for other names. O(length).
  static func parameterCount(_ demangled: String) -> Int? {
    let bytes = Array(demangled.utf8)
    guard let number = numberOfLocalFunction(bytes) else { return nil }
    var index = number
    var depth = 0
    var count = 0
    var isEmpty = true
    var start: Int?
    while index < bytes.count {
      let byte = bytes[index]
      let isArrow = byte == UInt8(ascii: ">") && index > 0 && bytes[index - 1] == UInt8(ascii: "-")
      switch byte {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "<"):
        if depth == 0, byte == UInt8(ascii: "("), start == nil {
          start = index
        } else if start != nil {
          isEmpty = false
        }
        depth += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: ">"):
        if isArrow { break }
        depth -= 1
        if depth < 0 { return nil }
        if depth == 0, start != nil { return isEmpty ? 0 : count + 1 }
      case UInt8(ascii: ","):
        if depth == 1, start != nil { count += 1 }
      default:
        if start != nil { isEmpty = false }
      }
      index += 1
    }
    return nil
  }

  /// Returns the index after a number such as `#1`. Skips angle brackets, which may contain the arguments of a
  /// specialization.
  private static func numberOfLocalFunction(_ bytes: [UInt8]) -> Int? {
    var depth = 0
    for index in bytes.indices {
      switch bytes[index] {
      case UInt8(ascii: "<"): depth += 1
      case UInt8(ascii: ">"): if index == 0 || bytes[index - 1] != UInt8(ascii: "-") { depth -= 1 }
      case UInt8(ascii: "#") where depth == 0:
        var end = index + 1
        while end < bytes.count, bytes[end] >= UInt8(ascii: "0"), bytes[end] <= UInt8(ascii: "9") { end += 1 }
        return end > index + 1 ? end : nil
      default: break
      }
    }
    return nil
  }

  /// Returns for each of the last `count` parameters whether the compiler replaced a variable's box by the variable's
  /// value. The compiler does so if no code writes to the variable after its capture.
  static func promoted(_ mangled: String, last count: Int) -> [Bool] {
    var result = [Bool](repeating: false, count: count)
    let bytes = Array(mangled.utf8)
    let mark = Array("Tf2".utf8)
    guard bytes.count > 3, let found = bytes.indices.dropLast(3).last(where: { bytes[$0...].starts(with: mark) }) else {
      return result
    }
    let letters = bytes[(found + 3)...].prefix { $0 != UInt8(ascii: "_") }.filter { $0 >= UInt8(ascii: "a") }
    for (place, letter) in zip(result.indices.reversed(), letters.reversed()) {
      result[place] = letter == UInt8(ascii: "i")
    }
    return result
  }
}
