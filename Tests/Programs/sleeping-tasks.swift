// Tasks that sleep in each way, with names and task-local values. Prints `ready PROCESS` and waits. With
// EARLIER_RUNTIME, the tasks have no names: these need the runtime of Swift 6.2.

import Glibc

#if EARLIER_RUNTIME
extension Task where Failure == Never {
  static func detached(name: String, _ body: @escaping @Sendable () async -> Success) { detached(operation: body) }
}

extension TaskGroup {
  mutating func addTask(name: String, _ body: @escaping @Sendable () async -> ChildTaskResult) {
    addTask(operation: body)
  }
}
#endif

enum Request {
  @TaskLocal static var id = 0
  @TaskLocal static var user = "nobody"
}

@inline(never) func nanoseconds() async { try? await Task.sleep(nanoseconds: 1_000_000_000_000) }
@inline(never) func continuous() async { try? await Task.sleep(for: .seconds(2000)) }
@inline(never) func tolerant() async { try? await Task.sleep(for: .seconds(3000), tolerance: .seconds(5)) }
@inline(never) func suspending() async { try? await Task.sleep(until: .now + .seconds(4000), clock: .suspending) }
@inline(never) func child() async { try? await Task.sleep(for: .seconds(5000)) }
/// Slept, and waits for something else now.
@inline(never) func awake() async {
  try? await Task.sleep(nanoseconds: 1_000_000)
  await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in kept = continuation }
}
nonisolated(unsafe) var kept: UnsafeContinuation<Void, Never>?

@main enum Main {
  static func main() {
    for number in 0..<3 { Task.detached(name: "upload \(number) of größe.jpg") { await nanoseconds() } }
    Task.detached(name: "eight678") {
      await Request.$id.withValue(7) { await Request.$user.withValue("someone") { await continuous() } }
    }
    Task.detached { await tolerant() }
    Task.detached { await suspending() }
    Task.detached { await awake() }
    Task.detached {
      await Request.$id.withValue(8) {
        await withTaskGroup(of: Void.self) { group in
          group.addTask(name: String(repeating: "x", count: 300)) { await child() }
          await group.waitForAll()
        }
      }
    }
    settle()
    snapshotAndStay()
  }
}
