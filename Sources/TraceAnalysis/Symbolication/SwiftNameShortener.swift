// Makes the short form of a demangled Swift name, and learns from it what kind of function it names.

/// Reads the text that the Swift demangler gives for one symbol.
///
/// The demangler's text has a shape that can be taken apart without knowing Swift: wrappers such as `partial apply forwarder for …`, around
/// entities such as `closure #1 () -> () in Module.Type.method(label: Type) -> Type`. What has another shape is kept as it is.
/// O(length), but for wrappers within wrappers, of which real names have a handful.
struct SwiftNameShortener {
  private(set) var module: String?
  private(set) var isThunk = false
  private(set) var isMerged = false
  private(set) var isAsync = false
  private(set) var asyncPart: SourceFrame.AsyncPart?

  private let full: String
  private let text: [UInt8]
  private let droppedModules: Set<String>
  private var isSpecialized = false
  private var output: [UInt8] = []

  init(_ full: String, droppedModules: Set<String>) {
    self.full = full
    self.droppedModules = droppedModules
    text = Array(full.utf8)
  }

  /// The short form; `full` itself if it has no shape that is known. Call once.
  mutating func shorten() -> String {
    var rest = text[...]
    if let suffix = firstIndex(of: " with unmangled suffix ", in: rest) { rest = rest[..<suffix] }
    readWrapped(&rest)
    return output.isEmpty ? full : String(decoding: output, as: UTF8.self)
  }

  // MARK: Wrappers

  /// Wrappers around an entity, what the short form has in their place, and whether they are nobody's source code.
  private static let wrappers: [(text: [UInt8], short: [UInt8], isThunk: Bool)] = [
    ("partial apply forwarder for ", "partial apply for ", true), ("partial apply ObjC forwarder for ", "partial apply for ", true),
    ("dispatch thunk of ", "dispatch thunk of ", true), ("curry thunk of ", "curry thunk of ", true),
    ("vtable thunk for ", "vtable thunk for ", true), ("method lookup function for ", "method lookup function for ", true),
    ("distributed thunk ", "distributed thunk ", true), ("distributed accessor for ", "distributed accessor for ", true),
    ("back deployment thunk for ", "back deployment thunk for ", true), ("back deployment fallback for ", "", false),
    ("key path getter for ", "key path getter for ", true), ("key path setter for ", "key path setter for ", true),
    ("key path equality for ", "key path equality for ", true), ("key path hash for ", "key path hash for ", true),
    ("async function pointer to ", "async function pointer to ", true), ("@objc completion handler block implementation for ", "", true),
    ("@objc ", "@objc ", true), ("@nonobjc ", "", true), ("dynamic ", "", false), ("super ", "", false),
    ("one-time initialization function for ", "one-time initialization function for ", false),
    ("variable initialization expression of ", "variable initialization expression of ", false),
    ("property wrapper backing initializer of ", "property wrapper backing initializer of ", false),
    ("property wrapper init accessor of ", "property wrapper init accessor of ", false),
    ("default argument ", "default argument ", false),
  ].map { (Array($0.0.utf8), Array($0.1.utf8), $0.2) }

  /// Functions that the compiler makes for types. The text after `of`, `for` or `from` is a type or an entity.
  private static let artifacts: [[UInt8]] = [
    "type metadata accessor for ", "type metadata completion function for ", "type metadata instantiation function for ",
    "type metadata instantiation cache for ", "lazy protocol witness table accessor for type ",
    "lazy protocol witness table cache variable for type ", "instantiation function for generic protocol witness table for ",
    "base witness table accessor for ", "associated type witness table accessor for ", "associated type metadata accessor for ",
    "associated conformance descriptor for ", "default associated conformance accessor for ", "protocol witness table accessor for ",
    "generic protocol witness table for ", "metadata instantiation cache for ", "canonical specialized generic type metadata accessor for ",
    "canonical prespecialized generic type caching token for ", "noncanonical specialized generic type metadata for ", "pack expansion ",
    "coroutine continuation prototype for ", "implicit conversion of ", "bridged ", "mutating partial apply ", "reverse-mode ",
    "forward-mode ", "autodiff ", "global initialization token ", "opaque type descriptor accessor ", "block copy helper ", "block destroy helper ",
  ].map { Array($0.utf8) }

