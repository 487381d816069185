// Tasks that wait, and the objects that can resume them.

import Glibc

/// Has the continuation of a task, or something else that resumes it.
class Gate: Node {
  var keeps = Direct()
  init() { super.init(.gate) }
  override var slotCount: Int { 1 }
  override func edit(_ slot: Int, _ edit: Edit) { keeps.apply(edit) }
  override func visit() { keeps.visit() }
  func keep(_ continuation: UnsafeContinuation<Void, Never>) {}
}

/// A place for a continuation.
protocol Waiter {
  init()
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>)
  /// Takes it out.
  mutating func take() -> (() -> Void)?
}

final class GateOf<W: Waiter>: Gate {
  private let mark = true
  private var waiter = W()
  override func keep(_ continuation: UnsafeContinuation<Void, Never>) { waiter.keep(continuation) }
  override func act() { waiter.take()?() }
}

struct UnsafeWaiter: Waiter {
  var continuation: UnsafeContinuation<Void, Never>?
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation = continuation }
  mutating func take() -> (() -> Void)? {
    defer { continuation = nil }
    return continuation.map { c in { c.resume() } }
  }
}

struct CheckedWaiter: Waiter {
  var continuation: CheckedContinuation<Void, Never>?
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) {
    self.continuation = CheckedContinuation(continuation: continuation)
  }
  mutating func take() -> (() -> Void)? {
    defer { continuation = nil }
    return continuation.map { c in { c.resume() } }
  }
}

struct ListWaiter: Waiter {
  var continuations: [(Int, UnsafeContinuation<Void, Never>)] = []
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) { continuations.append((1, continuation)) }
  mutating func take() -> (() -> Void)? { continuations.popLast().map { c in { c.1.resume() } } }
}

struct KeyedWaiter: Waiter {
  var continuations: [String: UnsafeContinuation<Void, Never>] = [:]
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) { continuations["waiter"] = continuation }
  mutating func take() -> (() -> Void)? { continuations.removeValue(forKey: "waiter").map { c in { c.resume() } } }
}

struct CallWaiter: Waiter {
  var call: (() -> Void)?
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) { call = { continuation.resume() } }
  mutating func take() -> (() -> Void)? {
    defer { call = nil }
    return call
  }
}

struct StateWaiter: Waiter {
  enum State { case idle, waiting(UnsafeContinuation<Void, Never>, Int), done([Int]) }
  var state = State.idle
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) { state = .waiting(continuation, 2) }
  mutating func take() -> (() -> Void)? {
    guard case .waiting(let c, _) = state else { return nil }
    state = .done([1])
    return { c.resume() }
  }
}

struct AnyWaiter: Waiter {
  var value: Any?
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) { value = continuation }
  mutating func take() -> (() -> Void)? {
    defer { value = nil }
    return (value as? UnsafeContinuation<Void, Never>).map { c in { c.resume() } }
  }
}

/// As a callback of C has it for its context.
struct PointerWaiter: Waiter {
  var context: UnsafeMutableRawPointer?
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) {
    context = unsafeBitCast(continuation, to: UnsafeMutableRawPointer.self)
  }
  mutating func take() -> (() -> Void)? {
    defer { context = nil }
    return context.map { c in { unsafeBitCast(c, to: UnsafeContinuation<Void, Never>.self).resume() } }
  }
}

struct NumberWaiter: Waiter {
  var numbers: [UInt] = []
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) {
    numbers.append(unsafeBitCast(continuation, to: UInt.self))
  }
  mutating func take() -> (() -> Void)? {
    numbers.popLast().map { c in { unsafeBitCast(c, to: UnsafeContinuation<Void, Never>.self).resume() } }
  }
}

struct FieldNumberWaiter: Waiter {
  var number: UInt = 0
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) {
    number = unsafeBitCast(continuation, to: UInt.self)
  }
  mutating func take() -> (() -> Void)? {
    guard number != 0 else { return nil }
    defer { number = 0 }
    return { [number] in unsafeBitCast(number, to: UnsafeContinuation<Void, Never>.self).resume() }
  }
}

