// Executes a random program: some dozens of operations on objects in registers.

import Dispatch
import Glibc

/// The memory that all programs share, and that leads to the objects in use.
enum Roots {
  nonisolated(unsafe) static var nodes: [Node] = []
  nonisolated(unsafe) static var shapes: [any Shape] = []
  nonisolated(unsafe) static var table: [UInt32: Node] = [:]
  nonisolated(unsafe) static var numbers = Numbers()
  nonisolated(unsafe) static var bytes = Bytes()
  nonisolated(unsafe) static var records = RecordPointers()
  nonisolated(unsafe) static var weak = WeakMany()
  nonisolated(unsafe) static var heap = UnsafeMutablePointer<Cell<Keyed>>.allocate(capacity: 1)
  nonisolated(unsafe) static var workers = (0..<4).map { _ in Worker() }
  nonisolated(unsafe) static var waiting: [Waiting] = []

  static func start() { heap.initialize(to: Cell<Keyed>()) }

  static func visit() {
    nodes.forEach { Walk.use($0) }
    shapes.forEach { $0.visit() }
    table.values.forEach { Walk.use($0) }
    numbers.visit()
    bytes.visit()
    records.visit()
    weak.visit()
    Walk.use(heap.pointee)
    workers.forEach { $0.visit() }
    Later.visit()
  }

  static func finishThreads() {
    waiting.forEach { $0.finish() }
    waiting = []
  }

  static func clear() {
    nodes = []
    for index in shapes.indices { shapes[index].clear() }
    shapes = []
    table = [:]
    numbers.clear()
    bytes.clear()
    records.clear()
    weak.clear()
    workers.forEach { $0.clear() }
  }
}

/// One random program. Equal seeds and numbers make equal programs, whatever else the process executes.
struct Machine {
  private let seed: UInt64
  private let number: Int
  private let skipped: Set<Int>
  private let isPrinting: Bool
  private var random = Random(0)
  private var registers: [Node?] = Array(repeating: nil, count: 8)

  init(seed: UInt64, number: Int, skipped: Set<Int>, isPrinting: Bool) {
    (self.seed, self.number, self.skipped, self.isPrinting) = (seed, number, skipped, isPrinting)
  }

  /// The number of operations of each program.
  static let length = 40

  mutating func run() {
    Ledger.program = UInt32(number)
    for index in 0..<Self.length where !skipped.contains(index) {
      // Each operation has numbers of its own, so that leaving one out leaves the others as they are.
      random = Random(seed &* 0x1_0000_01B3 ^ UInt64(number) << 8 ^ UInt64(index))
      operate(index)
    }
    for index in registers.indices { registers[index] = nil }
  }

  private func say(_ index: Int, _ text: @autoclosure () -> String) {
    if isPrinting { print("  \(index): \(text())") }
  }

  private mutating func anyRegister() -> Int { random.below(registers.count) }

  /// A register that has an object, as far as a few tries find one.
  private mutating func fullRegister() -> Int? {
    let start = random.below(registers.count)
    for distance in registers.indices {
      let register = (start + distance) % registers.count
      if registers[register] != nil { return register }
    }
    return nil
  }

  private func name(_ register: Int) -> String {
    registers[register].map { "r\(register)=\(type(of: $0))#\($0.id)" } ?? "r\(register)"
  }

  private mutating func operate(_ index: Int) {
    let choice = random.below(100)
    switch choice {
    case 0..<12: make(index)
    case 12..<30: makeCell(index)
    case 30..<54: link(index, isMutual: choice < 36)
    case 54..<58: edit(index)
    case 58..<66: drop(index)
    case 66..<76: root(index)
    case 76..<79: retain(index)
    case 79..<94: startTask(index)
    default: startWork(index)
    }
  }

  // MARK: Objects

  private mutating func make(_ index: Int) {
    let register = anyRegister()
    registers[register] =
      switch random.below(11) {
      case 0: Plain()
      case 1: Derived()
      case 2: Final()
      case 3, 4: Registry()
      case 5: Callbacks()
      case 6: Mixed<UInt8>(1)
      case 7: Mixed<String>("a text of more than fifteen bytes")
      case 8: Mixed<Node?>(registers[anyRegister()])
      case 9: Locked()
      default: Memory()
      }
    say(index, "make \(name(register))")
  }

