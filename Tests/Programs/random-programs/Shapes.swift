// Ways to hold an object: by references of all kinds.

import Synchronization

/// A place for references to objects.
protocol Shape {
  init()
  mutating func put(_ node: Node)
  /// Gives back its references.
  mutating func clear()
  /// Forgets references that it owns by hand, without a release.
  mutating func lose()
  /// Uses the objects that it leads to.
  func visit()
}

extension Shape {
  mutating func lose() { clear() }
  mutating func apply(_ edit: Edit) {
    switch edit {
    case .put(let node): put(node)
    case .clear: clear()
    case .lose: lose()
    }
  }
}

struct Direct: Shape {
  var node: Node?
  mutating func put(_ node: Node) { self.node = node }
  mutating func clear() { node = nil }
  func visit() { Walk.use(node) }
}

struct Listed: Shape {
  var nodes: [Node] = []
  mutating func put(_ node: Node) { nodes.append(node) }
  mutating func clear() { nodes = [] }
  func visit() { nodes.forEach { Walk.use($0) } }
}

struct Keyed: Shape {
  var nodes: [UInt32: Node] = [:]
  mutating func put(_ node: Node) { nodes[node.id] = node }
  mutating func clear() { nodes = [:] }
  func visit() { nodes.values.forEach { Walk.use($0) } }
}

struct ByNode: Shape {
  var names: [Node: String] = [:]
  mutating func put(_ node: Node) { names[node] = "a name of more than fifteen bytes" }
  mutating func clear() { names = [:] }
  func visit() { names.keys.forEach { Walk.use($0) } }
}

struct InSet: Shape {
  var nodes: Set<Node> = []
  mutating func put(_ node: Node) { nodes.insert(node) }
  mutating func clear() { nodes = [] }
  func visit() { nodes.forEach { Walk.use($0) } }
}

struct Nested: Shape {
  var nodes: [String: [[Node]]] = [:]
  mutating func put(_ node: Node) { nodes["group", default: []].append([node]) }
  mutating func clear() { nodes = [:] }
  func visit() { nodes.values.joined().joined().forEach { Walk.use($0) } }
}

struct InSlice: Shape {
  var nodes: ArraySlice<Node> = []
  mutating func put(_ node: Node) { nodes = [node, node, node][1...] }
  mutating func clear() { nodes = [] }
  func visit() { nodes.forEach { Walk.use($0) } }
}

struct Tupled: Shape {
  var value: (mark: UInt8, first: Node?, rest: (Node?, Bool)) = (1, nil, (nil, false))
  mutating func put(_ node: Node) { if value.first == nil { value.first = node } else { value.rest = (node, true) } }
  mutating func clear() { value = (0, nil, (nil, false)) }
  func visit() {
    Walk.use(value.first)
    Walk.use(value.rest.0)
  }
}

struct TwiceOptional: Shape {
  var node: Node?? = .some(nil)
  mutating func put(_ node: Node) { self.node = node }
  mutating func clear() { node = .some(nil) }
  func visit() { Walk.use(node ?? nil) }
}

// MARK: Enumerations

struct Chosen: Shape {
  enum Choice {
    case none, one(Node), two(Node, Int), text(String), number(UInt), many([Node])
  }
  var choice = Choice.none
  mutating func put(_ node: Node) {
    switch (node.turn % 3, choice) {
    case (0, _): choice = .one(node)
    case (1, _): choice = .two(node, 7)
    case (_, .many(let nodes)): choice = .many(nodes + [node])
    default: choice = .many([node])
    }
  }
  mutating func clear() { choice = .text("none") }
  func visit() {
    switch choice {
    case .one(let node), .two(let node, _): Walk.use(node)
    case .many(let nodes): nodes.forEach { Walk.use($0) }
    case .none, .text, .number: break
    }
  }
}

enum Either<A, B> { case left(A), right(B) }

struct EitherOf: Shape {
  var value: Either<Node, [Node]>? = nil
  mutating func put(_ node: Node) { value = node.turn % 2 == 0 ? .left(node) : .right([node]) }
  mutating func clear() { value = nil }
  func visit() {
    switch value {
    case .left(let node)?: Walk.use(node)
    case .right(let nodes)?: nodes.forEach { Walk.use($0) }
    case nil: break
    }
  }
}

indirect enum Tree {
  case leaf
  case branch(Tree, Node, Tree)
  func visit() {
    guard case .branch(let left, let node, let right) = self else { return }
    left.visit()
    Walk.use(node)
    right.visit()
  }
}