struct AllocatedWaiter: Waiter {
  var memory: UnsafeMutablePointer<UnsafeContinuation<Void, Never>>?
  mutating func keep(_ continuation: UnsafeContinuation<Void, Never>) {
    memory = .allocate(capacity: 1)
    memory!.initialize(to: continuation)
  }
  mutating func take() -> (() -> Void)? {
    guard let memory else { return nil }
    let continuation = memory.move()
    memory.deallocate()
    self.memory = nil
    return { continuation.resume() }
  }
}

/// Ends a stream that a task reads.
final class StreamGate: Gate {
  private var continuation: AsyncStream<Int>.Continuation?
  func keep(_ continuation: AsyncStream<Int>.Continuation) { self.continuation = continuation }
  override func act() {
    continuation?.yield(1)
    continuation?.finish()
    continuation = nil
  }
}

func makeGate(_ number: Int) -> Gate {
  switch number % 12 {
  case 0: GateOf<UnsafeWaiter>()
  case 1: GateOf<ListWaiter>()
  case 2: GateOf<KeyedWaiter>()
  case 3: GateOf<CallWaiter>()
  case 4: GateOf<StateWaiter>()
  case 5: GateOf<AnyWaiter>()
  case 6: GateOf<PointerWaiter>()
  case 7: GateOf<NumberWaiter>()
  case 8: GateOf<FieldNumberWaiter>()
  case 9: GateOf<AllocatedWaiter>()
  case 10: GateOf<CheckedWaiter>()
  default: GateOf<UnsafeWaiter>()
  }
}

/// Has the handle of a task, and cancels it.
final class Handle: Node {
  private let task: Task<Void, Never>
  var keeps = Direct()
  init(_ task: Task<Void, Never>) {
    self.task = task
    super.init(.handle)
  }
  override var slotCount: Int { 1 }
  override func edit(_ slot: Int, _ edit: Edit) { keeps.apply(edit) }
  override func visit() { keeps.visit() }
  override func act() { task.cancel() }
}

/// Has the handle of a task whose result is an object.
final class ResultHandle: Node {
  private let task: Task<Node, Never>
  init(_ task: Task<Node, Never>) {
    self.task = task
    super.init(.handle)
  }
  override func act() { Task.detached { [task] in Walk.use(await task.value) } }
}

/// Gives a gate to a task, which forgets it once the gate has its continuation.
final class Handoff: @unchecked Sendable {
  private var gate: Gate?
  init(_ gate: Gate?) { self.gate = gate }
  /// The gate, before it is given.
  var lent: Gate? { gate }
  func give(_ continuation: UnsafeContinuation<Void, Never>) {
    gate?.keep(continuation)
    gate = nil
  }
}

/// Gives a shape to a task, which has it for a local variable.
final class Parcel: @unchecked Sendable {
  private var shape: (any Shape)?
  init(_ shape: any Shape) { self.shape = shape }
  func take() -> any Shape {
    defer { shape = nil }
    return shape!
  }
}

/// Waits until the gate resumes the task.
@inline(never) func park(_ handoff: Handoff, _ task: UInt32) async {
  await withUnsafeContinuation { handoff.give($0) }
  Ledger.note(task, .resumed)
}

/// Waits with an object in a local variable.
@inline(never) func hold(_ node: Node, _ handoff: Handoff, _ task: UInt32) async {
  await park(handoff, task)
  Walk.use(node)
}

/// Waits with a shape in a local variable.
@inline(never) func hold(_ parcel: Parcel, _ handoff: Handoff, _ task: UInt32) async {
  var shape = parcel.take()
  await park(handoff, task)
  shape.visit()
  shape.clear()
}

/// Waits with a shape of a known type in a local variable.
@inline(never) func hold<S: Shape>(as: S.Type, _ parcel: Parcel, _ handoff: Handoff, _ task: UInt32) async {
  var shape = parcel.take() as! S
  await park(handoff, task)
  shape.visit()
  shape.clear()
}

