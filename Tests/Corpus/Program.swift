// What a program of the corpus is, and what keeps the optimiser from seeing through it.
import Dispatch
import Glibc

/// A program that is correct: all that it leaves behind is reachable.
protocol CleanProgram {
  static func correct()
}

/// A program with a fault, and the same program without it.
protocol FaultyProgram: CleanProgram {
  static func faulty()
}

/// The sum of what the programs worked out: a side effect, so that no work is left out.
nonisolated(unsafe) private var workDone = 0

@inline(never) func note(_ value: Int) { workDone = workDone &* 31 &+ value }

/// Runs asynchronous work to its end, from a thread that has nothing else to do.
@inline(never) func waitFor(_ work: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await work()
    done.signal()
  }
  done.wait()
}

/// Starts asynchronous work that may never end, and gives it time to come to where it stays.
@inline(never) func settle() {
  usleep(20_000)
}
