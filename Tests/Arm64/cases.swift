// Programs that scripts/test-arm64 records. The argument names one of the cases below.
// A case prints the same lines in every run. Its comment says what it leaks. The other cases leak nothing.

import Dispatch
import Glibc

final class Leaf {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// Makes a leaf on the heap. The optimiser cannot move it to the stack.
@inline(never) func makeLeaf(_ number: Int) -> Leaf { Leaf(number) }

/// Overwrites the stack below this call. Stale pointers of earlier calls would hide a leak.
@inline(never) func overwriteStack() {
  withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { memory in
    for index in memory.indices { memory[index] = UInt8(truncatingIfNeeded: index & 1) }
    precondition(memory[1] == 1)
  }
}

// MARK: classes

final class Room {
  var neighbour: Room?
  let label = "a label that is too long to lie inside of the string itself"
}

@inline(never) func connectRooms() -> Int {
  let (first, second) = (Room(), Room())
  first.neighbour = second
  second.neighbour = first
  return first.label.count
}

/// Leaks 20 cycles of two rooms.
func cycles() {
  var letters = 0
  for _ in 0..<20 { letters += connectRooms() }
  overwriteStack()
  print("cycles", letters)
}

// MARK: closures

final class Screen {
  var onTap: (() -> Int)?
  var taps = 0
  @inline(never) func listen() {
    onTap = {
      self.taps += 1
      return self.taps
    }
  }
  @inline(never) func listenWeakly() {
    onTap = { [weak self] in self.map { $0.taps + 1 } ?? 0 }
  }
}

@inline(never) func openScreen(_ leaks: Bool) -> Int {
  let screen = Screen()
  if leaks { screen.listen() } else { screen.listenWeakly() }
  return screen.onTap?() ?? 0
}

/// Leaks 10 screens, which hold themselves through their closures.
func closures() {
  var taps = 0
  for number in 0..<20 { taps += openScreen(number % 2 == 0) }
  let adders = (0..<50).map { number in { (other: Int) in number + other } }
  overwriteStack()
  print("closures", taps, adders.reduce(0) { $1($0) })
}

// MARK: enumerations

/// Has more payload cases than four bits can distinguish. So the cases also need bits that only one processor leaves
/// unused in references.
enum Signal {
  case off, broken
  case a(Post), b(Post), c(Post), d(Post), e(Post), f(Post), g(Post), h(Post), i(Post), j(Post), k(Post), l(Post)
  case m(Post), n(Post), o(Post), p(Post), q(Post), r(Post), s(Post), t(Post)
}

final class Post {
  var signal = Signal.off
  let number: Int
  init(_ number: Int) { self.number = number }
}

@inline(never) func connectPosts(_ number: Int) -> Int {
  let cases = [
    Signal.a, Signal.b, Signal.c, Signal.d, Signal.e, Signal.f, Signal.g, Signal.h, Signal.i, Signal.j, Signal.k,
    Signal.l, Signal.m, Signal.n, Signal.o, Signal.p, Signal.q, Signal.r, Signal.s, Signal.t,
  ]
  let (first, second) = (Post(number), Post(number + 1))
  first.signal = cases[number % cases.count](second)
  second.signal = number % 2 == 0 ? cases[(number + 7) % cases.count](first) : .broken
  return first.number
}

/// Leaks 20 cycles of two posts.
func enumerations() {
  var sum = 0
  for number in 0..<40 { sum += connectPosts(number) }
  overwriteStack()
  print("enumerations", sum)
}

// MARK: structures

struct Order {
  var leaf: Leaf
  var notes: [String] = []
  var amounts: [String: Int] = [:]
}

final class Parcel {
  let number: Int
  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) var lastParcel: Unmanaged<Parcel>?

@inline(never) func loseParcel(_ number: Int) { lastParcel = Unmanaged.passRetained(Parcel(number)) }

@inline(never) func makeOrder(_ number: Int) -> Order {
  var order = Order(leaf: makeLeaf(number))
  for index in 0..<number % 7 {
    order.notes.append("note \(index) of an order with a long description")
    order.amounts["amount \(index)"] = number * index
  }
  return order
}

/// Leaks 20 parcels, each by one retain too many.
func structures() {
  var orders = (0..<200).map(makeOrder)
  let copies = orders
  for index in orders.indices { orders[index].amounts["sum"] = orders[index].amounts.values.reduce(0, +) }
  let byLeaf = Dictionary(grouping: orders) { $0.leaf.number % 5 }
  for number in 0..<20 { loseParcel(number) }
  lastParcel = nil
  overwriteStack()
  let sums = orders.compactMap { $0.amounts["sum"] }.reduce(0, +)
  print("structures", sums, copies.filter { $0.amounts["sum"] == nil }.count, byLeaf.keys.sorted())
}

// MARK: tasks

actor Ledger {
  private var leaves: [Leaf] = []
  func add(_ number: Int) { leaves.append(makeLeaf(number)) }
  func sum() async -> Int {
    await Task.yield()
    return leaves.reduce(0) { $0 + $1.number }
  }
}

@inline(never) func climb(_ height: Int, _ ledger: Ledger) async -> Int {
  let leaves = (0...height).map(makeLeaf)
  await ledger.add(height)
  if height == 0 { return 1 }
  await Task.yield()
  return await climb(height - 1, ledger) + leaves.count
}

/// Runs the body in a task, while the first thread waits.
func runTask(_ body: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    done.signal()
  }
  done.wait()
}