  private static let specializations: [[UInt8]] = [
    "generic specialization <", "generic not re-abstracted specialization <", "generic partial specialization <",
    "generic partial not-reabstracted specialization <", "generic pre-specialization <", "inlined generic function <",
    "function signature specialization <", "generic not-reabstracted specialization <",
  ].map { Array($0.utf8) }

  private mutating func readWrapped(_ rest: inout ArraySlice<UInt8>) {
    while !rest.isEmpty {
      if take("merged ", from: &rest) {
        isMerged = true
      } else if takeAsyncPart(&rest) {
        isAsync = true
      } else if let opening = Self.specializations.first(where: { rest.starts(with: $0) }) {
        rest = rest.dropFirst(opening.count - 1)
        guard skipSpecializationArguments(&rest) else { return }
        if !isSpecialized { output += Array("specialized ".utf8) }
        isSpecialized = true
      } else if take("protocol witness for ", from: &rest) {
        return readWitness(&rest)
      } else if take("reabstraction thunk helper ", from: &rest) || take("reabstraction thunk ", from: &rest) {
        return readReabstraction(&rest)
      } else if let wrapper = Self.wrappers.first(where: { rest.starts(with: $0.text) }) {
        rest = rest.dropFirst(wrapper.text.count)
        output += wrapper.short
        isThunk = isThunk || wrapper.isThunk
        if wrapper.text.starts(with: Array("default argument ".utf8)), let of = firstIndex(of: " of ", in: rest) {
          output += rest[..<(of + 4)]
          rest = rest[(of + 4)...]
        }
      } else if let artifact = Self.artifacts.first(where: { rest.starts(with: $0) }) {
        rest = rest.dropFirst(artifact.count)
        output += artifact
        isThunk = true
        // `: Protocol in Module` says which conformance is meant.
        output += withoutModules(rest[..<(firstOutside(" : ", in: rest) ?? rest.endIndex)])
        return
      } else if rest.starts(with: Array("outlined ".utf8)) {
        isThunk = true
        output += withoutModules(rest)
        return
      } else if let witness = firstIndex(of: " value witness for ", in: rest), !rest[..<witness].contains(UInt8(ascii: ".")) {
        isThunk = true
        output += rest[..<witness] + Array(" for ".utf8) + withoutModules(rest[(witness + 19)...])
        return
      } else {
        return readEntity(rest)
      }
    }
  }

  /// `(2) await resume partial function for ` and `(1) suspend resume partial function for `.
  private mutating func takeAsyncPart(_ rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.first == UInt8(ascii: "("), let close = rest.prefix(12).firstIndex(of: UInt8(ascii: ")")),
      let index = Int(String(decoding: rest[(rest.startIndex + 1)..<close], as: UTF8.self))
    else { return false }
    var after = rest[(close + 1)...]
    if take(" await resume partial function for ", from: &after) {
      asyncPart = asyncPart ?? .afterAwait(index: index)
    } else if take(" suspend resume partial function for ", from: &after) {
      asyncPart = asyncPart ?? .afterSuspension(index: index)
    } else {
      return false
    }
    rest = after
    return true
  }

  /// Skips `<…> of `. Propagated string constants may hold brackets of their own; then the first `> of ` ends it.
  private func skipSpecializationArguments(_ rest: inout ArraySlice<UInt8>) -> Bool {
    if let end = endOfBracket(rest) {
      var after = rest[end...]
      if take(" of ", from: &after) {
        rest = after
        return true
      }
    }
    guard let end = firstIndex(of: "> of ", in: rest) else { return false }
    rest = rest[(end + 5)...]
    return true
  }