struct InTree: Shape {
  var tree = Tree.leaf
  mutating func put(_ node: Node) {
    tree = node.turn % 2 == 0 ? .branch(tree, node, .leaf) : .branch(.leaf, node, tree)
  }
  mutating func clear() { tree = .leaf }
  func visit() { tree.visit() }
}

struct Failure: Error { var node: Node }

struct AsError: Shape {
  var error: (any Error)?
  mutating func put(_ node: Node) { error = Failure(node: node) }
  mutating func clear() { error = nil }
  func visit() { Walk.use((error as? Failure)?.node) }
}

struct AsResult: Shape {
  var result: Result<Node, any Error>?
  mutating func put(_ node: Node) { result = node.turn % 2 == 0 ? .success(node) : .failure(Failure(node: node)) }
  mutating func clear() { result = nil }
  func visit() {
    switch result {
    case .success(let node)?: Walk.use(node)
    case .failure(let error)?: Walk.use((error as? Failure)?.node)
    case nil: break
    }
  }
}

// MARK: Existentials

protocol Carrier { var carried: Node { get } }
protocol Item: AnyObject { var item: Node { get } }
struct SmallCarrier: Carrier {
  var mark: Int32
  var carried: Node
}
struct LargeCarrier: Carrier {
  var numbers = (1, 2, 3)
  var carried: Node
  var text = "some text of more than fifteen bytes"
}
extension Node: Carrier, Item {
  var carried: Node { self }
  var item: Node { self }
}

struct InCarrier: Shape {
  var value: (any Carrier)?
  mutating func put(_ node: Node) {
    switch node.turn % 3 {
    case 0: value = node
    case 1: value = SmallCarrier(mark: 1, carried: node)
    default: value = LargeCarrier(carried: node)
    }
  }
  mutating func clear() { value = nil }
  func visit() { Walk.use(value?.carried) }
}

struct AsItem: Shape {
  var value: (any Item)?
  var object: AnyObject?
  mutating func put(_ node: Node) { if value == nil { value = node } else { object = node } }
  mutating func clear() { (value, object) = (nil, nil) }
  func visit() {
    Walk.use(value?.item)
    Walk.use(object as? Node)
  }
}

struct AsAny: Shape {
  var value: Any?
  mutating func put(_ node: Node) {
    switch node.turn % 5 {
    case 0: value = node
    case 1: value = (UInt8(1), node)
    case 2: value = [node]
    case 3: value = LargeCarrier(carried: node)
    default: value = ["name": node as Node?]
    }
  }
  mutating func clear() { value = nil }
  func visit() {
    switch value {
    case let node as Node: Walk.use(node)
    case let pair as (UInt8, Node): Walk.use(pair.1)
    case let nodes as [Node]: nodes.forEach { Walk.use($0) }
    case let carrier as LargeCarrier: Walk.use(carrier.carried)
    case let nodes as [String: Node?]: nodes.values.forEach { Walk.use($0) }
    default: break
    }
  }
}

struct ManyAny: Shape {
  var values: [Any] = []
  mutating func put(_ node: Node) { values.append(node.turn % 2 == 0 ? node : SmallCarrier(mark: 2, carried: node)) }
  mutating func clear() { values = [] }
  func visit() { values.forEach { Walk.use(($0 as? any Carrier)?.carried) } }
}

struct AsHashable: Shape {
  var values: [AnyHashable: Int] = [:]
  mutating func put(_ node: Node) { values[node] = 1 }
  mutating func clear() { values = [:] }
  func visit() { values.keys.forEach { Walk.use($0.base as? Node) } }
}

// MARK: Closures

struct Called: Shape {
  var call: (() -> Node)?
  mutating func put(_ node: Node) { call = { node } }
  mutating func clear() { call = nil }
  func visit() { Walk.use(call?()) }
}

extension Node {
  func itself() -> Node { self }
}

struct Method: Shape {
  var call: (() -> Node)?
  mutating func put(_ node: Node) { call = node.itself }
  mutating func clear() { call = nil }
  func visit() { Walk.use(call?()) }
}

struct Variable: Shape {
  var read: (() -> Node?)?
  var write: ((Node?) -> Void)?
  mutating func put(_ node: Node) {
    if let write { return write(node) }
    var variable: Node? = node
    read = { variable }
    write = { variable = $0 }
  }
  mutating func clear() { (read, write) = (nil, nil) }
  func visit() { Walk.use(read?()) }
}

struct ManyCalls: Shape {
  var calls: [String: (Int) -> Node?] = [:]
  mutating func put(_ node: Node) {
    let list = [node]
    calls["\(node.turn % 4)"] = { list.indices.contains($0) ? list[$0] : nil }
  }
  mutating func clear() { calls = [:] }
  func visit() { calls.values.forEach { Walk.use($0(0)) } }
}