@Sendable func climbInTasks() async {
  let ledger = Ledger()
  let total = await withTaskGroup(of: Int.self) { group in
    for number in 0..<6 { group.addTask { await climb(15 + number, ledger) } }
    return await group.reduce(0, +)
  }
  async let first = climb(10, ledger)
  async let second = climb(12, ledger)
  try? await Task.sleep(nanoseconds: 1_000_000)
  let both = await first + second
  let numbers = AsyncStream { stream in
    for number in 0..<20 { stream.yield(makeLeaf(number)) }
    stream.finish()
  }
  var streamed = 0
  for await leaf in numbers { streamed += leaf.number }
  print("tasks", total, both, await ledger.sum(), streamed)
}

func tasks() { runTask(climbInTasks) }

// MARK: suspended tasks

actor Desk {
  func wait(_ leaf: Leaf) async {
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    print(leaf.number)
  }
  func pass() {}
}

let desk = Desk()

/// Leaks 3 tasks, which wait for continuations that nothing resumes.
func suspended() {
  runTask {
    for number in 0..<3 { Task { await desk.wait(makeLeaf(number)) } }
    // The desk serves one task at a time, so the tasks wait when these calls end.
    for _ in 0..<50 {
      await desk.pass()
      await Task.yield()
    }
  }
  usleep(100_000)
  print("suspended")
}

// MARK: threads

nonisolated(unsafe) var sums = [Int](repeating: 0, count: 4)

@inline(never) func addLeaves(_ number: Int) -> Int {
  var leaves: [Leaf] = []
  for index in 0..<200 { leaves.append(makeLeaf(number * index)) }
  return leaves.reduce(0) { $0 + $1.number }
}

func threads() {
  let places = UnsafeMutablePointer<Int>.allocate(capacity: 4)
  let running = (0..<4).map { number in
    places[number] = number + 1
    var thread = pthread_t()
    let argument = UnsafeMutableRawPointer(places + number)
    pthread_create(
      &thread, nil,
      { argument in
        let place = argument!.assumingMemoryBound(to: Int.self)
        place.pointee = addLeaves(place.pointee)
        return nil
      }, argument)
    return thread
  }
  for thread in running { pthread_join(thread, nil) }
  let byThreads = (0..<4).map { places[$0] }
  places.deallocate()

  sums.withUnsafeMutableBufferPointer { buffer in
    nonisolated(unsafe) let sums = buffer
    DispatchQueue.concurrentPerform(iterations: 4) { sums[$0] = addLeaves($0) }
  }
  let (queue, group) = (DispatchQueue(label: "serial"), DispatchGroup())
  nonisolated(unsafe) var queued = 0
  for number in 0..<8 { queue.async(group: group) { queued += addLeaves(number) } }
  DispatchQueue.global().async(group: group) { _ = addLeaves(9) }
  group.wait()
  print("threads", byThreads, sums, queued)
}

// MARK: recursion

@inline(never) func descend(_ depth: Int, _ limit: Int) -> Int {
  var sum = depth % 2500 == 0 ? makeLeaf(depth).number : 0
  if depth < limit {
    sum += descend(depth + 1, limit)
  } else {
    for number in 0..<50 { sum += [number, depth].count }
  }
  // Work after the call, so that the call is not the function's last.
  if depth % 2500 == 0 { sum += makeLeaf(depth).number & 1 }
  return sum &+ 1
}

