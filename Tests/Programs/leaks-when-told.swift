// Leaks before it says that it is ready, and once more at SIGUSR1. Beside that it holds much, and waits.

import Foundation

final class Screen {
  var onClose: (() -> Void)?
  let rows: [String]
  init(_ number: Int) { rows = (0..<5).map { "row \($0) of screen \(number), in a string on the heap" } }
  func open() { onClose = { print(self.rows.count) } }
}

final class Pane {
  var onClose: (() -> Void)?
  let title: String
  init(_ number: Int) { title = "pane \(number), whose title is longer than what stands in a word or two" }
  func open() { onClose = { print(self.title) } }
}

final class Account {
  let name: String
  var next: Account?
  init(_ name: String) { self.name = name }
}

nonisolated(unsafe) var accounts: [Int: Account] = [:]

@inline(never) func leakMore() {
  for number in 1...12 {
    let pane = Pane(number)
    pane.open()
  }
  // Old memory is freed, and moved.
  for number in 1...10 { accounts[number] = nil }
  for number in 31...60 { accounts[number] = Account("account \(number), whose name is long") }
}

for number in 1...40 { Screen(number).open() }
for number in 1...30 {
  accounts[number] = Account("account \(number), whose name is long")
  accounts[number]?.next = accounts[number - 1]
}
var signals = sigset_t()
sigemptyset(&signals)
sigaddset(&signals, SIGUSR1)
sigprocmask(SIG_BLOCK, &signals, nil)
setvbuf(stdout, nil, _IONBF, 0)
print("ready \(getpid())")
while true {
  var signal: Int32 = 0
  guard sigwait(&signals, &signal) == 0, signal == SIGUSR1 else { continue }
  leakMore()
  close(open("/tmp/leaks-when-told.\(getpid())", O_CREAT | O_WRONLY, 0o600))
}
