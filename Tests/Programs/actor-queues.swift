// Tasks wait for a turn on an actor: actor-queues WAY. Way: blocked (the actor waits for a semaphore, and its queue only
// grows), or busy (the actor works its queue off, which stays about as long). Takes two snapshots. Goes on for two
// minutes after it has printed `ready`.

import Dispatch
import Glibc
import Synchronization

let way = CommandLine.arguments[1]
let paper = DispatchSemaphore(value: 0)
let printing = Atomic<Int>(0)
let printed = Atomic<Int>(0)
let made = Atomic<Int>(0)

actor Printer {
  var pages = 0

  func printPage() {
    printing.add(1, ordering: .relaxed)
    if way == "blocked" { paper.wait() }
    usleep(2_000)
    pages += 1
    printed.add(1, ordering: .relaxed)
  }
}

let printer = Printer()

func request() async {
  made.add(1, ordering: .relaxed)
  await printer.printPage()
  if await printer.pages < 0 { print("none") }
}

func add(_ count: Int) { for _ in 0..<count { Task { await request() } } }

func snapshot() {
  guard let function = dlsym(nil, "leaktrace_snapshot") else { return }
  _ = unsafeBitCast(function, to: (@convention(c) (UnsafePointer<CChar>) -> Int32).self)("now")
}

@main struct Main {
  static func main() {
    // The first task takes the turn.
    add(1)
    while printing.load(ordering: .relaxed) == 0 { usleep(1_000) }
    add(20)
    while made.load(ordering: .relaxed) < 21 { usleep(1_000) }
    usleep(300_000)
    snapshot()
    if way == "blocked" {
      add(30)
      while made.load(ordering: .relaxed) < 51 { usleep(1_000) }
      usleep(300_000)
    } else {
      add(20)
    }
    snapshot()
    print("ready \(getpid())")
    fflush(nil)
    for _ in 0..<1_200 {
      usleep(100_000)
      if way == "blocked" {
        add(5)
      } else {
        // Twenty requests are on their way.
        add(max(0, printed.load(ordering: .relaxed) + 20 - made.load(ordering: .relaxed)))
      }
    }
    exit(0)
  }
}
