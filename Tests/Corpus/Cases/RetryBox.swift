// A captured variable, in a box, that holds the object which holds the closure.

final class RetryScreen {
  private var retry: (() -> Void)?
  private var shown = 0

  func arm() {
    var attempts = 0
    var owner: RetryScreen? = self
    retry = {
      attempts += 1
      owner?.shown += attempts
      if attempts > 3 { owner = nil }
    }
  }

  func armWeakly() {
    var attempts = 0
    weak var owner = self
    retry = {
      attempts += 1
      owner?.shown += attempts
      if attempts > 3 { owner = nil }
    }
  }

  func fail() {
    retry?()
    note(shown)
  }
}

enum RetryBox: FaultyProgram {
  static func faulty() { for _ in 0..<5 { load() } }
  static func correct() { for _ in 0..<5 { loadWeakly() } }

  @inline(never) private static func load() {
    let screen = RetryScreen()
    screen.arm()
    screen.fail()
  }

  @inline(never) private static func loadWeakly() {
    let screen = RetryScreen()
    screen.armWeakly()
    screen.fail()
  }
}
