/* expect
{"about": "Two tasks take two locks in opposite order. A third task waits for one of them.",
 "tasks": 3,
 "states": {"running": 2, "waiting": 1},
 "rows": [{"count": 1, "state": "waiting", "at": "value", "wait": "task", "resumedBy": "stuckTask"}],
 "deadlocks": {"threads": [2], "tasks": []},
 "starved": false}
*/

import Glibc

final class Lock: @unchecked Sendable {
  private var mutex = pthread_mutex_t()
  init() { pthread_mutex_init(&mutex, nil) }
  func lock() { pthread_mutex_lock(&mutex) }
  var isLocked: Bool {
    if pthread_mutex_trylock(&mutex) != 0 { return true }
    pthread_mutex_unlock(&mutex)
    return false
  }
}

let (first, second) = (Lock(), Lock())

func take(_ one: Lock, _ other: Lock) {
  one.lock()
  while !other.isLocked { usleep(1_000) }
  usleep(10_000)
  other.lock()
}

nonisolated(unsafe) var isWaiting = false
nonisolated(unsafe) var stuck: Task<Void, Never>?

@main struct Main {
  static func main() {
    // The third task begins first, since the other two block all threads of a small machine.
    let task = Task.detached {
      while !isWaiting { usleep(1_000) }
      take(first, second)
    }
    stuck = task
    Task.detached {
      isWaiting = true
      await task.value  // at: value
    }
    while !isWaiting { usleep(1_000) }
    usleep(10_000)
    Task.detached { take(second, first) }
    while !(first.isLocked && second.isLocked) { usleep(1_000) }
    usleep(500_000)
    if let function = dlsym(nil, "leaktrace_snapshot") {
      _ = unsafeBitCast(function, to: (@convention(c) (UnsafePointer<CChar>) -> Int32).self)("now")
    }
    print("ready \(getpid())")
    fflush(stdout)
    sleep(120)
    exit(0)
  }
}
