// Classes of objects, with places of all shapes.

import Synchronization

class Plain: Node {
  var direct = Direct()
  var listed = Listed()
  var number = Number()
  var any = AsAny()

  init() { super.init(.plain) }
  override init(_ kind: Kind) { super.init(kind) }
  override var slotCount: Int { 4 }
  override func edit(_ slot: Int, _ edit: Edit) {
    switch slot {
    case 0: direct.apply(edit)
    case 1: listed.apply(edit)
    case 2: number.apply(edit)
    default: any.apply(edit)
    }
  }
  override func visit() {
    direct.visit()
    listed.visit()
    number.visit()
    any.visit()
  }
}

class Derived: Plain {
  var weakOne = WeakOne()
  var chosen = Chosen()
  var tupled = Tupled()
  private var flag = true

  override init() { super.init(.derived) }
  override var slotCount: Int { 7 }
  override func edit(_ slot: Int, _ edit: Edit) {
    switch slot {
    case 4: weakOne.apply(edit)
    case 5: chosen.apply(edit)
    case 6: tupled.apply(edit)
    default: super.edit(slot, edit)
    }
  }
  override func visit() {
    super.visit()
    weakOne.visit()
    chosen.visit()
    tupled.visit()
  }
}

final class Final: Derived {
  var halves = Halves()
  var asItem = AsItem()
  var marked = MarkedNumber()

  override var slotCount: Int { 10 }
  override func edit(_ slot: Int, _ edit: Edit) {
    switch slot {
    case 7: halves.apply(edit)
    case 8: asItem.apply(edit)
    case 9: marked.apply(edit)
    default: super.edit(slot, edit)
    }
  }
  override func visit() {
    super.visit()
    halves.visit()
    asItem.visit()
    marked.visit()
  }
}

final class Registry: Node {
  private var keyed = Keyed()
  private var byNode = ByNode()
  private var bytes = Bytes()
  private var numbers = NumberTable()
  private var weakMany = WeakMany()

  init() { super.init(.registry) }
  override var slotCount: Int { 5 }
  override func edit(_ slot: Int, _ edit: Edit) {
    switch slot {
    case 0: keyed.apply(edit)
    case 1: byNode.apply(edit)
    case 2: bytes.apply(edit)
    case 3: numbers.apply(edit)
    default: weakMany.apply(edit)
    }
  }
  override func visit() {
    keyed.visit()
    byNode.visit()
    bytes.visit()
    numbers.visit()
    weakMany.visit()
  }
}

final class Callbacks: Node {
  private var called = Called()
  private var method = Method()
  private var variable = Variable()
  private var weakCall = WeakCall()
  private var numberCall = NumberCall()

  init() { super.init(.callbacks) }
  override var slotCount: Int { 5 }
  override func edit(_ slot: Int, _ edit: Edit) {
    switch slot {
    case 0: called.apply(edit)
    case 1: method.apply(edit)
    case 2: variable.apply(edit)
    case 3: weakCall.apply(edit)
    default: numberCall.apply(edit)
    }
  }
  override func visit() {
    called.visit()
    method.visit()
    variable.visit()
    weakCall.visit()
    numberCall.visit()
  }
}

/// The types `T` have several sizes, so that the places begin at several offsets.
final class Mixed<T>: Node {
  var value: T
  var direct = Direct()
  var either = EitherOf()
  var tree = InTree()
  var optional = OptionalNumber()

  init(_ value: T) {
    self.value = value
    super.init(.mixed)
  }
  override var slotCount: Int { 4 }
  override func edit(_ slot: Int, _ edit: Edit) {
    switch slot {
    case 0: direct.apply(edit)
    case 1: either.apply(edit)
    case 2: tree.apply(edit)
    default: optional.apply(edit)
    }
  }
  override func visit() {
    direct.visit()
    either.visit()
    tree.visit()
    optional.visit()
  }
}

/// A value that cannot be copied.
struct Unique: ~Copyable {
  var node: Node?
  var mark: UInt8 = 1
  deinit {}
}

/// Places that can only be used in place.
final class Locked: Node {
  private let node = Mutex<Node?>(nil)
  private let nodes = Mutex<[Node]>([])
  private let number = Atomic<UInt>(0)
  private let numbers = Mutex<Numbers>(Numbers())
  private var unique = Unique()

  init() { super.init(.locked) }
  override var slotCount: Int { 5 }
  override func edit(_ slot: Int, _ edit: Edit) {
    switch slot {
    case 0: node.withLock { if case .put(let new) = edit { $0 = new } else { $0 = nil } }
    case 1: nodes.withLock { if case .put(let new) = edit { $0.append(new) } else { $0 = [] } }
    case 2:
      var place = Number(number: number.load(ordering: .relaxed))
      place.apply(edit)
      number.store(place.number, ordering: .relaxed)
    case 3: numbers.withLock { $0.apply(edit) }
    default: if case .put(let new) = edit { unique.node = new } else { unique.node = nil }
    }
  }
  override func visit() {
    Walk.use(node.withLock { $0 })
    nodes.withLock { $0 }.forEach { Walk.use($0) }
    Number(number: number.load(ordering: .relaxed)).visit()
    numbers.withLock { $0 }.visit()
    Walk.use(unique.node)
  }
}

/// Memory that it manages by hand.
final class Memory: Node {
  private var allocated = Allocated()
  private var record = RecordPointer()
  private var counted = Counted()
  private var records = RecordPointers()
  private var interior = RecordInterior()