func recursion() { print("recursion", descend(1, 10_000)) }

// MARK: calls from C

func callbacks() {
  var numbers = (0..<300).map { ($0 * 7919) % 1009 }
  qsort(&numbers, numbers.count, MemoryLayout<Int>.stride) { first, second in
    let first = makeLeaf(first!.load(as: Int.self))
    let second = makeLeaf(second!.load(as: Int.self))
    return first.number < second.number ? -1 : first.number > second.number ? 1 : 0
  }
  let key = makeLeaf(numbers[100])
  var number = key.number
  let found = bsearch(&number, numbers, numbers.count, MemoryLayout<Int>.stride) { key, element in
    Int32(makeLeaf(key!.load(as: Int.self)).number - element!.load(as: Int.self))
  }
  atexit {
    let leaves = (0..<10).map(makeLeaf)
    print("at exit", leaves.reduce(0) { $0 + $1.number })
  }
  print("callbacks", numbers[0], numbers[150], numbers[299], found != nil)
}

// MARK: errors

final class Reason {
  let text: String
  init(_ text: String) { self.text = text }
}

enum Refusal: Error {
  case odd(Reason)
  case large(Int)
}

@inline(never) func accept(_ number: Int) throws -> Leaf {
  if number % 3 == 0 { throw Refusal.odd(Reason("the number \(number) is a multiple of three")) }
  if number > 90 { throw Refusal.large(number) }
  return makeLeaf(number)
}

@inline(never) func pass(_ number: Int) throws -> Int {
  defer { withExtendedLifetime(makeLeaf(number)) {} }
  return try (0..<3).map { try accept(number + $0 * 3).number }.reduce(0, +)
}

func errors() {
  var (accepted, odd, large) = (0, 0, 0)
  for number in 0..<100 {
    do {
      accepted += try pass(number)
    } catch Refusal.odd(let reason) {
      odd += reason.text.count
    } catch {
      large += 1
    }
  }
  print("errors", accepted, odd, large)
}

// MARK: generics

protocol Shape {
  associatedtype Corner
  var corners: [Corner] { get }
  func scaled(_ factor: Int) -> Self
}

struct Line: Shape {
  var corners: [Leaf]
  func scaled(_ factor: Int) -> Line { Line(corners: corners.map { makeLeaf($0.number * factor) }) }
}

final class Text: Shape {
  let corners: [String]
  init(corners: [String]) { self.corners = corners }
  func scaled(_ factor: Int) -> Text { Text(corners: corners.map { String(repeating: $0, count: factor) }) }
}

struct Pair<First: Shape, Second: Shape>: Shape {
  var first: First
  var second: Second
  var corners: [Any] { first.corners.map { $0 as Any } + second.corners.map { $0 as Any } }
  func scaled(_ factor: Int) -> Pair { Pair(first: first.scaled(factor), second: second.scaled(factor)) }
}

@inline(never) func grow<S: Shape>(_ shape: S, _ factor: Int) -> any Shape { shape.scaled(factor) }

@inline(never) func countCorners<S: Shape>(_ shape: S) -> Int { shape.corners.count }

func generics() {
  let line = Line(corners: (0..<4).map(makeLeaf))
  let text = Text(corners: ["a corner with a long name", "b"])
  var shapes: [any Shape] = [line, text, Pair(first: line, second: text)]
  shapes.append(Pair(first: Pair(first: text, second: line), second: text))
  var corners = 0
  for factor in 1..<10 {
    for shape in shapes { corners += countCorners(grow(shape, factor)) }
  }
  let keys = Set<AnyHashable>(["a", 1, 2.5, [1, 2], "another key that is a long text"])
  print("generics", corners, keys.contains([1, 2]), keys.count)
}

// MARK: references

final class Tree {
  var children: [Tree] = []
  weak var parent: Tree?
  unowned let forest: Forest
  init(_ forest: Forest) { self.forest = forest }
}

final class Forest {
  var trees: [Tree] = []
  lazy var first: () -> Int = { [unowned self] in self.trees.count }
}

