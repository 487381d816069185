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

nonisolated(unsafe) private var lastUsed: AnyObject?

@inline(never) func note(_ value: Int) { workDone = workDone &* 31 &+ value }

/// Lets an object escape as far as the optimiser can tell, so that it stands in the heap and is not left out.
@inline(never) func use(_ object: AnyObject) {
  if workDone == .min { lastUsed = object }
}

/// Runs asynchronous work to its end, from a thread that has nothing else to do.
@inline(never) func waitFor(_ work: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await work()
    done.signal()
  }
  done.wait()
  // The task still has to end.
  usleep(5000)
}

/// Gives work on other threads time to end, or to come to where it stays.
@inline(never) func settle() {
  usleep(20_000)
}
