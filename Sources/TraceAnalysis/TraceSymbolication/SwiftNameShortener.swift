// Makes the short form of a demangled Swift name, and derives the kind of the function from the name.

/// Parses the Swift demangler's text for one symbol.
///
/// The text can be parsed without knowledge of Swift. It has wrappers such as `partial apply forwarder for …`, around
/// entities such as `closure #1 () -> () in Module.Type.method(label: Type) -> Type`. A text of another form stays
/// unchanged. O(length) for each level of nested wrappers. Real names have only a few levels.
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

  /// Returns the short form, or `full` itself if its form is unknown. Call this once.
  mutating func shorten() -> String {
    var rest = text[...]
    if let suffix = firstIndex(of: " with unmangled suffix ", in: rest) { rest = rest[..<suffix] }
    readWrapped(&rest)
    return output.isEmpty ? full : String(decoding: output, as: UTF8.self)
  }

  // MARK: Wrappers

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
        // Leave out a conformance, as in `: Protocol in Module`.
        output += withoutModules(rest[..<(firstOutside(" : ", in: rest) ?? rest.endIndex)])
        return
      } else if rest.starts(with: Array("outlined ".utf8)) {
        isThunk = true
        output += withoutModules(rest)
        return
      } else if let witness = firstIndex(of: " value witness for ", in: rest),
        !rest[..<witness].contains(UInt8(ascii: "."))
      {
        isThunk = true
        let conformance = rest[(witness + 19)...]
        output += rest[..<witness]
        output += Array(" for ".utf8) + withoutModules(conformance)
        return
      } else {
        return readEntity(rest)
      }
    }
  }

  /// Takes a prefix such as `(2) await resume partial function for ` or `(1) suspend resume partial function for `.
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

  /// Skips `<…> of `. Propagated string constants may contain unbalanced brackets. In that case, the first `> of `
  /// counts as the end.
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
    // The code of the witness is in the conformance's module, not in the requirement's module.
    if let place = lastIndex(of: " in ", in: rest) { module = String(decoding: rest[(place + 4)...], as: UTF8.self) }
  }

  private mutating func readReabstraction(_ rest: inout ArraySlice<UInt8>) {
    isThunk = true
    while rest.first == UInt8(ascii: "<"), let end = endOfBracket(rest) {
      rest = rest[end...].drop { $0 == UInt8(ascii: " ") }
    }
    _ = take("from ", from: &rest)
    let end = firstOutside(" to ", in: rest) ?? rest.endIndex
    output += Array("thunk for ".utf8) + withoutModules(rest[..<end])
  }

  // MARK: Entities

  /// Reads an entity such as `inner in outer in …`. Each part is a path of names.
  private mutating func readEntity(_ entity: ArraySlice<UInt8>) {
    var rest = entity
    var parts = 0
    while true {
      let separator = firstOutside(" in ", in: rest)
      let part = rest[..<(separator ?? rest.endIndex)]
      if parts > 0 { output += Array(" in ".utf8) }
      let wasAsync = isAsync
      readPart(part, isOutermost: separator == nil)
      // Ignore whether an enclosing function is async: the inner function may not be.
      if parts > 0 { isAsync = wasAsync }
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
      // Skip an anonymous private context, which has a discriminator but no name.
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

  /// Reads the text after the path: ` infix` and the like for an operator, ` #1 ` for a local entity, generic
  /// parameters, arguments, and a type. The short form leaves out the type.
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

  /// Sets `isAsync` if `async` follows a function's generic parameters and arguments.
  private mutating func noteEffects(_ text: ArraySlice<UInt8>) {
    var rest = text.drop { $0 == UInt8(ascii: " ") }
    while rest.first == UInt8(ascii: "<") || rest.first == UInt8(ascii: "("), let end = endOfBracket(rest) {
      rest = rest[end...].drop { $0 == UInt8(ascii: " ") }
    }
    if rest.starts(with: Array("async ".utf8)) { isAsync = true }
  }

  /// Takes `(extension in Module):`, and returns the module. The entity counts as code of that module.
  private func takeExtension(_ rest: inout ArraySlice<UInt8>) -> String? {
    guard rest.starts(with: Array("(extension in ".utf8)), let end = firstIndex(of: "):", in: rest) else { return nil }
    let name = rest[(rest.startIndex + 14)..<end]
    rest = rest[(end + 2)...]
    return String(decoding: name, as: UTF8.self)
  }

  /// Takes one name of a path: an identifier, an operator, a raw identifier, or `(name in _discriminator)` for a
  /// private declaration.
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
}
