// Leaks by cycles, lost objects and a suspended task, with threads beside, so that any platform's findings can be counted.
// Needs no more than the C library and Swift's own libraries.
// platform end: ends when its threads and tasks have started.
// platform wait: prints "ready PROCESS", and waits. At a byte on standard input it leaks as much once more, prints
// "done", and ends at the next byte.

import Glibc

final class Visit {
  var next: Visit?
  let note = "a note that is too long to stand inside of the string itself"
}

final class Order {
  let number: Int
  init(_ number: Int) { self.number = number }
}

final class Waiter { var answer = 0 }

@inline(never) func visit() {
  let (first, second) = (Visit(), Visit())
  first.next = second
  second.next = first
}

nonisolated(unsafe) var last: Unmanaged<Order>?

@inline(never) func order(_ number: Int) { last = Unmanaged.passRetained(Order(number)) }

// On the main actor, as main: when main goes on, the task is suspended.
@MainActor @inline(never) func wait(_ waiter: Waiter) async {
  await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
  print(waiter.answer)
}

@inline(never) func leak() {
  for number in 0..<20 {
    visit()
    order(number)
  }
  last = nil
}

nonisolated(unsafe) var kept: [Order] = []
nonisolated(unsafe) var standing = 0
nonisolated(unsafe) var threads = [pthread_t](repeating: pthread_t(), count: 3)

@Sendable func standInThread() -> Never {
  kept.append(Order(kept.count))
  standing += 1
  while true { sleep(1000) }
}

@main enum Platform {
  @MainActor static func main() async {
    setvbuf(stdout, nil, _IONBF, 0)
    for index in threads.indices {
      pthread_create(&threads[index], nil, { _ in standInThread() }, nil)
      while standing <= index { sched_yield() }
    }
    for _ in 0..<3 { Task { await wait(Waiter()) } }
    leak()
    for _ in 0..<50 { await Task.yield() }
    guard CommandLine.arguments.last == "wait" else { exit(0) }
    print("ready \(getpid())")
    var byte: UInt8 = 0
    if read(0, &byte, 1) == 1 {
      leak()
      print("done")
      if read(0, &byte, 1) < 0 { exit(1) }
    }
    exit(0)
  }
}
