// Waits while it is inspected from outside. Some of its objects leak, others are in use, and much was freed before.

import Foundation

final class Screen {
  var onClose: (() -> Void)?
  let rows: [String]

  init(_ number: Int) { rows = (0..<5).map { "row \($0) of screen \(number), in a string on the heap" } }

  func open() { onClose = { print(self.rows.count) } }
}

final class Account {
  let name: String
  var next: Account?
  weak var screen: Screen?
  init(_ name: String) { self.name = name }
}

final class Job {
  let input: [Int]
  init(_ count: Int) { input = Array(0..<count) }
}

nonisolated(unsafe) var accounts: [Int: Account] = [:]
nonisolated(unsafe) var blocks: [UnsafeMutableRawPointer] = []

/// Threads whose stacks alone hold something.
func work(_ number: Int) {
  let job = Job(100 * number)
  withExtendedLifetime(job) { while true { sleep(1000) } }
}

for number in 1...40 { Screen(number).open() }
for number in 1...30 {
  accounts[number] = Account("account \(number), whose name is long")
  accounts[number]?.next = accounts[number - 1]
}
for number in 1...3 { Thread.detachNewThread { work(number) } }
// The allocator keeps freed blocks in all its ways: by size, by thread, and between blocks in use.
for size in [24, 100, 500, 1032, 2000, 40_000, 200_000, 1_000_000] {
  for _ in 0..<40 { blocks.append(malloc(size)!) }
}
for index in blocks.indices.reversed() where index % 3 != 0 { free(blocks.remove(at: index)) }
let finished = DispatchSemaphore(value: 0)
for _ in 0..<4 {
  Thread.detachNewThread {
    let mine = (1...200).map { malloc($0 * 16)! }
    mine.forEach { free($0) }
    finished.signal()
  }
}
for _ in 0..<4 { finished.wait() }
usleep(200_000)
setvbuf(stdout, nil, _IONBF, 0)
print("ready \(getpid())")
while true { sleep(1000) }