  private mutating func makeCell(_ index: Int) {
    let factory = ShapeFactory.all[random.below(ShapeFactory.all.count)]
    let way = random.below(7)
    let node = way < 3 ? factory.cell() : factory.others[way - 3]()
    if let content = fullRegister() { node.edit(0, .put(registers[content]!)) }
    let register = anyRegister()
    registers[register] = node
    say(index, "make \(name(register)) with \(factory.name)")
  }

  private mutating func link(_ index: Int, isMutual: Bool) {
    guard let from = fullRegister(), let to = fullRegister(), let node = registers[from], let other = registers[to]
    else {
      return
    }
    let (slot, back) = (random.below(max(1, node.slotCount)), random.below(max(1, other.slotCount)))
    node.edit(slot, .put(other))
    if isMutual { other.edit(back, .put(node)) }
    say(index, "link \(name(from)).\(slot) to \(name(to))\(isMutual ? ".\(back) and back" : "")")
  }

  private mutating func edit(_ index: Int) {
    guard let register = fullRegister(), let node = registers[register] else { return }
    let slot = random.below(max(1, node.slotCount))
    let isLoss = random.below(3) == 0
    node.edit(slot, isLoss ? .lose : .clear)
    say(index, "\(isLoss ? "lose" : "clear") \(name(register)).\(slot)")
  }

  private mutating func drop(_ index: Int) {
    guard let register = fullRegister() else { return }
    say(index, "drop \(name(register))")
    registers[register] = nil
  }

  private mutating func retain(_ index: Int) {
    guard let register = fullRegister(), let node = registers[register] else { return }
    say(index, "retain \(name(register))")
    _ = Unmanaged.passRetained(node)
    registers[register] = nil
  }

  private mutating func root(_ index: Int) {
    guard let register = fullRegister(), let node = registers[register] else { return }
    let place = random.below(14)
    say(index, "root \(name(register)) in place \(place)")
    switch place {
    case 0: Roots.nodes.append(node)
    case 1: Roots.table[node.id] = node
    case 2: Roots.numbers.put(node)
    case 3: Roots.bytes.put(node)
    case 4: Roots.records.put(node)
    case 5, 6: Roots.weak.put(node)
    case 7: Roots.heap.pointee.edit(0, .put(node))
    case 8: if !Roots.workers[number % Roots.workers.count].keep(node) { Roots.nodes.append(node) }
    case 9 where number % 128 == 0: Roots.waiting.append(Waiting(Parcel(shape(node, isOnStack: true))))
    default: Roots.shapes.append(shape(node))
    }
  }

  private mutating func shape(_ node: Node, isOnStack: Bool = false) -> any Shape {
    var factory = ShapeFactory.all[random.below(ShapeFactory.all.count)]
    if isOnStack, factory.isUnaligned { factory = ShapeFactory(Number.self) }
    if isPrinting { print("     in \(factory.name)") }
    var shape = factory.shape()
    shape.put(node)
    return shape
  }

  private mutating func parcel(_ node: Node) -> Parcel { Parcel(shape(node)) }

  /// An object of a register, or a new one.
  private mutating func node() -> Node { fullRegister().flatMap { registers[$0] } ?? Plain() }

  // MARK: Work

  private mutating func startWork(_ index: Int) {
    let kind = random.below(6)
    let node = self.node()
    let register = anyRegister()
    say(index, "work \(kind) with \(type(of: node))#\(node.id) in r\(register)")
    switch kind {
    case 0:
      let queue = Queue()
      queue.add(parcel(node))
      registers[register] = queue
    case 1: registers[register] = Work(parcel(node))
    case 2: registers[register] = Group(parcel(node))
    case 3: registers[register] = Timer(node)
    case 4: Later.dispatch(node)
    default:
      let executor = ParkedNode()
      executor.start(node)
      Jobs.settle()
      registers[register] = executor
    }
  }

  // MARK: Tasks

