// The variables that closures capture, read from debug information.

import Foundation
import Testing
import TraceReading
@testable import TraceSymbolication

@Suite struct CaptureTests {
  static let source = """
    final class Node { var done: (() -> Void)?; var change: ((Int) -> Void)?; var sum: ((Int, String) -> Int)?; var number = 0
      var job: ((Int) async -> Void)? }
    struct Pair { var node: Node; var flag: Bool }
    @inline(never) func use(_ value: Any) { if let node = value as? Node { node.number += 1 } }

    @inline(never) func sameType(_ first: Node, _ second: Node, _ third: Node) { first.done = { use(third); use(first); use(second) } }
    @inline(never) func parameters(_ node: Node, _ other: Node) { node.sum = { count, _ in use(other); use(node); return count } }
    @inline(never) func variables(_ node: Node, _ other: Node) {
      var owner: Node? = node
      var count = 0
      node.change = { value in
        count += value
        use(other)
        use(owner as Any)
        if count > 9 { owner = nil }
      }
    }
    @inline(never) func neverWritten(_ node: Node, _ other: Node) {
      var pair = Pair(node: other, flag: false)
      if other.number > 3 { pair.flag = true }
      node.done = { use(pair.node); use(pair.flag); use(node) }
    }
    @inline(never) func functions(_ next: @escaping (Int) -> Int, _ node: Node) { node.sum = { $0 + next($1.count) + node.number } }
    @inline(never) func generic<Value>(_ value: Value, _ node: Node) { node.done = { use(value); use(node) } }
    @inline(never) func lists(_ node: Node, _ other: Node) {
      node.done = { [weak watched = other,
        kept = node] in use(watched as Any); use(kept) }
    }
    extension Node {
      @inline(never) func method(_ other: Node) { change = { value in other.number += value; self.number += other.number * 3 } }
      @inline(never) func wait(_ other: Node) { job = { count in await Task.yield(); use(other); self.number += count } }
      @inline(never) func local(_ other: Node) {
        func step(_ left: Int) { use(other); use(self); if left > 0 { step(left - 1) } }
        change = step
      }
      @inline(never) func nested(_ other: Node) {
        done = {
          other.done = { [weak self] in use(self as Any) }
        }
      }
    }
    let node = Node()
    sameType(node, Node(), Node()); parameters(node, Node()); variables(node, Node()); neverWritten(node, Node())
    functions({ $0 }, node); generic("text", node); generic(Node(), node); lists(node, Node()); node.method(Node()); node.local(Node())
    node.nested(Node()); node.wait(Node())
    node.done?(); node.change?(3); print(node.sum?(3, "text") ?? 0)

    """

  static func program(_ arguments: [String]) throws -> ProgramFixture {
    try ProgramFixture("swiftc", ["-module-name", "sample"] + arguments, source: source, fileName: "main.swift")
  }

  static let debug = Result { try program(["-Onone", "-g"]) }
  static let optimised = Result { try program(["-O", "-g"]) }
  static let nameless = Result { try program(["-O"]) }

  /// Returns the captures of the closure in a function, found through the closure's forwarder. `marker`: a part of the
  /// forwarder's name.
  static func captures(_ program: ProgramFixture, _ function: String, _ marker: String = "") throws -> [ClosureCaptures]
  {
    let symbolicator = Symbolicator(images: [program.image()])
    let forwarders = program.functions.keys.filter {
      $0.contains("\(function.count)\(function)") && $0.hasSuffix("TA") && (marker.isEmpty || $0.contains(marker))
    }
    return try forwarders.sorted().compactMap { name in
      symbolicator.captures(ofClosure: String(name.dropLast(2)), at: try program.address(of: name), in: program.image())
    }
  }

