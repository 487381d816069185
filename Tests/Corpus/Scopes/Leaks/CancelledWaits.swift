// Orders wait for a tug. Orders that are called off cancel their task, but a waiter is only resumed by the next free tug.

private actor TugYard {
  private var tugs = [1, 2, 3]
  private var waiting: [Int: CheckedContinuation<Int?, Never>] = [:]
  private var order: [Int] = []
  private var hasHandler = false

  func handleCancellation() { hasHandler = true }

  func hire(_ ship: Int) async -> Int? {
    if let tug = tugs.popLast() { return tug }
    if !hasHandler { return await wait(ship) }
    return await withTaskCancellationHandler {
      await wait(ship)
    } onCancel: {
      Task { await self.drop(ship) }
    }
  }

  private func wait(_ ship: Int) async -> Int? {
    await withCheckedContinuation { continuation in
      waiting[ship] = continuation
      order.append(ship)
    }
  }

  private func drop(_ ship: Int) {
    order.removeAll { $0 == ship }
    waiting.removeValue(forKey: ship)?.resume(returning: nil)
  }

  func bringBack(_ tug: Int) {
    guard !order.isEmpty else { return tugs.append(tug) }
    waiting.removeValue(forKey: order.removeFirst())?.resume(returning: tug)
  }

  var queueLength: Int { order.count }
}

private final class TugOrder: Sendable {
  private struct State {
    var isServed = false
    var task: Task<Void, Never>?
  }

  let ship: Int
  private let state = Locked(State())

  init(ship: Int) { self.ship = ship }

  func place(at yard: TugYard) {
    let task = Task.detached {
      guard let tug = await yard.hire(self.ship) else { return }
      self.state.with { $0.isServed = true }
      await yard.bringBack(tug)
    }
    state.with { $0.task = task }
  }

  func callOff() {
    state.with { state in
      state.task?.cancel()
      state.task = nil
    }
  }

  var isServed: Bool { state.with(\.isServed) }
}

enum CancelledWaits: AsyncFaultyProgram {
  private static let yard = TugYard()

  static func faulty() async { await run() }

  static func correct() async {
    await yard.handleCancellation()
    await run()
  }

  private static func run() async {
    for ship in 1...40 { await serve(ship) }
    for _ in 1...3 { note(await yard.hire(0) ?? 0) }
    // All tugs are in the dock.
    for ship in 41...46 {
      let order = TugOrder(ship: ship)
      order.place(at: yard)
      try? await Task.sleep(for: .milliseconds(5))
      order.callOff()
    }
    try? await Task.sleep(for: .milliseconds(40))
    note(await yard.queueLength)
  }

  private static func serve(_ ship: Int) async {
    let order = TugOrder(ship: ship)
    order.place(at: yard)
    while !order.isServed { await Task.yield() }
  }
}