  private mutating func readWitness(_ rest: inout ArraySlice<UInt8>) {
    isThunk = true
    output += Array("protocol witness for ".utf8)
    guard let separator = firstOutside(" in conformance ", in: rest) else { return readEntity(rest) }
    readEntity(rest[..<separator])
    output += Array(" in conformance ".utf8)
    var type = rest[(separator + 16)...]
    if let colon = firstOutside(" : ", in: type) { type = type[..<colon] }
    output += withoutModules(type)
    // The witness was written where the conformance is; the requirement's module says nothing about that.
    if let place = lastIndex(of: " in ", in: rest) { module = String(decoding: rest[(place + 4)...], as: UTF8.self) }
  }

  private mutating func readReabstraction(_ rest: inout ArraySlice<UInt8>) {
    isThunk = true
    while rest.first == UInt8(ascii: "<"), let end = endOfBracket(rest) { rest = rest[end...].drop { $0 == UInt8(ascii: " ") } }
    _ = take("from ", from: &rest)
    let end = firstOutside(" to ", in: rest) ?? rest.endIndex
    output += Array("thunk for ".utf8) + withoutModules(rest[..<end])
  }

  // MARK: Entities

  /// `inner in outer in …`, each a path of names.
  private mutating func readEntity(_ entity: ArraySlice<UInt8>) {
    var rest = entity
    var parts = 0
    while true {
      let separator = firstOutside(" in ", in: rest)
      let part = rest[..<(separator ?? rest.endIndex)]
      if parts > 0 { output += Array(" in ".utf8) }
      readPart(part, isOutermost: separator == nil)
      parts += 1
      guard let separator else { break }
      rest = rest[(separator + 4)...]
    }
  }

  private mutating func readPart(_ part: ArraySlice<UInt8>, isOutermost: Bool) {
    var rest = part
    for closure in ["closure #", "implicit closure #"] where rest.starts(with: Array(closure.utf8)) {
      let number = rest.dropFirst(closure.utf8.count).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      output += rest[..<number.endIndex]
      noteEffects(rest[number.endIndex...])
      return
    }
    if take("static ", from: &rest) { output += Array("static ".utf8) }
    let owner = takeExtension(&rest)
    var isFirst = true
    while !rest.isEmpty {
      let component = takeComponent(&rest)
      // An anonymous private context has a discriminator and no name.
      if component.text.starts(with: Array("in _".utf8)), rest.first == UInt8(ascii: ".") {
        rest = rest.dropFirst()
        continue
      }
      let isModule = isFirst && rest.first == UInt8(ascii: ".") && component.isIdentifier
      isFirst = false
      if isModule {
        let name = String(decoding: component.text, as: UTF8.self)
        if isOutermost { module = owner ?? name }
        if name == "Swift" || name == "__C" || name == "__C_Synthesized" || droppedModules.contains(name) {
          rest = rest.dropFirst()
          _ = takeExtension(&rest)
          continue
        }
      }
      output += component.text
      if rest.first == UInt8(ascii: "<"), let end = endOfBracket(rest) {
        output += shortGenerics(rest[..<end])
        rest = rest[end...]
      }
      if rest.first == UInt8(ascii: ".") {
        output.append(UInt8(ascii: "."))
        rest = rest.dropFirst()
        continue
      }
      break
    }
    readDiscriminatorAndArguments(rest)
  }

  /// What follows the path: ` #1 ` of a local entity, ` infix` of an operator, generic parameters, arguments, and a type that is dropped.
  private mutating func readDiscriminatorAndArguments(_ text: ArraySlice<UInt8>) {
    var rest = text
    for fixity in [" infix", " prefix", " postfix"] where take(fixity, from: &rest) { output += Array(fixity.utf8) }
    if rest.starts(with: Array(" #".utf8)) {
      let number = rest.dropFirst(2).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      output += rest[..<number.endIndex]
      rest = rest[number.endIndex...]
      if rest.starts(with: Array(" (".utf8)) || rest.starts(with: Array(" <".utf8)) {
        output.append(UInt8(ascii: " "))
        rest = rest.dropFirst()
      }
    }
    if rest.first == UInt8(ascii: "<"), let end = endOfBracket(rest) {
      output += shortGenerics(rest[..<end])
      rest = rest[end...]
    }
    guard rest.first == UInt8(ascii: "("), let end = endOfBracket(rest) else { return noteEffects(rest) }
    appendLabels(rest[(rest.startIndex + 1)..<(end - 1)])
    noteEffects(rest[end...])
  }

