// What libdispatch and threads keep for the programs.

import Dispatch
import Glibc

/// Out of line, so that `Jobs` needs no import.
func runOnThread(_ body: @escaping () -> Void) { DispatchQueue.global().async(execute: DispatchWorkItem(block: body)) }

/// An inactive queue with work in it.
final class Queue: Node {
  private let queue = DispatchQueue(label: "random", attributes: .initiallyInactive)
  private var isActive = false
  init() { super.init(.queue) }
  // libdispatch forbids the release of an inactive queue.
  deinit {
    if isActive { return }
    Jobs.begin()
    queue.async { Jobs.end() }
    queue.activate()
  }

  func add(_ parcel: Parcel) {
    let shape = parcel.take()
    queue.async { finish(shape) }
  }
  override func act() {
    guard !isActive else { return }
    isActive = true
    queue.activate()
    queue.sync {}
  }
}

/// A work item that no queue has.
final class Work: Node {
  private let block: DispatchWorkItem
  private var isDone = false
  init(_ parcel: Parcel) {
    let shape = parcel.take()
    block = DispatchWorkItem { finish(shape) }
    super.init(.work)
  }
  override func act() {
    guard !isDone else { return }
    isDone = true
    block.perform()
  }
}

/// A group that work waits for.
final class Group: Node {
  private let group = DispatchGroup()
  private var isDone = false
  init(_ parcel: Parcel) {
    super.init(.work)
    let shape = parcel.take()
    group.enter()
    group.notify(queue: .global()) {
      finish(shape)
      Jobs.end()
    }
  }
  override func act() {
    guard !isDone else { return }
    isDone = true
    Jobs.begin()
    group.leave()
  }
}

/// A timer that is far from being due, and that fires at once after `act`.
final class Timer: Node {
  private let timer = DispatchSource.makeTimerSource(queue: .global())
  private let later: Int
  private var isDone = false
  init(_ node: Node) {
    later = Later.add(node)
    super.init(.timer)
    timer.setEventHandler {
      Walk.use(node)
      Jobs.end()
    }
    timer.schedule(deadline: .now() + .seconds(100_000))
    timer.activate()
  }
  // Without its last reference it never fires.
  deinit { Later.remove(later) }
  override func act() {
    guard !isDone else { return }
    isDone = true
    Jobs.begin()
    timer.schedule(deadline: .now())
  }
}

/// Objects of work that is due long after the program's end. The program does not wait for them. So this has their
/// addresses, with all bits inverted.
enum Later {
  nonisolated(unsafe) private static var hidden: [UInt] = []
  nonisolated(unsafe) private static var sleepers: [UInt32] = []

  static func add(_ node: Node) -> Int {
    hidden.append(~UInt(bitPattern: ObjectIdentifier(node)))
    return hidden.count - 1
  }

  static func remove(_ index: Int) { hidden[index] = 0 }

  static func dispatch(_ node: Node) {
    _ = add(node)
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(100_000)) { Walk.use(node) }
  }

  static func sleep(_ node: Node) -> Task<Void, Never> {
    _ = add(node)
    return begin { task in
      sleepers.append(task)
      try? await Task.sleep(for: .seconds(100_000))
      Ledger.note(task, .resumed)
      Walk.use(node)
    }
  }

  static func visit() {
    for task in sleepers { Ledger.note(task, .used) }
    for address in hidden where address != 0 {
      Walk.use(Unmanaged<Node>.fromOpaque(UnsafeRawPointer(bitPattern: ~address)!).takeUnretainedValue())
    }
  }
}

/// A thread that waits for commands.
final class Worker {
  private var thread = pthread_t()
  private let asked = DispatchSemaphore(value: 0)
  private let answered = DispatchSemaphore(value: 0)
  private var command: (() -> Void)?
  private var keys: [pthread_key_t] = []

  init() {
    let context = Unmanaged.passRetained(self).toOpaque()
    pthread_create(&thread, nil, { Unmanaged<Worker>.fromOpaque($0!).takeUnretainedValue().loop() }, context)
  }

  private func loop() -> UnsafeMutableRawPointer? {
    while true {
      asked.wait()
      command?()
      command = nil
      answered.signal()
    }
  }

  func run(_ command: @escaping () -> Void) {
    self.command = command
    asked.signal()
    answered.wait()
  }

  /// Has the thread keep an object in a variable of its own. False if there are no more of them.
  func keep(_ node: Node) -> Bool {
    var key = pthread_key_t()
    guard pthread_key_create(&key, nil) == 0 else { return false }
    keys.append(key)
    run { pthread_setspecific(key, Unmanaged.passRetained(node).toOpaque()) }
    return true
  }

  func visit() {
    for key in keys {
      run { Walk.use(Unmanaged<Node>.fromOpaque(pthread_getspecific(key)!).takeUnretainedValue()) }
    }
  }

  func clear() {
    for key in keys {
      run {
        Unmanaged<Node>.fromOpaque(pthread_getspecific(key)!).release()
        pthread_setspecific(key, nil)
      }
      pthread_key_delete(key)
    }
    keys = []
  }
}

/// A thread that waits with an object in a local variable.
final class Waiting {
  private var thread = pthread_t()
  private let began = DispatchSemaphore(value: 0)
  private let goes = DispatchSemaphore(value: 0)
  private var parcel: Parcel?

  init(_ parcel: Parcel) {
    self.parcel = parcel
    let context = Unmanaged.passRetained(self).toOpaque()
    pthread_create(
      &thread, nil,
      {
        let waiting = Unmanaged<Waiting>.fromOpaque($0!).takeUnretainedValue()
        waiting.hold(waiting.take())
        return nil
      }, context)
    began.wait()
  }

  private func take() -> Parcel {
    defer { parcel = nil }
    return parcel!
  }

  @inline(never) private func hold(_ parcel: Parcel) {
    var shape = parcel.take()
    began.signal()
    goes.wait()
    shape.visit()
    shape.clear()
  }

  func finish() {
    goes.signal()
    pthread_join(thread, nil)
  }
}