  init() { super.init(.memory) }
  override var slotCount: Int { 5 }
  override func edit(_ slot: Int, _ edit: Edit) {
    switch slot {
    case 0: allocated.apply(edit)
    case 1: record.apply(edit)
    case 2: counted.apply(edit)
    case 3: records.apply(edit)
    default: interior.apply(edit)
    }
  }
  override func visit() {
    allocated.visit()
    record.visit()
    counted.visit()
    records.visit()
    interior.visit()
  }
}

// MARK: One place of any shape

final class Cell<S: Shape>: Node {
  private let mark: UInt8 = 1
  private var shape = S()
  init() { super.init(.cell) }
  override var slotCount: Int { 1 }
  override func edit(_ slot: Int, _ edit: Edit) { shape.apply(edit) }
  override func visit() { shape.visit() }
}

/// The place is a variable that closures capture.
final class Deferred<S: Shape>: Node {
  private let change: (Edit) -> Void
  private let look: () -> Void
  init() {
    var shape = S()
    change = { shape.apply($0) }
    look = { shape.visit() }
    super.init(.deferred)
  }
  override var slotCount: Int { 1 }
  override func edit(_ slot: Int, _ edit: Edit) { change(edit) }
  override func visit() { look() }
}

/// The place is in memory of malloc.
final class Heaped<S: Shape>: Node {
  private var memory = UnsafeMutablePointer<S>.allocate(capacity: 1)
  init() {
    memory.initialize(to: S())
    super.init(.heaped)
  }
  deinit {
    memory.deinitialize(count: 1)
    memory.deallocate()
  }
  override var slotCount: Int { 1 }
  override func edit(_ slot: Int, _ edit: Edit) {
    if case .lose = edit {
      memory = .allocate(capacity: 1)
      memory.initialize(to: S())
    } else {
      memory.pointee.apply(edit)
    }
  }
  override func visit() { memory.pointee.visit() }
}

final class Erased: Node {
  private var shape: any Shape
  init(_ shape: any Shape) {
    self.shape = shape
    super.init(.erased)
  }
  override var slotCount: Int { 1 }
  override func edit(_ slot: Int, _ edit: Edit) { shape.apply(edit) }
  override func visit() { shape.visit() }
}

/// Has an actor, whose state is the place.
final class Acting: Node {
  let store: Store
  init(_ shape: any Shape) {
    store = Store(shape)
    super.init(.actor)
  }
  override var slotCount: Int { 1 }
  override func edit(_ slot: Int, _ edit: Edit) { store.shape.apply(edit) }
  override func visit() {
    Ledger.note(store.id, .used)
    store.shape.visit()
  }
}

actor Store {
  nonisolated let id = Ledger.add(.actor)
  /// Changed before tasks use it.
  nonisolated(unsafe) var shape: any Shape
  init(_ shape: any Shape) {
    self.shape = shape
    Ledger.place(id, UInt(bitPattern: ObjectIdentifier(self)))
  }
  deinit { Ledger.noteEnd(id) }

  /// Waits while the actor is free for others.
  func hold(_ handoff: Handoff, _ task: UInt32) async {
    await park(handoff, task)
    Ledger.note(id, .used)
    shape.visit()
  }
}

// MARK: All shapes

/// What can be made of a shape.
struct ShapeFactory {
  var name: String
  /// An address in it may begin at no multiple of eight.
  var isUnaligned: Bool
  var shape: () -> any Shape
  var cell: () -> Node
  /// The other ways to have the shape as a place of an object.
  var others: [() -> Node]

  init<S: Shape>(_: S.Type) {
    name = "\(S.self)"
    isUnaligned = S.self == FixedBytes.self || S.self == Halves.self
    shape = { S() }
    cell = { Cell<S>() }
    others = [{ Deferred<S>() }, { Heaped<S>() }, { Erased(S()) }, { Acting(S()) }]
  }

  static let all: [ShapeFactory] = [
    .init(Direct.self), .init(Listed.self), .init(Keyed.self), .init(ByNode.self), .init(InSet.self),
    .init(Nested.self), .init(InSlice.self), .init(Tupled.self), .init(TwiceOptional.self), .init(Chosen.self),
    .init(EitherOf.self), .init(InTree.self), .init(AsError.self), .init(AsResult.self), .init(InCarrier.self),
    .init(AsItem.self), .init(AsAny.self), .init(ManyAny.self), .init(AsHashable.self), .init(Called.self),
    .init(Method.self), .init(Variable.self), .init(ManyCalls.self), .init(Paired.self), .init(Packed.self),
    .init(Buffered.self), .init(InSequence.self), .init(WeakOne.self), .init(WeakMany.self), .init(WeakCall.self),
    .init(UnownedOne.self), .init(UnownedCall.self), .init(UncountedOne.self), .init(Counted.self),
    .init(Pointer.self), .init(MarkedPointer.self), .init(ByIdentifier.self), .init(Identifier.self),
    .init(Allocated.self), .init(AllocatedMany.self), .init(Number.self), .init(MarkedNumber.self),
    .init(OptionalNumber.self), .init(Fraction.self), .init(Halves.self), .init(FixedBytes.self), .init(Bytes.self),
    .init(Quarters.self), .init(Numbers.self), .init(NumberSlice.self), .init(NumberTable.self),
    .init(NumberKeys.self), .init(NumberRows.self), .init(NumberBesideNode.self), .init(NumberCase.self),
    .init(NumberCases.self), .init(NumberAny.self), .init(NumberHashable.self), .init(NumberCall.self),
    .init(NumberVariable.self), .init(NumberBuffer.self), .init(Vector.self), .init(NumberTree.self),
    .init(AllocatedNumber.self), .init(RecordPointer.self), .init(RecordInterior.self), .init(RecordPointers.self),
    .init(RecordNumber.self), .init(RecordNumbers.self), .init(RecordInteriorNumber.self), .init(RecordChoice.self),
  ]
}
