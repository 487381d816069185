/* expect
{"about": "Three sessions have a group of four workers each. Each worker has two children by async let, which wait for a signal that a root holds. Two tasks without a parent wait for the same.",
 "tasks": 41,
 "states": {"waiting": 41},
 "rows": [
  {"count": 3, "state": "waiting", "at": "session", "wait": "group", "resumedBy": "task"},
  {"count": 12, "state": "waiting", "at": "worker", "wait": "child", "resumedBy": "task"},
  {"count": 26, "state": "waiting", "at": "signal", "wait": "continuation", "resumedBy": "holder"}],
 "tree": [
  {"count": 2, "depth": 0, "groups": 0, "at": "signal"},
  {"count": 3, "depth": 0, "groups": 0, "at": "session"},
  {"count": 12, "depth": 1, "groups": 3, "at": "worker"},
  {"count": 12, "depth": 2, "groups": 0, "at": "signal"},
  {"count": 12, "depth": 2, "groups": 0, "at": "signal"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let waiters = Mutex<[CheckedContinuation<Int, Never>]>([])
let parked = Counter()

@inline(never)
func signal() async -> Int {
    let n = await withCheckedContinuation { c in waiters.withLock { $0.append(c) }; parked.up() } // at: signal
    return n + 1
}

@inline(never)
func worker() async -> Int { // at: worker
    async let first = signal() // at: worker
    async let second = signal() // at: worker
    let sum = await first + second // at: worker
    return sum // at: worker
} // at: worker

@inline(never)
func session() async {
    await withTaskGroup(of: Int.self) { group in
        for _ in 0..<4 { group.addTask { await worker() } }
        for await n in group { print(n) } // at: session
    }
}

@inline(never)
func start() {
    for _ in 0..<3 { Task { await session() } }
    for _ in 0..<2 { Task { print(await signal()) } }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("parked") { parked.now == 26 }
        settle()
        snapshotAndStay()
    }
}