  @Test(arguments: [
    ("sameType", ["third", "first", "second"], []), ("parameters", ["other", "node"], []),
    ("variables", ["count", "other", "owner"], ["count", "owner"]), ("neverWritten", ["pair", "node"], []),
    ("functions", ["next", "node"], []), ("lists", ["watched", "kept"], ["watched"]),
    ("method", ["other", "self"], []), ("local", ["other", "self"], []),
  ])
  func capturesAreNamedInContextOrder(function: String, names: [String], boxed: [String]) throws {
    for program in [try Self.debug.get(), try Self.optimised.get()] {
      let captures = try #require(try Self.captures(program, function).first)
      #expect(captures.variables.map(\.name) == names)
      #expect(captures.variables.filter(\.isBoxed).map(\.name) == boxed)
      #expect(!captures.isGeneric)
    }
  }

  @Test func sizesAndTypesMatchTheContext() throws {
    for program in [try Self.debug.get(), try Self.optimised.get()] {
      let promoted = try #require(try Self.captures(program, "neverWritten").first)
      #expect(promoted.variables.map(\.size) == [9, 8])
      #expect(promoted.variables.map(\.typeName) == ["sample.Pair", "sample.Node"])
      // The context has a header of 16 bytes, then the pair, and the node on the next word boundary.
      #expect(promoted.variable(at: 16, typeName: "sample.Node", contextSize: 40, isPart: true)?.name == "pair")
      #expect(promoted.variable(at: 32, typeName: "sample.Node", contextSize: 40)?.name == "node")
      let functions = try #require(try Self.captures(program, "functions").first)
      #expect(functions.variables.map(\.size) == [16, 8])
      // A function value has its context in its second word.
      #expect(functions.variable(at: 24, typeName: "", contextSize: 40)?.name == "next")
    }
  }

  @Test func genericCapturesAreIdentifiedByType() throws {
    let generic = try #require(try Self.captures(try Self.debug.get(), "generic").first)
    #expect(generic.variables.map(\.name) == ["value", "node"])
    #expect(generic.variables.map(\.size) == [nil, 8])
    #expect(generic.isGeneric)
    #expect(generic.variable(at: 40, typeName: "sample.Node", contextSize: 48)?.name == "node")
    #expect(generic.variable(at: 32, typeName: "Swift.String", contextSize: 48) == nil)
  }

  @Test func specializedClosureHasItsConcreteTypes() throws {
    let specialised = try Self.captures(try Self.optimised.get(), "generic", "TG5")
    #expect(specialised.map { $0.variables.map(\.name) } == [["value", "node"], ["value", "node"]])
    #expect(Set(specialised.map { $0.variables[0].typeName }) == ["sample.Node", "Swift.String"])
  }

  @Test func asyncClosureIsFoundByItsFunctionsRecord() throws {
    for program in [try Self.debug.get(), try Self.optimised.get()] {
      let record = try #require(
        try Tool.run("nm", [program.path]).split(separator: "\n").first { $0.contains("4wait") && $0.hasSuffix("TATu") }
      )
      let fields = record.split(separator: " ")
      let address = RuntimeAddress(try #require(UInt64(fields[0], radix: 16)) + ProgramFixture.loadBias)
      let symbolicator = Symbolicator(images: [program.image()], programModules: ["sample"])
      let forwarder = try #require(symbolicator.frames(for: .exact(address), in: program.image()).last)
      #expect(forwarder.mangledName == String(fields[2].dropLast(2)))
      let captures = symbolicator.captures(ofClosure: String(fields[2].dropLast(4)), at: address, in: program.image())
      #expect(captures?.variables.map(\.name) == ["other", "self"])
    }
  }

  /// All instructions of a closure may belong to a nested closure. The line of the outer closure is still the line of
  /// its declaration.
  @Test func closureHasTheLineOfItsStart() throws {
    let lines = Self.source.split(separator: "\n", omittingEmptySubsequences: false)
    let outer = try #require(lines.firstIndex { $0.contains("    done = {") }) + 1
    for program in [try Self.debug.get(), try Self.optimised.get()] {
      let symbolicator = Symbolicator(images: [program.image()])
      let forwarders = program.functions.keys.filter { $0.contains("6nested") && $0.hasSuffix("TA") }.sorted()
      let found = try forwarders.map {
        symbolicator.line(ofClosure: String($0.dropLast(2)), at: try program.address(of: $0), in: program.image())
      }
      #expect(found.sorted { ($0 ?? 0) < ($1 ?? 0) } == [outer, outer + 1])
    }
  }

