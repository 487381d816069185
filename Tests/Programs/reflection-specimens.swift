// Objects of every kind whose layout reflection is to tell. Prints a line each, `NAME ADDRESS METADATA` in hexadecimal, then `ready`, and waits
// for the end of its input.

import Foundation
import Synchronization

final class Leaf {
  var number = 7
}

protocol Delegate: AnyObject {}
protocol Anything {}
extension Leaf: Delegate, Anything {}

struct State {
  var count = 3
  var leaf = Leaf()
  var label = "a label that is longer than fifteen bytes"
}

extension State: Anything {}

enum Phase {
  case idle
  case loading(Leaf)
  case loaded(State, Leaf)
  indirect case nested(Phase)
}

enum Either {
  case object(Leaf)
  case number(Int)
}

struct Failure: Error {
  var culprit: Leaf
  var code: Int
}

// MARK: Classes

class Base {
  var small: UInt8 = 1
  var first = Leaf()
}

class Middle: Base {
  var flag = true
  weak var parent: Base?
}

final class Derived: Middle {
  var last: Leaf? = Leaf()
}

final class Strengths {
  var strong = Leaf()
  var optional: Leaf?
  weak var weak: Leaf?
  unowned var unowned: Leaf
  unowned(unsafe) var unsafe: Leaf
  var unmanaged: Unmanaged<Leaf>
  weak var delegate: (any Delegate)?
  unowned var owner: any Delegate
  init(_ leaf: Leaf) {
    optional = leaf
    weak = leaf
    unowned = leaf
    unsafe = leaf
    unmanaged = .passUnretained(leaf)
    delegate = leaf
    owner = leaf
  }
}

final class Values {
  var state = State()
  var optionalState: State? = State()
  var pair: (Leaf, named: Leaf) = (Leaf(), Leaf())
  var text = "another label that is longer than fifteen bytes"
  var numbers = [1, 2, 3]
  var table: [String: Leaf] = [:]
  var unique: Set<Int> = []
  var pointer: UnsafeMutablePointer<Int>? = .allocate(capacity: 1)
  var type: Any.Type = Int.self
  var byte: UInt8 = 0
}

final class Enumerations {
  var phase = Phase.loading(Leaf())
  var optionalPhase: Phase? = .idle
  var either = Either.object(Leaf())
  var outcome: Result<Leaf, Failure> = .success(Leaf())
}

final class Existentials {
  var value: any Anything = Leaf()
  var optionalValue: (any Anything)? = State()
  var any: Any = 5
  var delegate: any Delegate = Leaf()
  var optionalDelegate: (any Delegate)? = Leaf()
  var anyObject: AnyObject = Leaf()
  var composed: any (Delegate & Anything) = Leaf()
  var error: any Error = Failure(culprit: Leaf(), code: 1)
}

final class Closures {
  var action: () -> Void = {}
  var optionalAction: (() -> Void)?
  var asynchronous: (@Sendable (Int) async throws -> Void)?
  var plain: @convention(c) () -> Void = {}
  var handlers: (will: (Leaf) -> Void, did: ((Leaf) -> Void)?) = ({ _ in }, nil)
}

class Box<Content> {
  var content: Content
  var after = Leaf()
  init(_ content: Content) { self.content = content }
}

final class PairBox<Left, Right>: Box<Left> {
  var right: Right
  init(_ left: Left, _ right: Right) {
    self.right = right
    super.init(left)
  }
}

actor Counter {
  var leaf = Leaf()
  var count = 0
}

@MainActor final class Screen {
  var leaf = Leaf()
}

final class Formatter2: Formatter {
  var leaf = Leaf()
}

final class CustomOperation: Operation, @unchecked Sendable {
  var leaf = Leaf()
}

final class Object: NSObject {
  var leaf = Leaf()
}

final class WithMutex {
  let before = Leaf()
  let state = Mutex(State())
  let after = Leaf()
}

final class WithC {
  var before = Leaf()
  var status = stat()
  var after = Leaf()
}

final class WithFoundation {
  var date = Date()
  var url = URL(string: "https://example.org/")!
  var data = Data(repeating: 1, count: 100)
  var leaf = Leaf()
}

final class WithTask {
  var task: Task<Void, Never>?
  var leaf = Leaf()
}

final class Lazy {
  lazy var leaf = Leaf()
  @Published2 var wrapped = Leaf()
}

@propertyWrapper struct Published2 {
  var wrappedValue: Leaf
}

struct Nothing {}

enum Only { case one }

final class Sheet<Content> {
  var number = 3
}

/// Its payloads are references whatever it is bound to, so that the compiler uses their spare bits.
enum Slot<Content> { case blank(Sheet<Content>), filled(Sheet<Content>), torn(Sheet<Content>) }

struct Rack<Content> {
  var slot: Slot<Content>
  var leaf: Leaf
}

