// What a program of this part of the corpus is, and what its programs share.
import Foundation

/// A program that is correct: what is alive at its end is meant to be.
protocol CleanProgram {
  static func correct()
}

/// A program in which objects outlive their scope, and the same program in which they do not.
protocol FaultyProgram: CleanProgram {
  static func faulty()
}

/// The same for programs whose main function is async.
protocol AsyncCleanProgram {
  static func correct() async
}

protocol AsyncFaultyProgram: AsyncCleanProgram {
  static func faulty() async
}

/// The sum of what the programs worked out: a side effect, so that no work is left out.
private let workDone = Locked(0)

@inline(never) func note(_ value: Int) { workDone.with { $0 = $0 &* 31 &+ value } }

/// A value that threads share.
final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}

/// Lets the main run loop turn, as it does in an application that waits for its user.
func turnRunLoop(milliseconds: Int) {
  _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: Double(milliseconds) / 1000))
}

/// Gives libdispatch time to finish what it was told to: to sort delayed work, to give up sources that were cancelled (a run loop
/// has one for each time it turns).
func settle() {
  usleep(20_000)
}
