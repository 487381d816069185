/* expect
{"about": "Tasks wait in every way that the runtime knows.",
 "tasks": 22,
 "states": {"waiting": 21, "finished": 1},
 "rows": [
   {"count": 5, "state": "waiting", "at": "next", "wait": "continuation", "resumedBy": "holder"},
   {"count": 3, "state": "waiting", "at": "child", "wait": "continuation", "resumedBy": "holder"},
   {"count": 1, "state": "waiting", "at": "let", "wait": "continuation", "resumedBy": "holder"},
   {"count": 4, "state": "waiting", "at": "nap", "wait": "sleep", "resumedBy": "timer"},
   {"count": 1, "state": "waiting", "at": "consume", "wait": "stream", "resumedBy": "holder"},
   {"count": 2, "state": "waiting", "at": "dropped", "wait": "continuation", "resumedBy": "noCode"},
   {"count": 1, "state": "waiting", "at": "group", "wait": "group", "resumedBy": "task"},
   {"count": 1, "state": "waiting", "at": "letter", "wait": "child", "resumedBy": "task"},
   {"count": 1, "state": "waiting", "at": "value", "wait": "task", "resumedBy": "task"},
   {"count": 2, "state": "waiting", "at": "cancelled", "wait": "continuation", "resumedBy": "holder", "cancelled": true}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/

import Dispatch
import Glibc

final class Inbox: @unchecked Sendable {
  private var mutex = pthread_mutex_t()
  private var waiters: [CheckedContinuation<Int, Never>] = []
  init() { pthread_mutex_init(&mutex, nil) }

  func next() async -> Int {
    await withCheckedContinuation { continuation in
      pthread_mutex_lock(&mutex)
      waiters.append(continuation)
      pthread_mutex_unlock(&mutex)
    }
  }

  var count: Int {
    pthread_mutex_lock(&mutex)
    defer { pthread_mutex_unlock(&mutex) }
    return waiters.count
  }
}

let inbox = Inbox()
let cancelledInbox = Inbox()
let (stream, streamContinuation) = AsyncStream<Int>.makeStream()

@inline(never) func drop() async -> Int {
  await withUnsafeContinuation { (_: UnsafeContinuation<Int, Never>) in }  // at: dropped
}
@inline(never) func consume() async {
  for await _ in stream {}  // at: consume
}
@inline(never) func nap() async {
  try? await Task.sleep(nanoseconds: 1_000_000_000_000)  // at: nap
  print("awake")
}
@inline(never) func gather() async {
  await withTaskGroup(of: Int.self) { group in
    for _ in 0..<3 {
      group.addTask { await inbox.next() }  // at: child
    }
    for await _ in group {}  // at: group
  }
}
@inline(never) func letter() async -> Int {
  async let one = inbox.next()  // at: let
  let sum = await one  // at: letter
  print("read")
  return sum
}

func snapshot() {
  guard let function = dlsym(nil, "leaktrace_snapshot") else { return }
  _ = unsafeBitCast(function, to: (@convention(c) (UnsafePointer<CChar>) -> Int32).self)("now")
}

nonisolated(unsafe) var handles: [Task<Void, Never>] = []
nonisolated(unsafe) var done: Task<Int, Never>?

@main struct Main {
  static func main() {
    for _ in 0..<5 { handles.append(Task.detached { print(await inbox.next()) }) }  // at: next
    for _ in 0..<4 { Task.detached { await nap() } }
    Task.detached { await consume() }
    for _ in 0..<2 { Task.detached { _ = await drop() } }
    Task.detached { await gather() }
    Task.detached { _ = await letter() }
    let first = handles[0]
    Task.detached {
      await first.value  // at: value
      print("ended")
    }
    for _ in 0..<2 {
      let task = Task.detached {
        let element = await cancelledInbox.next()  // at: cancelled
        print(element)
      }
      handles.append(task)
    }
    while cancelledInbox.count < 2 { usleep(1_000) }
    handles.suffix(2).forEach { $0.cancel() }
    done = Task.detached { 42 }
    while inbox.count < 9 { usleep(1_000) }
    // The other tasks have nothing that this function could count.
    usleep(500_000)
    snapshot()
    print("ready \(getpid())")
    fflush(stdout)
    sleep(120)
    exit(0)
  }
}