/// As long as if the slot had a byte for the case, by its padding.
struct Tray<Content> {
  var slot: Slot<Content>
  var count: Int16 = 1
  var leaf: Leaf
}

final class Shelf<Content> {
  var slot = Slot<Content>.filled(Sheet())
  var leaf = Leaf()
  var rack = Rack(slot: Slot<Content>.torn(Sheet()), leaf: Leaf())
}

struct Wrapped<Content> {
  var content: Content
  var isUsed = true
}

extension Nothing: Anything {}
extension Wrapped: Anything {}

struct Inflater {
  var stream: UnsafeMutablePointer<Int>
  let isRaw: Bool
}

struct Frames {
  let inflater: Inflater?
  let limit = 65_536
  var rest: Mixed?
}

/// An optional of a structure that ends with an optional of its own.
final class Framed {
  var frames: Frames? = Frames(inflater: nil, rest: Mixed())
  var none: Frames?
}

/// Values that are stored in the existential's buffer itself: of no size, and with fields.
final class Buffered {
  var nothing: any Anything = Nothing()
  var generic: any Anything = Wrapped(content: Leaf())
  var text: Any = "a text that is longer than fifteen bytes"
}

struct Mixed {
  let nothing = Nothing()
  var leaf = Leaf()
  let only = Only.one
}

/// Properties of no size before, between and behind others.
final class Sizeless {
  let void: Void = ()
  weak var parent: Leaf?
  let nothing = Nothing()
  unowned(unsafe) var unsafe: Leaf
  let only = Only.one
  var mixed = Mixed()
  let type: Leaf.Type = Leaf.self
  let number: Int.Type = Int.self
  var clock = ContinuousClock()
  var generator = SystemRandomNumberGenerator()
  var last = Leaf()
  let end = Nothing()
  init(_ leaf: Leaf) { unsafe = leaf }
}

class SizelessBase {
  let nothing = Nothing()
}

final class SizelessDerived: SizelessBase {
  let only = Only.one
  weak var parent: Leaf?
  var leaf = Leaf()
}

actor SizelessActor {
  let clock = ContinuousClock()
  unowned var owner: Leaf
  var leaf = Leaf()
  init(_ leaf: Leaf) { owner = leaf }
}

/// Payloads of one type, distinguished by bits of the reference.
enum Gear {
  case neutral
  case forward(Leaf)
  case reverse(Leaf)
  case parked
}

/// Payloads with numbers, distinguished by a byte behind them.
enum Reading {
  case raw(Int)
  case named(Leaf, Int)
  case shared(Leaf, Int)
}

indirect enum Expression {
  case leaf(Leaf)
  case negated(Expression)
  case sum(Expression, Expression)
  case nothing
}

final class Cases {
  var gear = Gear.reverse(Leaf())
  var optionalGear: Gear? = .reverse(Leaf())
  var reading = Reading.shared(Leaf(), 1)
  var expression = Expression.negated(.leaf(Leaf()))
  var pair: (Leaf, Leaf)? = (Leaf(), Leaf())
  var unset: Nothing? = nil
}

final class Buffer: ManagedBuffer<Leaf, Leaf> {}

// MARK: Printing

func show(_ name: String, _ address: UnsafeRawPointer) {
  let metadata = address.load(as: UInt.self)
  print(name, String(UInt(bitPattern: address), radix: 16), String(metadata, radix: 16))
}

func show(_ name: String, _ object: AnyObject) { show(name, UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())) }

/// A closure as it is: passed as a generic argument it would be wrapped in another.
struct Action {
  var run: () -> Void
}

/// The context of a closure.
func showContext(_ name: String, _ action: Action) {
  keptActions.append(action)
  withUnsafeBytes(of: action) { show(name, $0.load(fromByteOffset: 8, as: UnsafeRawPointer.self)) }
}

func word<Value>(_ value: Value) -> UnsafeRawPointer { withUnsafeBytes(of: value) { $0.load(as: UnsafeRawPointer.self) } }

// Kept for good, and out of the optimizer's sight.
nonisolated(unsafe) var kept: [Any] = []
nonisolated(unsafe) var keptActions: [Action] = []

@inline(never) func keep<Value>(_ value: Value) -> Value {
  kept.append(value)
  return value
}

// MARK: Closures

@inline(never) func strongAndWeak(_ leaf: Leaf, _ other: Leaf, _ number: Int) -> () -> Void {
  { [weak other, unowned leaf] in
    leaf.number += number
    other?.number += 1
  }
}

@inline(never) func two(_ leaf: Leaf, _ text: String) -> () -> Void {
  { leaf.number += text.count }
}

@inline(never) func sharing(_ leaf: Leaf) -> (() -> Void, () -> Void) {
  var variable: Leaf? = leaf
  return ({ variable = nil }, { variable?.number += 1 })
}

@inline(never) func generic<T, U>(_ first: T, _ second: U, _ leaf: Leaf) -> () -> Void {
  { kept = [first, second, leaf] }
}