// MARK: Generic values

struct Pair<A, B> {
  var first: A
  var second: B
}

struct Paired: Shape {
  var pair: Pair<UInt16, Node?> = Pair(first: 1, second: nil)
  var list: [Pair<Node, UInt8>] = []
  mutating func put(_ node: Node) {
    if pair.second == nil { pair.second = node } else { list.append(Pair(first: node, second: 3)) }
  }
  mutating func clear() { (pair.second, list) = (nil, []) }
  func visit() {
    Walk.use(pair.second)
    list.forEach { Walk.use($0.first) }
  }
}

struct Pack<each T> { var values: (repeat each T) }

struct Packed: Shape {
  var pack: Pack<Int32, Node?, [Node]> = Pack(values: (1, nil, []))
  mutating func put(_ node: Node) {
    let (mark, first, rest) = pack.values
    pack = Pack(values: (mark, first ?? node, first == nil ? rest : rest + [node]))
  }
  mutating func clear() { pack = Pack(values: (2, nil, [])) }
  func visit() {
    let (_, first, rest) = pack.values
    Walk.use(first)
    rest.forEach { Walk.use($0) }
  }
}

struct Buffered: Shape {
  final class Buffer: ManagedBuffer<Int, Node> {
    deinit { withUnsafeMutablePointers { _ = $1.deinitialize(count: $0.pointee) } }
  }
  var buffer: ManagedBuffer<Int, Node>?
  mutating func put(_ node: Node) {
    let buffer = Buffer.create(minimumCapacity: 4) { _ in 0 }
    buffer.withUnsafeMutablePointers { count, elements in
      (elements + count.pointee).initialize(to: node)
      count.pointee += 1
    }
    self.buffer = buffer
  }
  mutating func clear() { buffer = nil }
  func visit() {
    buffer?.withUnsafeMutablePointers { count, elements in (0..<count.pointee).forEach { Walk.use(elements[$0]) } }
  }
}

struct InSequence: Shape {
  var sequence: AnySequence<Node>?
  var lazily: LazyMapSequence<[Node], Node>?
  mutating func put(_ node: Node) {
    if node.turn % 2 == 0 { sequence = AnySequence([node]) } else { lazily = [node].lazy.map { $0.itself() } }
  }
  mutating func clear() { (sequence, lazily) = (nil, nil) }
  func visit() {
    sequence?.forEach { Walk.use($0) }
    lazily?.forEach { Walk.use($0) }
  }
}

// MARK: References that do not keep

struct WeakOne: Shape {
  weak var node: Node?
  mutating func put(_ node: Node) { self.node = node }
  mutating func clear() { node = nil }
  func visit() { Walk.use(node) }
}

struct WeakMany: Shape {
  var nodes: [WeakOne] = []
  mutating func put(_ node: Node) { nodes.append(WeakOne(node: node)) }
  mutating func clear() { nodes = [] }
  func visit() { nodes.forEach { $0.visit() } }
}

struct WeakCall: Shape {
  var call: (() -> Node?)?
  mutating func put(_ node: Node) { call = { [weak node] in node } }
  mutating func clear() { call = nil }
  func visit() { Walk.use(call?()) }
}

/// The number of the object says whether it is there.
struct UnownedOne: Shape {
  unowned var node: Node?
  var id: UInt32 = 0
  mutating func put(_ node: Node) { (self.node, id) = (node, node.id) }
  mutating func clear() { (node, id) = (nil, 0) }
  func visit() { if Ledger.isAlive(id) { Walk.use(node) } }
}

struct UnownedCall: Shape {
  var call: (() -> Node)?
  var id: UInt32 = 0
  mutating func put(_ node: Node) { (call, id) = ({ [unowned node] in node }, node.id) }
  mutating func clear() { (call, id) = (nil, 0) }
  func visit() { if Ledger.isAlive(id) { Walk.use(call?()) } }
}

struct UncountedOne: Shape {
  unowned(unsafe) var node: Node?
  var unmanaged: Unmanaged<Node>?
  var id: UInt32 = 0
  mutating func put(_ node: Node) {
    clear()
    id = node.id
    if node.turn % 2 == 0 { self.node = node } else { unmanaged = .passUnretained(node) }
  }
  mutating func clear() { (node, unmanaged, id) = (nil, nil, 0) }
  func visit() { if Ledger.isAlive(id) { Walk.use(node ?? unmanaged?.takeUnretainedValue()) } }
}
