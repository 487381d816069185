// Forks a worker in the middle of its work, and waits for it: forks-workers alone|threaded. Each process leaks objects
// of its own, and a thread of the parent holds reports.

import Foundation

final class Report {
  let number: Int
  let text: String
  init(_ number: Int) {
    self.number = number
    text = "report \(number), whose text is kept on the heap"
  }
}

final class Screen {
  let number: Int
  var onClose: (() -> Void)?
  init(_ number: Int) { self.number = number }
  func open() { onClose = { print(self.number) } }
}

let way = CommandLine.arguments.dropFirst().first ?? "alone"
let hasBegun = DispatchSemaphore(value: 0)
let mayEnd = DispatchSemaphore(value: 0)

@inline(never) func work() {
  let reports = (0..<20).map(Report.init)
  hasBegun.signal()
  mayEnd.wait()
  withExtendedLifetime(reports) {}
}

@inline(never) func openScreens(_ count: Int) {
  for number in 0..<count { Screen(number).open() }
}

openScreens(10)
let thread = Thread { work() }
if way == "threaded" {
  thread.start()
  hasBegun.wait()
}
// The overlay hides fork; the C library has it.
let fork = unsafeBitCast(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "fork"), to: (@convention(c) () -> pid_t).self)
let child = fork()
if child == 0 {
  openScreens(5)
  exit(0)
}
var status: Int32 = 0
waitpid(child, &status, 0)
mayEnd.signal()
print("the worker has ended: \(status)")
