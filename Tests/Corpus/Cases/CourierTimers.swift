// Couriers whose timers wait in children of a task group. Each new timer replaces the one before, whose continuation is dropped.

private final class Courier: Sendable {
  let parcels: Int
  init(parcels: Int) { self.parcels = parcels }
}

private actor TimerDesk {
  private var current: CheckedContinuation<Void, Never>?
  private let resumesReplaced: Bool
  private(set) var started = 0

  init(resumesReplaced: Bool) { self.resumesReplaced = resumesReplaced }

  func wait() async {
    await withCheckedContinuation { next in
      started += 1
      replace(with: next)
    }
  }

  func replace(with next: CheckedContinuation<Void, Never>?) {
    let replaced = current
    current = next
    if resumesReplaced { replaced?.resume() }
  }
}

enum CourierTimers: FaultyProgram {
  static func faulty() { deliver(TimerDesk(resumesReplaced: false)) }
  static func correct() { deliver(TimerDesk(resumesReplaced: true)) }

  @inline(never) private static func deliver(_ desk: TimerDesk) {
    waitFor {
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        Task.detached { await dispatch(desk, done) }
      }
    }
    settle()
  }

  /// Keeps the courier until the timer has ended.
  private static func wait(_ courier: Courier, _ desk: TimerDesk) async {
    await withTaskGroup(of: Int.self) { group in
      group.addTask {
        await desk.wait()
        return courier.parcels
      }
      for await parcels in group { note(parcels) }
    }
  }

  /// Goes on for ever, as the task of a server does that accepts connections.
  private static func dispatch(_ desk: TimerDesk, _ done: CheckedContinuation<Void, Never>) async {
    await withDiscardingTaskGroup { group in
      for courier in 1...7 {
        group.addTask { await wait(Courier(parcels: courier), desk) }
        while await desk.started < courier { await Task.yield() }
      }
      await desk.replace(with: nil)
      done.resume()
      await withCheckedContinuation { dispatchers = $0 }
    }
  }
}

nonisolated(unsafe) private var dispatchers: CheckedContinuation<Void, Never>?
