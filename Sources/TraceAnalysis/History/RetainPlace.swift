// Where references are taken and given up: stacks in the words of pairing.

/// What pairing has to know of a stack. Numbers are the table's own.
struct RetainPlace: Hashable {
  /// The activation of the program's innermost function; nil if the stack has none.
  var scope: Int?
  /// The line of that function; 0 if unknown.
  var line = 0
  /// The function, whichever activation.
  var function: Int?
  /// The type that declares it.
  var owner: Int?
  /// The activations from `scope` outwards, itself first.
  var enclosing: [Int] = []
}

/// Names stacks, each once. For one thread at a time.
final class RetainPlaces {
  private let definitions: TraceDefinitions
  private let naming: any FrameNaming
  private var scopes: [Scope: Int] = [:]
  private var functions: [String: Int] = [:]
  private var owners: [String: Int] = [:]
  private var lines: [Line: Int] = [:]
  private var known: [Key: Int] = [:]
  private(set) var places: [RetainPlace] = []
  private(set) var named: [HistoryPlace] = []

  private struct Key: Hashable {
    var stack: StackID
    /// The type whose initialisers are passed over; empty for none.
    var allocates: String
  }
  private struct Scope: Hashable {
    /// The stack outside of the function.
    var caller: StackID
    var function: String
  }
  private struct Line: Hashable {
    var file: String
    var line: Int
  }

  init(_ definitions: TraceDefinitions, naming: any FrameNaming) {
    self.definitions = definitions
    self.naming = naming
  }

  /// Index into `places` of a stack. `allocating`: the name of the type that is allocated there, whose initialisers do not count as the
  /// place: the reference goes to who called them.
  func place(of stack: StackID, allocating type: String = "") -> Int {
    let key = Key(stack: stack, allocates: type)
    if let index = known[key] { return index }
    known[key] = places.count
    let (place, name) = look(stack, type)
    places.append(place)
    named.append(name)
    return places.count - 1
  }

  /// All frames of a stack, innermost first, inlined ones apart.
  func reportFrames(of stack: StackID) -> (frames: [ReportFrame], end: StackPath.End) {
    let path = definitions.stacks.path(of: stack)
    return (path.frames.flatMap { frame in sources(frame).map { ReportFrame(address: frame.key.address, source: $0) } }, path.end)
  }

  private func sources(_ frame: StackFrame) -> [SourceFrame] {
    naming.frames(for: frame.key, in: frame.image.map { definitions.images[$0].image })
  }

  /// Frames of a stack that are looked at: of a deeper recursion the innermost activations tell.
  private static let depthLimit = 4096

  private func look(_ stack: StackID, _ type: String) -> (RetainPlace, HistoryPlace) {
    var place = RetainPlace()
    var name = HistoryPlace(stack: stack)
    var initialiser: (frame: SourceFrame, scope: Scope)?
    var userScope: Scope?
    var node = stack
    var steps = 0
    while node.rawValue > 1, steps < Self.depthLimit {
      steps += 1
      let parent = definitions.stacks.parent(of: node)
      guard let frame = definitions.stacks.frame(of: node) else { break }
      let sources = sources(frame)
      let scope = Scope(caller: parent, function: sources.last?.mangledName ?? sources.last?.function ?? "")
      if userScope == nil {
        for source in sources {
          if source.kind == .user {
            if !type.isEmpty, FindingNaming.isInitialiser(source.function, of: type[...]) {
              if initialiser == nil { initialiser = (source, scope) }
              continue
            }
            name.function = source
            userScope = scope
            break
          }
          if source.kind == .systemLibrary, source.isNamed, initialiser == nil { name.through = source.function }
        }
      }
      if userScope != nil { place.enclosing.append(number(scope)) }
      node = parent
    }
    if userScope == nil, let initialiser {
      (name.function, userScope) = (initialiser.frame, initialiser.scope)
      place.enclosing = [number(initialiser.scope)]
    }
    if let function = name.function {
      place.scope = userScope.map(number)
      place.function = Self.intern(function.mangledName ?? function.function, &functions)
      if let owner = Self.owner(of: function.function) { place.owner = Self.intern(owner, &owners) }
      if let file = function.file, let line = function.line { place.line = Self.intern(Line(file: file, line: line), &lines) }
    }
    return (place, name)
  }

  private func number(_ scope: Scope) -> Int { Self.intern(scope, &scopes) }

  /// Numbers from 1.
  private static func intern<Value: Hashable>(_ value: Value, _ numbers: inout [Value: Int]) -> Int {
    if let number = numbers[value] { return number }
    numbers[value] = numbers.count + 1
    return numbers.count
  }

  /// `Editor` of `closure #1 in Editor.open(_:)`, `static Editor.make()`, `Editor.text.setter` and `outlined destroy of Editor`; nil for functions of no type.
  static func owner(of function: String) -> String? {
    var name = function[...]
    while let range = name.firstRange(of: " in ") { name = name[range.upperBound...] }
    for marker in ["outlined destroy of ", "outlined release of "] where name.hasPrefix(marker) { return withoutArguments(name.dropFirst(marker.count)) }
    if let space = name.prefix(while: { $0 != "(" && $0 != "<" }).lastIndex(of: " ") { name = name[name.index(after: space)...] }
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
    for accessor in [".getter", ".setter", ".modify", ".read", ".didset", ".willset"] where name.hasSuffix(accessor) { _ = dots.popLast() }
    guard let dot = dots.last, dot > name.startIndex else { return nil }
    return withoutArguments(name[..<dot])
  }

  private static func withoutArguments(_ type: Substring) -> String { String(type.prefix { $0 != "<" }) }
}
