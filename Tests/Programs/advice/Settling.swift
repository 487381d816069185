// Waiting for tasks.
import Dispatch

/// Returns when tasks that were started before have had many turns.
@inline(never) func settle() {
  let done = DispatchSemaphore(value: 0)
  Task.detached(priority: .background) {
    for _ in 0..<1_000 { await Task.yield() }
    done.signal()
  }
  done.wait()
}