  private mutating func noteEffects(_ rest: ArraySlice<UInt8>) {
    var rest = rest
    if rest.first == UInt8(ascii: " ") { rest = rest.dropFirst() }
    if rest.first == UInt8(ascii: "<"), let end = endOfBracket(rest) { rest = rest[end...].drop { $0 == UInt8(ascii: " ") } }
    if rest.first == UInt8(ascii: "("), let end = endOfBracket(rest) { rest = rest[end...] }
    if rest.starts(with: Array(" async".utf8)) { isAsync = true }
  }

  /// `(extension in Module):`, as whose code the entity counts.
  private func takeExtension(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard rest.starts(with: Array("(extension in ".utf8)), let end = firstIndex(of: "):", in: rest) else { return nil }
    let name = rest[(rest.startIndex + 14)..<end]
    rest = rest[(end + 2)...]
    return String(decoding: name, as: UTF8.self)
  }

  /// One name of a path: an identifier, an operator, a raw identifier, or `(name in _discriminator)` of a private one.
  private func takeComponent(_ rest: inout ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, isIdentifier: Bool) {
    guard let first = rest.first else { return (rest, false) }
    if first == UInt8(ascii: "("), let end = endOfBracket(rest) {
      let inner = rest[(rest.startIndex + 1)..<(end - 1)]
      rest = rest[end...]
      if let place = firstIndex(of: " in ", in: inner) { return (inner[..<place], false) }
      return (inner, false)
    }
    var end = rest.startIndex
    if first == UInt8(ascii: "`") {
      end = (rest.dropFirst().firstIndex(of: first) ?? rest.endIndex - 1) + 1
    } else if isOperator(first) {
      while end < rest.endIndex, isOperator(rest[end]) { end += 1 }
    } else {
      while end < rest.endIndex, !Self.endsIdentifier[Int(rest[end])] { end += 1 }
      if end == rest.startIndex { end += 1 }
    }
    let text = rest[..<end]
    rest = rest[end...]
    return (text, true)
  }

  private mutating func appendLabels(_ arguments: ArraySlice<UInt8>) {
    output.append(UInt8(ascii: "("))
    var rest = arguments
    while !rest.isEmpty {
      let end = firstOutside(", ", in: rest) ?? rest.endIndex
      let argument = rest[..<end]
      let label = argument.prefix { !Self.endsIdentifier[Int($0)] }
      let colon = argument[label.endIndex...]
      if !label.isEmpty, colon.starts(with: Array(": ".utf8)) {
        output += label
      } else {
        output.append(UInt8(ascii: "_"))
      }
      output.append(UInt8(ascii: ":"))
      rest = rest[min(end + 2, rest.endIndex)...]
    }
    output.append(UInt8(ascii: ")"))
  }

  // MARK: Types

  /// `<A where A: Module.Protocol>` becomes `<A>`.
  private func shortGenerics(_ clause: ArraySlice<UInt8>) -> [UInt8] {
    let inner = clause.dropFirst().dropLast()
    let end = firstOutside(" where ", in: inner) ?? inner.endIndex
    return [UInt8(ascii: "<")] + withoutModules(inner[..<end]) + [UInt8(ascii: ">")]
  }

