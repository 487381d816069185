// Many tasks that wait. Each waits for a continuation in one array.
//
//     many-tasks TASKS
//
// Prints `waiting TASKS` as soon as all of them wait. Ends when its input ends, without resuming them.

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
