// Places where code takes and releases references: stacks, in the form that the pairing of retains needs.

import TraceReading
import TraceSymbolication

/// The facts of a stack that pairing compares. `RetainPlaces` assigns the numbers in it.
struct RetainPlace: Hashable {
  /// The activation of the program's innermost function, or else of the innermost frame. Nil for an empty stack.
  var scope: Int?
  /// The number of the source line in that function; 0 if the line is unknown.
  var line = 0
  /// The function of that activation.
  var function: Int?
  /// The type that declares the function.
  var owner: Int?
}

/// Names stacks. Names each stack once, and also each frame that deep stacks share. So the total cost is proportional
/// to the number of distinct frames. For one thread at a time.
final class RetainPlaces {
  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private var functions: [String: Int] = [:]
  private var owners: [String: Int] = [:]
  private var lines: [Line: Int] = [:]
  private var known: [Key: Int] = [:]
  private var codes: [StackFrame: Code] = [:]
  private var scopes: [Scope: Int] = [:]
  /// For each stack: one plus the activation of its innermost function; 0 if it was not looked up yet.
  private var scopeOfStack: [UInt32] = []
  /// For each stack: the nearest frame of the program; `unknown` until it is looked up.
  private var nearest: [Nearest] = []
  private var initialisers: [Key: Found] = [:]
  private(set) var places: [RetainPlace] = []
  private(set) var named: [HistoryPlace] = []
  /// The activations of the places' scopes.
  private(set) var activations = ActivationTree()

  private struct Key: Hashable {
    var stack: StackID
    /// The type whose initialisers are skipped; empty if no initialisers are skipped.
    var allocates: String
  }
  private struct Scope: Hashable {
    /// The stack of the function's caller.
    var caller: StackID
    var function: Int
  }
  private struct Line: Hashable {
    var file: String
    var line: Int
  }
  /// The facts that a frame's names give.
  private struct Code: BitwiseCopyable {
    /// The number of the frame's outermost function.
    var function: Int
    /// Whether one of the frame's functions is the program's.
    var isProgram: Bool
    /// Whether a function of a system library is inside the program's innermost function in this frame.
    var isLibrary: Bool
  }
  private struct Nearest: BitwiseCopyable {
    /// The innermost frame with a function of the program, this frame included; the empty stack if there is none.
    var program: StackID
    /// The outermost frame with a function of a system library, up to the program's frame; the empty stack if there is
    /// none.
    var library: StackID
    static let unknown = Nearest(program: .unknown, library: .unknown)
  }
  /// The program's innermost function that is not an initialiser of a given type.
  private struct Found {
    /// The empty stack if there is none.
    var stack: StackID
    /// Index into the program's functions of the frame; −1 if there is no such function.
    var index: Int
  }

  init(_ definitions: TraceDefinitions, naming: any FrameNaming) {
    self.definitions = definitions
    self.naming = naming
  }

  /// Returns the index of a stack's place. `allocating`: the name of the type that is allocated there. The type's
  /// initialisers do not count as the place, because the new reference goes to their caller.
  func place(of stack: StackID, allocating type: String = "") -> Int {
    let key = Key(stack: stack, allocates: type)
    if let index = known[key] { return index }
    known[key] = places.count
    let (place, name) = look(stack, type)
    places.append(place)
    named.append(name)
    return places.count - 1
  }

  /// The frames of a stack, innermost first. Inlined functions have frames of their own.
  func reportFrames(of stack: StackID, limit: Int = StackTree.pathLimit) -> (frames: [ReportFrame], end: StackPath.End)
  {
    let path = definitions.stacks.path(of: stack, limit: min(limit, StackTree.pathLimit))
    return (
      path.frames.flatMap { frame in sources(frame).map { ReportFrame(address: frame.key.address, source: $0) } },
      path.end
    )
  }

  private func sources(_ frame: StackFrame) -> [SourceFrame] {
    naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
  }