@inline(never) func plant(_ count: Int) -> [() -> Tree?] {
  let forest = Forest()
  for _ in 0..<count {
    let tree = Tree(forest)
    for _ in 0..<3 {
      let child = Tree(forest)
      child.parent = tree
      tree.children.append(child)
    }
    forest.trees.append(tree)
  }
  let parents = forest.trees.flatMap { $0.children }.compactMap { $0.parent === $0.forest.trees[0] ? 1 : nil }
  print("planted", parents.count, forest.first())
  return forest.trees.map { tree in { [weak tree] in tree } }
}

func references() {
  let trees = plant(40)
  print("references", trees.filter { $0() == nil }.count)
}

// MARK: arrays

func arrays() {
  var numbers: [Int] = []
  var leaves: ContiguousArray<Leaf> = []
  var bytes = malloc(1)!
  for size in 1...3000 {
    numbers.append(size)
    if size % 10 == 0 { leaves.append(makeLeaf(size)) }
    if size % 20 == 0 { leaves.removeFirst() }
    if size % 5 == 0 { bytes = realloc(bytes, size * 13)! }
  }
  memset(bytes, 1, 3000 * 13)
  let slice = numbers[100..<200] + numbers.suffix(10)
  var nested = [[Int]](repeating: [1], count: 50)
  for index in nested.indices { nested[index].append(contentsOf: slice) }
  print(
    "arrays", numbers.count, leaves.count, nested.joined().reduce(0, +),
    bytes.load(fromByteOffset: 38_999, as: UInt8.self))
  free(bytes)
}

// MARK: strings

func strings() {
  var text = ""
  for number in 0..<300 { text += "word\(number % 17) and a longer part \(number), " }
  let words: [Substring] = text.split(separator: ",").flatMap { $0.split(separator: " ") }
  var counts: [Substring: Int] = [:]
  for word in words { counts[word, default: 0] += 1 }
  let copies = counts.keys.map { String($0.dropFirst(1)).uppercased() + "é…" }
  let first = text[text.startIndex..<text.index(text.startIndex, offsetBy: 40)]
  print(
    "strings", words.count, counts.count, copies.map(\.utf8.count).reduce(0, +), first,
    String(text.reversed().prefix(9)))
}

// MARK: signals

nonisolated(unsafe) var caught = 0

@inline(never) func handleSignal() {
  let leaves = (0..<20).map(makeLeaf)
  caught += leaves.reduce(0) { $0 + $1.number }
}

@inline(never) func raiseBelow(_ depth: Int) -> Int {
  let leaf = makeLeaf(depth)
  if depth == 0 {
    raise(SIGUSR1)
    return caught
  }
  return raiseBelow(depth - 1) + leaf.number
}

/// The handler runs on its own stack and allocates.
func signals() {
  let size = 1 << 18
  let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
  var stack = stack_t(ss_sp: memory, ss_flags: 0, ss_size: size)
  sigaltstack(&stack, nil)
  var action = sigaction()
  action.__sigaction_handler.sa_handler = { _ in handleSignal() }
  action.sa_flags = SA_ONSTACK
  sigaction(SIGUSR1, &action, nil)
  var sum = 0
  for depth in 0..<20 { sum += raiseBelow(depth) }
  print("signals", caught, sum)
  var none = stack_t(ss_sp: nil, ss_flags: Int32(SS_DISABLE), ss_size: 0)
  sigaltstack(&none, nil)
  memory.deallocate()
}

// MARK: processes

func processes() {
  // Swift does not import fork.
  typealias Fork = @convention(c) () -> pid_t
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
  var statuses: [Int32] = []
  for number in 0..<3 {
    let leaves = (0..<20).map(makeLeaf)
    let child = fork()
    if child == 0 {
      let more = leaves.map { makeLeaf($0.number + number) }
      _exit(Int32(more.reduce(0) { $0 + $1.number } % 256))
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0 {}
    statuses.append(status)
  }
  print("processes", statuses)
}

@main enum Cases {
  static let all: [(name: String, run: () -> Void)] = [
    ("cycles", cycles), ("closures", closures), ("enumerations", enumerations), ("structures", structures),
    ("tasks", tasks), ("suspended", suspended), ("threads", threads), ("recursion", recursion),
    ("callbacks", callbacks), ("errors", errors), ("generics", generics), ("references", references),
    ("arrays", arrays), ("strings", strings), ("signals", signals), ("processes", processes),
  ]

  static func main() {
    let chosen = all.filter { CommandLine.arguments.dropFirst().contains($0.name) }
    guard chosen.count == 1 else { exit(64) }
    chosen[0].run()
  }
}
