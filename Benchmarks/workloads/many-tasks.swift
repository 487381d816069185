// Starts many tasks. Each waits for its own continuation; one array holds all continuations.
//
//     many-tasks TASKS
//
// Prints `waiting TASKS` when all of them wait. Exits at the end of its input, without resuming them.

import Foundation

actor Gate {
  private var waiting: [CheckedContinuation<Void, Never>] = []
  var count: Int { waiting.count }

  func wait() async { await withCheckedContinuation { waiting.append($0) } }
}

let count = Int(CommandLine.arguments[1])!
let gate = Gate()
for _ in 0..<count { Task { await gate.wait() } }
while await gate.count < count { try await Task.sleep(nanoseconds: 1_000_000) }
print("waiting \(count)")
fflush(nil)
while readLine() != nil {}
