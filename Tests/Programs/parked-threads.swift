// Ends while a queue's thread waits for work, and another thread waits for a gate that never opens.
import Foundation

let gate = DispatchSemaphore(value: 0)
let done = DispatchSemaphore(value: 0)

@inline(never) func waitForTheGate(_ depth: Int) -> Int {
  if depth > 0 { return waitForTheGate(depth - 1) + 1 }
  gate.wait()
  return 0
}

Thread { print(waitForTheGate(3)) }.start()
DispatchQueue.global().async { done.signal() }
done.wait()

/// Whether all threads but this one sleep.
func areParked() -> Bool {
  let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  return tasks.filter { $0 != "\(getpid())" }.allSatisfy { task in
    (try? String(contentsOfFile: "/proc/self/task/\(task)/stat", encoding: .utf8))?.split(separator: ")").last?.hasPrefix(" S") ?? true
  }
}
var looks = 0
while looks < 3 {
  looks = areParked() ? looks + 1 : 0
  usleep(2000)
}
print("parked")
