// Works before its trace has reached a limit and after: passes-limit WAY THREADS REQUESTS. WAY is `clean`, or `leaks`,
// which leaves a cycle at each 500th request of a thread; with `-forks` behind it, a thread forks all the while, and
// one child works, too. What the program holds when it begins goes at its end, cycles among it.

import Foundation

@_silgen_name("fork") func makeChild() -> pid_t

final class Session {
  let user: String
  var rows: [Int]
  init(_ number: Int) {
    user = "user \(number), whose name is kept on the heap"
    rows = Array(0..<number % 20)
  }
}

/// Never freed, where the program leaks.
final class Screen {
  let number: Int
  var onClose: (() -> Void)?
  init(_ number: Int) { self.number = number }
  func open() { onClose = { print(self.number) } }
}

/// Freed at the end of the program, after the recorder has gone over to samples.
final class Pane {
  let number: Int
  var onClose: (() -> Void)?
  init(_ number: Int) { self.number = number }
  func open() { onClose = { print(self.number) } }
}

let way = CommandLine.arguments[1]
let threads = Int(CommandLine.arguments[2])!
let requests = Int(CommandLine.arguments[3])!
let leaks = way.hasPrefix("leaks")

@inline(never) func serve(_ requests: Int) {
  var sessions: [Session?] = Array(repeating: nil, count: 64)
  for number in 1...requests {
    sessions[number % 64] = Session(number)
    if leaks, number % 500 == 0 { Screen(number).open() }
  }
}

/// What a function leaves on the stack must not hold objects that are freed, or should be.
@inline(never) func clear() {
  withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 16) {
    _ = $0.initializeMemory(as: UInt8.self, repeating: 0)
  }
}

@inline(never) func makePanes() -> [Pane] {
  (1...300).map { number in
    let pane = Pane(number)
    pane.open()
    return pane
  }
}

nonisolated(unsafe) var panes: [Pane] = []

func run() {
  var started: [pthread_t] = []
  for _ in 0..<threads {
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { _ in
        serve(requests)
        clear()
        return nil
      }, nil)
    guard code == 0 else { exit(1) }
    started.append(thread)
  }
  if way.hasSuffix("forks") {
    for number in 1...20 {
      let child = makeChild()
      if child == 0 {
        // The child of a process with threads has only the thread that made it.
        if number == 20 { serve(requests) }
        exit(0)
      }
      var status: Int32 = 0
      guard child > 0, waitpid(child, &status, 0) == child, status == 0 else { exit(1) }
    }
  }
  // A thread that has yet to end may hold its last screen in its stack.
  for thread in started { pthread_join(thread, nil) }
}

panes = makePanes()
clear()
run()
for pane in panes { pane.onClose = nil }
panes = []
clear()
print("done")