  /// Returns a search for stacks with a function that satisfies `fits`. Linear in the frames that were not examined
  /// before.
  func search(_ fits: @escaping (SourceFrame) -> Bool) -> StackSearch {
    StackSearch(definitions.stacks) { [definitions, naming] frame in
      naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image }).contains(where: fits)
    }
  }

  private func look(_ stack: StackID, _ type: String) -> (RetainPlace, HistoryPlace) {
    var place = RetainPlace()
    var name = HistoryPlace(stack: stack)
    let near = nearest(of: stack)
    if near.library.rawValue > 1 {
      let sources = definitions.stacks.frame(of: near.library).map(sources) ?? []
      name.through =
        sources.prefix { near.library != near.program || $0.kind != .user }.last {
          $0.kind == .systemLibrary && $0.isNamed
        }?.function
    }
    let found = type.isEmpty ? Found(stack: near.program, index: 0) : withoutInitialisers(near.program, of: type)
    guard found.stack.rawValue > 1, let frame = definitions.stacks.frame(of: found.stack) else {
      // A function that releases by a tail call has no frame any more. If the system called it, no frame of the program
      // is left: the release seems to come from the system's function that called it.
      place.scope = scope(of: stack)
      return (place, name)
    }
    let functions = sources(frame).filter { $0.kind == .user }
    guard found.index < functions.count else { return (place, name) }
    let function = functions[found.index]
    name.function = function
    place.scope = scope(of: found.stack)
    place.function = Self.intern(function.mangledName ?? function.function, &self.functions)
    if let owner = Self.owner(of: function.function) { place.owner = Self.intern(owner, &owners) }
    if let file = function.file, let line = function.line {
      place.line = Self.intern(Line(file: file, line: line), &lines)
    }
    return (place, name)
  }

  private func code(_ frame: StackFrame) -> Code {
    if let known = codes[frame] { return known }
    let sources = sources(frame)
    let code = Code(
      function: Self.intern(sources.last?.mangledName ?? sources.last?.function ?? "", &functions),
      isProgram: sources.contains { $0.kind == .user },
      isLibrary: sources.prefix { $0.kind != .user }.contains { $0.kind == .systemLibrary && $0.isNamed })
    codes[frame] = code
    return code
  }

  private func nearest(of stack: StackID) -> Nearest {
    let count = definitions.stacks.nodeCount
    guard Int(stack.rawValue) < count else { return Nearest(program: .empty, library: .empty) }
    if nearest.count < count { nearest += repeatElement(.unknown, count: count - nearest.count) }
    var chain: [StackID] = []
    var node = stack
    var result = Nearest(program: .empty, library: .empty)
    while node.rawValue > 1, let frame = definitions.stacks.frame(of: node) {
      let known = nearest[Int(node.rawValue)]
      if known.program != .unknown {
        result = known
        break
      }
      let code = code(frame)
      if code.isProgram {
        result = Nearest(program: node, library: code.isLibrary ? node : .empty)
        nearest[Int(node.rawValue)] = result
        break
      }
      chain.append(node)
      node = definitions.stacks.parent(of: node)
    }
    for node in chain.reversed() {
      if result.library == .empty, let frame = definitions.stacks.frame(of: node), code(frame).isLibrary {
        result.library = node
      }
      nearest[Int(node.rawValue)] = result
    }
    return result
  }

  /// Returns the innermost function from `stack` outwards that is the program's and is not an initialiser of the type.
  /// If all functions are initialisers, returns the innermost one. `stack` must be a frame of the program.
  private func withoutInitialisers(_ stack: StackID, of type: String) -> Found {
    var chain: [StackID] = []
    var result: Found?
    var node = stack
    while node.rawValue > 1, result == nil {
      if let known = initialisers[Key(stack: node, allocates: type)] {
        if known.index >= 0 { result = known }
        break
      }
      guard let frame = definitions.stacks.frame(of: node) else { break }
      chain.append(node)
      let functions = sources(frame).filter { $0.kind == .user }
      if let index = functions.firstIndex(where: { !DeclarationName.isInitialiser($0.function, of: type[...]) }) {
        result = Found(stack: node, index: index)
      } else {
        node = nearest(of: definitions.stacks.parent(of: node)).program
      }
    }
    // If all functions are initialisers, each stack keeps its own frame.
    for node in chain { initialisers[Key(stack: node, allocates: type)] = result ?? Found(stack: .empty, index: -1) }
    return result ?? Found(stack: stack, index: 0)
  }

  /// The activation of a stack's innermost frame.
  private func scope(of stack: StackID) -> Int? {
    let count = definitions.stacks.nodeCount
    if scopeOfStack.count < count { scopeOfStack += repeatElement(0, count: count - scopeOfStack.count) }
    var chain: [(stack: StackID, function: Int)] = []
    var node = stack
    while node.rawValue > 1, scopeOfStack[Int(node.rawValue)] == 0, let frame = definitions.stacks.frame(of: node) {
      chain.append((node, code(frame).function))
      node = definitions.stacks.parent(of: node)
    }
    var scope =
      node.rawValue > 1 && scopeOfStack[Int(node.rawValue)] > 0 ? Int(scopeOfStack[Int(node.rawValue)]) - 1 : nil
    for (node, function) in chain.reversed() {
      let key = Scope(caller: definitions.stacks.parent(of: node), function: function)
      let number = scopes[key] ?? activations.add(calledBy: scope)
      scopes[key] = number
      scopeOfStack[Int(node.rawValue)] = UInt32(number) + 1
      scope = number
    }
    return scope
  }

  /// Returns the number of a value, from 1. Equal values have one number.
  private static func intern<Value: Hashable>(_ value: Value, _ numbers: inout [Value: Int]) -> Int {
    if let number = numbers[value] { return number }
    numbers[value] = numbers.count + 1
    return numbers.count
  }

  /// Returns the type that declares a function: `Editor` for `closure #1 in Editor.open(_:)`, `static Editor.make()`,
  /// `Editor.text.setter` and `outlined destroy of Editor`; nil for functions of no type.
  static func owner(of function: String) -> String? {
    var name = function[...]
    while let range = name.firstRange(of: " in ") { name = name[range.upperBound...] }
    for marker in ["outlined destroy of ", "outlined release of "] where name.hasPrefix(marker) {
      return withoutArguments(name.dropFirst(marker.count))
    }
    if let space = name.prefix(while: { $0 != "(" && $0 != "<" }).lastIndex(of: " ") {
      name = name[name.index(after: space)...]
    }
    var depth = 0
    var dots: [Substring.Index] = []
    scan: for index in name.indices {
      switch name[index] {
      case "<": depth += 1
      case ">": depth -= 1
      case "(" where depth == 0: break scan
      case "." where depth == 0: dots.append(index)
      default: break
      }
    }
    for accessor in [".getter", ".setter", ".modify", ".read", ".didset", ".willset"] where name.hasSuffix(accessor) {
      _ = dots.popLast()
    }
    guard let dot = dots.last, dot > name.startIndex else { return nil }
    return withoutArguments(name[..<dot])
  }

  private static func withoutArguments(_ type: Substring) -> String { String(type.prefix { $0 != "<" }) }
}
