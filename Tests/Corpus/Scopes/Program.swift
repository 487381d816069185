// The protocols of the programs in this part of the corpus, and code that they share.
import Foundation

/// A correct program: all objects that are alive at its end are meant to be.
protocol CleanProgram {
  static func correct()
}

/// A program that runs with its fault, so that objects outlive their scope, or without it.
protocol FaultyProgram: CleanProgram {
  static func faulty()
}

/// The protocols for programs whose main function is async.
protocol AsyncCleanProgram {
  static func correct() async
}

protocol AsyncFaultyProgram: AsyncCleanProgram {
  static func faulty() async
}

/// The sum of the programs' results. It is a side effect, so that the optimiser removes no work.
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

/// Gives libdispatch time to finish pending work: to sort delayed work and to release cancelled sources. A run loop makes one
/// source for each of its turns.
func settle() {
  usleep(20_000)
}