@inline(never) func boxed<T>(_ value: T) -> (() -> Void, () -> Any) {
  var variable = value
  return ({ variable = value }, { variable })
}

@inline(never) func wrapping(_ action: @escaping () -> Void) -> () -> Void {
  {
    action()
    kept = []
  }
}

final class Owner {
  var leaf: Leaf
  init(_ leaf: Leaf) { self.leaf = leaf }
  @inline(never) func closure() -> () -> Void {
    { self.leaf.number += 1 }
  }
}

/// The box of the variable that a closure captures, if it captures one alone: the context is the box then.
func contextOf(_ run: @escaping () -> Void) -> UnsafeRawPointer {
  let action = Action(run: run)
  keptActions.append(action)
  return withUnsafeBytes(of: action) { $0.load(fromByteOffset: 8, as: UnsafeRawPointer.self) }
}

// MARK: All

@inline(never) func showClasses() {
  let leaf = keep(Leaf())
  show("leaf", leaf)
  show("derived", keep(Derived()))
  show("strengths", keep(Strengths(leaf)))
  show("values", keep(Values()))
  show("enumerations", keep(Enumerations()))
  show("existentials", keep(Existentials()))
  show("buffered", keep(Buffered()))
  show("framed", keep(Framed()))
  show("closures", keep(Closures()))
  show("box-of-int", keep(Box(5)))
  show("box-of-leaf", keep(Box(Leaf())))
  show("box-of-state", keep(Box<State?>(State())))
  show("pair-box", keep(PairBox(Leaf(), "right")))
  show("pair-box-of-array", keep(PairBox([Leaf()], Phase.idle)))
  show("actor", keep(Counter()))
  show("formatter", keep(Formatter2()))
  show("operation", keep(CustomOperation()))
  show("nsobject", keep(Object()))
  show("mutex", keep(WithMutex()))
  show("c", keep(WithC()))
  show("foundation", keep(WithFoundation()))
  show("task", keep(WithTask()))
  show("sizeless", keep(Sizeless(leaf)))
  show("sizeless-derived", keep(SizelessDerived()))
  show("sizeless-actor", keep(SizelessActor(leaf)))
  show("box-of-nothing", keep(Box(Nothing())))
  show("cases", keep(Cases()))
  show("lazy", keep(Lazy()))
  show("shelf", keep(Shelf<Int>()))
  show("buffer", keep(Buffer.create(minimumCapacity: 4) { _ in Leaf() }))
}

@inline(never) func showStorage() {
  show("array-of-leaf", word(keep([Leaf(), Leaf()])))
  show("array-of-state", word(keep([State(), State()])))
  show("array-of-int", word(keep(Array(0..<Int(CommandLine.argc) + 4))))
  show("array-of-any", word(keep([Leaf(), 5] as [Any])))
  show("array-of-closures", word(keep([{}, two(Leaf(), "x")] as [() -> Void])))
  show("array-of-slots", word(keep([Slot<Int>.blank(Sheet()), .torn(Sheet())])))
  show("array-of-optional-slots", word(keep([Slot<Int>.blank(Sheet()), nil])))
  show("array-of-trays", word(keep([Tray(slot: Slot<Int>.blank(Sheet()), leaf: Leaf())])))
  show("array-of-racks", word(keep([Rack(slot: Slot<Int>.blank(Sheet()), leaf: Leaf())])))
  show("dictionary", word(keep(["one": Leaf(), "two": Leaf()])))
  show("dictionary-of-states", word(keep([1: State()])))
  show("set", word(keep(Set(["one", "two"]))))
  let text = keep(String(repeating: "long ", count: 10 + Int(CommandLine.argc)))
  withUnsafeBytes(of: text) { show("string", UnsafeRawPointer(bitPattern: $0.load(fromByteOffset: 8, as: UInt.self) & 0x00FF_FFFF_FFFF_FFF8)!) }
}

@inline(never) func showContexts() {
  let leaf = keep(Leaf())
  showContext("closure", Action(run: two(leaf, "text")))
  showContext("closure-weak", Action(run: strongAndWeak(leaf, leaf, 5)))
  let (set, get) = sharing(leaf)
  keptActions.append(Action(run: get))
  show("variable", contextOf(set))
  showContext("closure-generic", Action(run: generic(leaf, "text", leaf)))
  showContext("closure-generic-int", Action(run: generic(5, [leaf], leaf)))
  showContext("closure-box", Action(run: boxed(leaf).0))
  showContext("closure-self", Action(run: Owner(leaf).closure()))
  showContext("closure-of-closure", Action(run: wrapping(two(leaf, "inner"))))
  let wrapped = keep(two(leaf, "wrapped"))
  showContext("closure-thunk", Action(run: wrapped))
  show("error", word(keep(Failure(culprit: leaf, code: 4) as any Error)))
}

showClasses()
showStorage()
showContexts()
print("ready")
fflush(stdout)
while readLine() != nil {}
