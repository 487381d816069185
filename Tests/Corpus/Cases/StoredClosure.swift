// A closure stored in the object that it captures, and captures nothing else.

final class Poller {
  private var tick: (() -> Void)?
  private var polls = 0

  func start() {
    tick = { self.polls += 1 }
  }

  func startWeakly() {
    tick = { [weak self] in self?.polls += 1 }
  }

  func poll() {
    tick?()
    note(polls)
  }
}

enum StoredClosure: FaultyProgram {
  static func faulty() { for _ in 0..<7 { openScreen() } }
  static func correct() { for _ in 0..<7 { openScreenWeakly() } }

  @inline(never) private static func openScreen() {
    let poller = Poller()
    poller.start()
    poller.poll()
  }

  @inline(never) private static func openScreenWeakly() {
    let poller = Poller()
    poller.startWeakly()
    poller.poll()
  }
}