  @Test func capturesNeedDebugInformation() throws {
    let program = try Self.nameless.get()
    #expect(program.functions.keys.contains { $0.contains("8sameType") && $0.hasSuffix("TA") })
    #expect(try Self.captures(program, "sameType").isEmpty)
  }

  @Test func damagedDebugInformationNeverCrashesTheReader() throws {
    let program = try Self.debug.get()
    let original = Array(try Data(contentsOf: URL(fileURLWithPath: program.path)))
    let closures = program.functions.filter { $0.key.hasSuffix("TA") }
    let image = LoadedImage(path: "/program", buildID: [], loadBias: 0, range: RuntimeAddress(0)..<RuntimeAddress(.max))
    var random = DamagedFileTests.Random(state: 5)
    var known = 0
    for round in 0..<150 {
      var bytes = original
      for _ in 0..<(round == 0 ? 0 : Int.random(in: 1...120, using: &random)) {
        bytes[Int.random(in: original.count / 3..<original.count, using: &random)] = UInt8.random(
          in: 0...255, using: &random)
      }
      let symbolicator = Symbolicator(images: [image], access: DamagedFileTests.Memory(bytes))
      for (name, address) in closures {
        let captures = symbolicator.captures(
          ofClosure: String(name.dropLast(2)), at: RuntimeAddress(address), in: image)
        if captures != nil { known += 1 }
        #expect(captures.map { $0.variables.count <= 512 } ?? true)
      }
      if round == 0 { #expect(known == closures.count) }
    }
    #expect(known > closures.count)
  }

  @Test func ambiguousCaptureHasNoName() {
    let model = CapturedVariable(name: "model", typeName: "M.Model", size: 8, isBoxed: false)
    let flag = CapturedVariable(name: "flag", typeName: "Swift.Bool", size: 1, isBoxed: false)
    let owner = CapturedVariable(name: "owner", typeName: "weak M.(Screen in _1234)?", size: 8, isBoxed: false)
    let captures = ClosureCaptures(variables: [model, flag, owner], isGeneric: false)
    #expect(captures.variable(at: 16, typeName: "M.Model", contextSize: 40)?.name == "model")
    #expect(captures.variable(at: 32, typeName: "M.(Screen in _1234)", contextSize: 40)?.name == "owner")
    // The variables do not fill the context, so one is missing.
    #expect(captures.variable(at: 16, typeName: "M.Model", contextSize: 48) == nil)
    #expect(captures.variable(at: 16, typeName: "M.Model", contextSize: 32) == nil)
    // No variable is between two others, or after the last one.
    #expect(captures.variable(at: 25, typeName: "", contextSize: 40) == nil)
    #expect(captures.variable(at: 40, typeName: "", contextSize: 40) == nil)
    // The variable at this offset has another type.
    #expect(captures.variable(at: 16, typeName: "M.Screen", contextSize: 40) == nil)
    var generic = captures
    generic.isGeneric = true
    #expect(generic.variable(at: 32, typeName: "M.Model", contextSize: 56)?.name == "model")
    let unknown = ClosureCaptures(
      variables: [CapturedVariable(name: "value", typeName: "A", size: nil, isBoxed: false), model, model],
      isGeneric: true)
    #expect(unknown.variable(at: 32, typeName: "M.Model", contextSize: 48) == nil)
    #expect(
      ClosureCaptures(variables: [], isGeneric: false).variable(at: 16, typeName: "M.Model", contextSize: 24) == nil)
  }
}