  /// Starts a task, and returns once it waits.
  private mutating func startTask(_ index: Int) {
    // A lost child does not show if its parent has another child that can be resumed. So there are fewer parents.
    let all = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 12, 13, 13, 14, 14, 15, 16, 16]
    let kind = all[random.below(all.count)]
    let gate: Gate = kind == 8 || kind == 9 ? StreamGate() : makeGate(random.below(200) == 0 ? 10 : random.below(10))
    let handoff = Handoff(gate)
    let node = self.node()
    let task: Task<Void, Never>
    say(index, "task \(kind) with \(type(of: node))#\(node.id), \(type(of: gate))#\(gate.id)")
    switch kind {
    case 0, 1:
      let parcel = self.parcel(node)
      task = begin { await hold(parcel, handoff, $0) }
    case 2:
      let parcel = Parcel(Direct(node: node))
      task = begin { await hold(as: Direct.self, parcel, handoff, $0) }
    case 3:
      var shape = MarkedNumber()
      shape.put(node)
      let parcel = Parcel(shape)
      task = begin { await hold(as: MarkedNumber.self, parcel, handoff, $0) }
    case 4:
      var shape = RecordPointer()
      shape.put(node)
      let parcel = Parcel(shape)
      task = begin { await hold(as: RecordPointer.self, parcel, handoff, $0) }
    case 5:
      // Captured.
      let shape = self.shape(node)
      task = begin { id in
        await park(handoff, id)
        finish(shape)
      }
    case 6:
      task = begin { id in
        await Carried.$node.withValue(node) {
          await park(handoff, id)
          Walk.use(Carried.node)
        }
      }
    case 7:
      // The task has its own gate.
      task = begin { [gate] id in
        await park(handoff, id)
        Walk.use(gate)
      }
    case 8, 9:
      let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
      (gate as! StreamGate).keep(continuation)
      task = begin { id in
        for await _ in stream {
          Ledger.note(id, .resumed)
          Walk.use(node)
        }
        Ledger.note(id, .resumed)
      }
    case 10:
      // Another task waits for its end.
      let first = begin { await hold(node, handoff, $0) }
      let second = self.node()
      task = begin { id in
        await first.value
        Ledger.note(id, .resumed)
        Walk.use(second)
      }
    case 11:
      let (second, other) = (Handoff(makeGate(random.below(10))), self.node())
      keep(second)
      let child = Ledger.add(.task)
      task = begin { id in
        await withTaskGroup(of: Void.self) { group in
          group.addTask {
            withUnsafeCurrentTask { Ledger.place(child, unsafeBitCast($0!, to: UInt.self)) }
            await hold(node, handoff, child)
            Ledger.noteEnd(child)
          }
          group.addTask { await park(second, 0) }
          while await group.next() != nil {
            Ledger.note(id, .resumed)
            Walk.use(other)
          }
        }
      }
    case 12:
      let (second, other) = (Handoff(makeGate(random.below(10))), self.node())
      keep(second)
      task = begin { id in
        async let child: Void = hold(node, handoff, 0)
        await hold(other, second, id)
        await child
      }
    case 13:
      let cancelled = Cancelled()
      task = begin { id in
        await withTaskCancellationHandler {
          await withUnsafeContinuation { cancelled.keep($0) }
        } onCancel: {
          cancelled.resume()
        }
        Ledger.note(id, .resumed)
        Walk.use(node)
      }
    case 14:
      let store = Store(self.shape(node))
      task = begin { await store.hold(handoff, $0) }
    case 15:
      task = Later.sleep(node)
    default:
      let result = Task.detached { node }
      let register = anyRegister()
      registers[register] = ResultHandle(result)
      Jobs.settle()
      return
    }
    Jobs.settle()
    // What can resume it, or cancel it, may be kept or not.
    if random.below(8) != 0 { registers[anyRegister()] = gate }
    // A handle of a task that does not hear of being cancelled is of no use, and hides that nothing resumes the task.
    let hears = [8, 9, 13, 15].contains(kind)
    if random.below(hears ? 2 : 50) == 0 { registers[anyRegister()] = Handle(task) }
  }

  /// Puts the gate of a further wait into a register.
  private mutating func keep(_ handoff: Handoff) { if random.below(4) != 0 { registers[anyRegister()] = handoff.lent } }
}