enum Carried {
  @TaskLocal static var node: Node?
}

/// Resumes a task when it is cancelled. The continuation is in the task's own memory alone.
final class Cancelled: @unchecked Sendable {
  private var continuation: UnsafeContinuation<Void, Never>?
  func keep(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation = continuation }
  func resume() {
    let continuation = continuation
    self.continuation = nil
    continuation?.resume()
  }
}

/// Starts a task with an entry in the ledger.
@discardableResult
func begin(_ body: @escaping @Sendable (UInt32) async -> Void) -> Task<Void, Never> {
  let id = Ledger.add(.task)
  return Task.detached {
    withUnsafeCurrentTask { Ledger.place(id, unsafeBitCast($0!, to: UInt.self)) }
    await body(id)
    Ledger.note(id, .resumed)
    Ledger.noteEnd(id)
  }
}

/// Runs the jobs of all tasks, and knows when all of them wait.
///
/// The tasks of the programs have to wait for the image, and have to end after it. So it counts the jobs that are in a
/// queue or run.
enum Jobs {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  nonisolated(unsafe) private static let lock: UnsafeMutablePointer<pthread_mutex_t> = {
    let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    return lock
  }()
  nonisolated(unsafe) private static var active = 0
  nonisolated(unsafe) private static var waiting: [UnownedJob] = []
  nonisolated(unsafe) private static var hasThreads = false

  /// `hasThreads`: jobs run on the threads of libdispatch, and otherwise on the main thread, in order.
  static func install(hasThreads: Bool) {
    self.hasThreads = hasThreads
    guard let variable = dlsym(nil, "swift_task_enqueueGlobal_hook") else { fatalError("no hook for jobs") }
    variable.assumingMemoryBound(to: Hook?.self).pointee = { job, _ in Jobs.enqueue(job) }
  }

  static func begin() {
    pthread_mutex_lock(lock)
    active += 1
    pthread_mutex_unlock(lock)
  }

  static func end() {
    pthread_mutex_lock(lock)
    active -= 1
    pthread_mutex_unlock(lock)
  }

  private static func enqueue(_ job: UnownedJob) {
    begin()
    if hasThreads {
      runOnThread {
        run(job)
        end()
      }
    } else {
      pthread_mutex_lock(lock)
      waiting.append(job)
      pthread_mutex_unlock(lock)
    }
  }

  private static func run(_ job: UnownedJob) {
    runJob(job, unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self))
  }

  /// Returns once no job is left: each task waits or has ended. Only on the main thread.
  static func settle() {
    while true {
      pthread_mutex_lock(lock)
      let jobs = waiting
      waiting = []
      let isDone = active == 0
      pthread_mutex_unlock(lock)
      if isDone { return }
      for job in jobs {
        run(job)
        end()
      }
      if jobs.isEmpty { sched_yield() }
    }
  }
}

@_silgen_name("swift_job_run") private func runJob(_ job: UnownedJob, _ executor: UnownedSerialExecutor)

// MARK: An executor that keeps its jobs

/// Keeps the jobs of its actor until `run`.
final class Parked: SerialExecutor, @unchecked Sendable {
  private var jobs: [UnownedJob] = []
  func enqueue(_ job: consuming ExecutorJob) { jobs.append(UnownedJob(job)) }
  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
  func run() {
    while !jobs.isEmpty { jobs.removeFirst().runSynchronously(on: asUnownedSerialExecutor()) }
  }
}

actor ParkedActor {
  nonisolated let executor: Parked
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  init(_ executor: Parked) { self.executor = executor }
  func look(_ node: Node, _ task: UInt32) {
    Ledger.note(task, .resumed)
    Walk.use(node)
  }
}

final class ParkedNode: Node {
  private let executor = Parked()
  private var actor: ParkedActor
  init() {
    actor = ParkedActor(executor)
    super.init(.executor)
  }
  func start(_ node: Node) {
    begin { [actor] task in await actor.look(node, task) }
  }
  override func act() { executor.run() }
}
