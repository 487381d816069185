// Allocates at the end of all kinds of Swift call paths, and each time reports the stack that the C compiler's unwinder sees.
import Glibc

@_silgen_name("stacks_next_size") func nextSize() -> Int
@_silgen_name("stacks_report") func report(_ size: Int)
@_silgen_name("stacks_allocate") func allocate(_ size: Int) -> UnsafeMutableRawPointer
@_silgen_name("stacks_allocate_object") func allocateObject(_ metadata: UnsafeRawPointer, _ size: Int, _ alignMask: Int) -> UnsafeMutableRawPointer

final class Marker {}

/// Allocates a block, or an object, of a size of its own in the function it is inlined into.
@inline(__always) func mark() {
  let size = nextSize()
  let block = allocate(size)
  report(size)
  free(block)
}
@inline(__always) func markObject() {
  let size = nextSize()
  _ = allocateObject(unsafeBitCast(Marker.self, to: UnsafeRawPointer.self), size, 15)
  report(size)
}

// MARK: closures

@inline(never) func applying<T>(_ body: (T) throws -> T, to value: T) rethrows -> T {
  mark()
  let result = try body(value)
  markObject()
  return result
}
@inline(never) func makeCounter(_ start: Int) -> () -> Int {
  var value = start
  return {
    value += 1
    mark()
    return value
  }
}
@inline(never) func closures(_ n: Int) -> Int {
  let counter = makeCounter(n)
  var sum = applying({ x in applying({ y in mark(); return y + x }, to: x) }, to: n)
  let nested: (Int) -> (Int) -> Int = { a in { b in markObject(); return a + b } }
  for _ in 0..<3 { sum += counter() }
  return sum + nested(sum)(n)
}

// MARK: witnesses, generics, classes

protocol Shape {
  associatedtype Unit: Numeric
  func area(_ depth: Int) -> Unit
  static func make(_ unit: Unit) -> Self
  var name: String { get }
}
extension Shape {
  @inline(never) func describedArea(_ depth: Int) -> (String, Unit) { mark(); return (name, area(depth)) }
}
struct Square<U: Numeric>: Shape {
  var side: U
  @inline(never) func area(_ depth: Int) -> U {
    markObject()
    return depth > 0 ? Square(side: side * side).area(depth - 1) : side * side
  }
  static func make(_ unit: U) -> Square { mark(); return Square(side: unit) }
  var name: String { mark(); return "square" }
}
struct Doubled<S: Shape>: Shape {
  var base: S
  @inline(never) func area(_ depth: Int) -> S.Unit { mark(); return base.describedArea(depth).1 * 2 }
  static func make(_ unit: S.Unit) -> Doubled { Doubled(base: S.make(unit)) }
  var name: String { base.name + base.name }
}
@inline(never) @_optimize(none) func total<S: Shape>(_ shape: S, _ depth: Int) -> S.Unit {
  mark()
  return depth == 0 ? shape.describedArea(3).1 : total(Doubled(base: shape), depth - 1)
}
@inline(never) @_optimize(none) func anyArea(_ shapes: [any Shape]) {
  for shape in shapes { mark(); _ = shape.describedArea(1) }
}

class Animal {
  @inline(never) func speak(_ times: Int) { mark(); if times > 0 { speak(times - 1) } }
  subscript(_ index: Int) -> Int {
    @inline(never) get { mark(); return index }
    @inline(never) set { markObject(); if newValue > 0 { self[index] = newValue - 1 } }
  }
  deinit { mark() }
}
final class Dog: Animal {
  override func speak(_ times: Int) { markObject(); super.speak(times); mark() }
}
@inline(never) @_optimize(none) func animals(_ make: () -> Animal) {
  let animal = make()
  animal.speak(4)
  animal[2] += 3
}

// MARK: errors, indirect enums, defer, local functions

enum Failure: Error { case atDepth(Int) }
indirect enum Tree { case leaf(Int), node(Tree, Tree) }
@inline(never) func build(_ depth: Int) -> Tree {
  mark()
  return depth == 0 ? .leaf(1) : .node(build(depth - 1), build(depth - 1))
}
@inline(never) func sum(_ tree: Tree) -> Int {
  switch tree {
  case .leaf(let n): markObject(); return n
  case .node(let l, let r): return sum(l) + sum(r)
  }
}
@inline(never) func failing(_ depth: Int) throws -> Int {
  defer { mark() }
  guard depth > 0 else { throw Failure.atDepth(depth) }
  return try failing(depth - 1) + 1
}
@inline(never) func localFunctions(_ n: Int) -> Int {
  func outer(_ k: Int) -> Int { mark(); return k == 0 ? n : inner(k - 1) }
  func inner(_ k: Int) -> Int { markObject(); return outer(k) + 1 }
  return outer(n)
}
@inline(never) func withOptionalChain(_ animal: Animal?) { animal?.speak(1); mark() }

// MARK: depth

@inline(never) func descend(_ depth: Int, _ target: Int) -> Int {
  if depth == 1 || depth == 3000 || depth == target { mark() }
  let below = depth < target ? descend(depth + 1, target) : 0
  if depth == 9000 || depth == 17 { markObject() }
  return below + 1
}

// MARK: through C

@inline(never) func sortThroughC(_ count: Int) {
  var numbers = (0..<count).map { ($0 * 7919) % count }
  numbers.withUnsafeMutableBufferPointer {
    qsort($0.baseAddress!, count, MemoryLayout<Int>.stride) { a, b in
      let left = a!.load(as: Int.self), right = b!.load(as: Int.self)
      if left % 8 == 0 { mark() }
      return left < right ? -1 : left > right ? 1 : 0
    }
  }
}
@inline(never) func signalThroughC() {
  signal(SIGUSR1) { _ in mark() }
  raise(SIGUSR1)
  mark()
}
@inline(never) func threadThroughC() {
  var thread = pthread_t()
  pthread_create(&thread, nil, { _ in mark(); _ = closures(2); markObject(); return nil }, nil)
  pthread_join(thread, nil)
}

for round in 1...3 {
  mark()
  _ = closures(round)
  _ = total(Square(side: 1), 3)
  _ = total(Square(side: 1.5), 2)
  anyArea([Square(side: 1), Doubled(base: Square<UInt8>.make(1))])
  animals { Dog() }
  animals { Animal() }
  withOptionalChain(Dog())
  _ = sum(build(3))
  do { _ = try failing(4) } catch { markObject() }
  _ = localFunctions(round + 3)
  _ = descend(1, 10000)
  sortThroughC(100)
  signalThroughC()
  threadThroughC()
}