  /// Leaves out the first of the names that dots join, wherever the next is no associated type of a parameter such as `A` or `B1`.
  private func withoutModules(_ type: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var index = type.startIndex
    var isPathStart = true
    while index < type.endIndex {
      let byte = type[index]
      if Self.endsIdentifier[Int(byte)] || isOperator(byte) {
        if byte == UInt8(ascii: "(") {
          if type[index...].starts(with: Array("(extension in ".utf8)), let end = firstIndex(of: "):", in: type[index...]) {
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
      let isPath = end < type.endIndex && type[end] == UInt8(ascii: ".") && end + 1 < type.endIndex && !isOperator(type[end + 1])
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

  /// The name in `(name in _discriminator)`, and where that ends.
  private func privateName(_ slice: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, end: Int)? {
    let name = slice.dropFirst().prefix { !Self.endsIdentifier[Int($0)] }
    guard !name.isEmpty, slice[name.endIndex...].starts(with: Array(" in _".utf8)) else { return nil }
    let discriminator = slice[(name.endIndex + 4)...].prefix { !Self.endsIdentifier[Int($0)] }
    guard discriminator.endIndex < slice.endIndex, slice[discriminator.endIndex] == UInt8(ascii: ")") else { return nil }
    return (name, discriminator.endIndex + 1)
  }

  private func isParameter(_ word: ArraySlice<UInt8>) -> Bool {
    guard let first = word.first, first >= UInt8(ascii: "A"), first <= UInt8(ascii: "Z") else { return false }
    return word.dropFirst().allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
  }

  // MARK: Scanning

  private static let endsIdentifier: [Bool] = {
    var table = [Bool](repeating: false, count: 256)
    for byte in " .<>()[]{},:;\"'?!&@=-".utf8 { table[Int(byte)] = true }
    return table
  }()

  private static let operators: [Bool] = {
    var table = [Bool](repeating: false, count: 256)
    for byte in "/=-+!*%<>&|^~?.".utf8 { table[Int(byte)] = true }
    return table
  }()

  private func isOperator(_ byte: UInt8) -> Bool { Self.operators[Int(byte)] }

  private func take(_ prefix: String, from rest: inout ArraySlice<UInt8>) -> Bool {
    guard rest.starts(with: prefix.utf8) else { return false }
    rest = rest.dropFirst(prefix.utf8.count)
    return true
  }

  private func firstIndex(of needle: String, in slice: ArraySlice<UInt8>) -> Int? {
    let needle = Array(needle.utf8)
    var start = slice.startIndex
    while start + needle.count <= slice.endIndex, let found = slice[start...].firstIndex(of: needle[0]) {
      if slice[found...].starts(with: needle) { return found }
      start = found + 1
    }
    return nil
  }

  private func lastIndex(of needle: String, in slice: ArraySlice<UInt8>) -> Int? {
    let needle = Array(needle.utf8)
    var start = slice.endIndex - needle.count
    while start >= slice.startIndex {
      if slice[start...].starts(with: needle) { return start }
      start -= 1
    }
    return nil
  }

  /// Calls `body` with each index outside all brackets, and after each closing bracket that has an opening one, until it returns `true`.
  private func scan(_ slice: ArraySlice<UInt8>, _ body: (_ index: Int, _ depth: Int) -> Bool) {
    var depth = 0
    var index = slice.startIndex
    while index < slice.endIndex {
      let byte = slice[index]
      if byte == UInt8(ascii: "."), index + 1 < slice.endIndex, isOperator(slice[index + 1]), index > slice.startIndex {
        // An operator's name, which may have angle brackets in it.
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

  /// The index after the bracket that closes the one `slice` begins with.
  private func endOfBracket(_ slice: ArraySlice<UInt8>) -> Int? {
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

  /// Where `needle` first stands outside all brackets.
  private func firstOutside(_ needle: String, in slice: ArraySlice<UInt8>) -> Int? {
    let needle = Array(needle.utf8)
    var result: Int?
    scan(slice) { index, _ in
      guard index < slice.endIndex, slice[index] == needle[0], slice[index...].starts(with: needle) else { return false }
      result = index
      return true
    }
    return result
  }
}
