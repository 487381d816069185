/* expect
{"about": "Many short tasks: 300 finished with kept handles, 100 finished and freed, 40 undrained results in a group, a discarding group whose children are gone, a finished async-let child, and waiters of two priorities.",
 "tasks": 348,
 "states": {"waiting": 7, "finished": 341},
 "rows": [
  {"count": 1, "state": "waiting", "at": "pauseInGroup", "wait": "sleep", "resumedBy": "timer"},
  {"count": 1, "state": "waiting", "at": "pauseInDiscarding", "wait": "sleep", "resumedBy": "timer"},
  {"count": 1, "state": "waiting", "at": "pauseWithChild", "wait": "sleep", "resumedBy": "timer"},
  {"count": 4, "state": "waiting", "at": "waiter", "wait": "continuation", "resumedBy": "holder"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

nonisolated(unsafe) var kept: [Task<Tracked, Never>] = []
let ran = Counter()
let parked = Counter()
let keeper = Mutex<[CheckedContinuation<Void, Never>]>([])

func short() async -> Tracked {
    let result = Tracked()
    await Task.yield()
    ran.up()
    return result
}

func inGroup() async {
    await withTaskGroup(of: Tracked.self) { group in
        for _ in 0..<40 { group.addTask { await short() } }
        parked.up()
        try? await Task.sleep(nanoseconds: 600_000_000_000) // at: pauseInGroup
        await group.waitForAll()
    }
    print("group")
}

func inDiscarding() async {
    await withDiscardingTaskGroup { group in
        for _ in 0..<30 { group.addTask { _ = await short() } }
        parked.up()
        try? await Task.sleep(nanoseconds: 610_000_000_000) // at: pauseInDiscarding
    }
    print("discarding")
}

func withChild() async {
    async let child = short()
    parked.up()
    try? await Task.sleep(nanoseconds: 620_000_000_000) // at: pauseWithChild
    let result = await child
    print(result)
}

func waiter() async {
    await withCheckedContinuation { c in keeper.withLock { $0.append(c) }; parked.up() } // at: waiter
    print("waiter")
}

@inline(never)
func start() {
    for i in 0..<400 {
        let task = Task { await short() }
        if i % 4 != 0 { kept.append(task) }
    }
    Task { await inGroup() }
    Task { await inDiscarding() }
    Task { await withChild() }
    for _ in 0..<2 {
        Task(priority: .background) { await waiter() }
        Task(priority: .high) { await waiter() }
    }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("ran") { ran.now == 400 + 40 + 30 + 1 && parked.now == 7 }
        settle()
        waitUntil("results") { Tracked.alive.now == 300 + 40 + 1 }
        withExtendedLifetime(kept) { snapshotAndStay() }
    }
}
