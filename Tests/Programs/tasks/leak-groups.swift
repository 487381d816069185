/* expect
{"about": "Nested groups whose leaves dropped their continuations: one with undrained results, one drained by for-await, one in waitForAll, and a throwing group with a live leaf at its implicit end.",
 "tasks": 22,
 "states": {"waiting": 19, "finished": 3},
 "rows": [
  {"count": 1, "state": "waiting", "at": "body", "wait": "continuation", "resumedBy": "noCode"},
  {"count": 4, "state": "waiting", "at": "middle", "wait": "group", "resumedBy": "stuckTask"},
  {"count": 10, "state": "waiting", "at": "leaf", "wait": "continuation", "resumedBy": "noCode"},
  {"count": 1, "state": "waiting", "at": "drain", "wait": "group", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "all", "wait": "group", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "implicitEnd", "wait": "group", "resumedBy": "task"},
  {"count": 1, "state": "waiting", "at": "liveLeaf", "wait": "continuation", "resumedBy": "holder"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let live = Mutex<[CheckedContinuation<Void, Never>]>([])
let parked = Counter()
let quickDone = Counter()
let drained = Counter()

func quick() async -> Tracked {
    let result = Tracked()
    quickDone.up()
    return result
}

func leaf() async -> Tracked {
    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in parked.up() } // at: leaf
    return Tracked()
}

func liveLeaf() async -> Tracked {
    await withCheckedContinuation { c in live.withLock { $0.append(c) }; parked.up() } // at: liveLeaf
    return Tracked()
}

func middle() async -> Tracked {
    await withTaskGroup(of: Tracked.self) { group in
        for _ in 0..<2 { group.addTask { await leaf() } }
        var last = Tracked()
        while let next = await group.next() { // at: middle
            last = next
        }
        return last
    }
}

func undrained() async {
    await withTaskGroup(of: Tracked.self) { group in
        for _ in 0..<3 { group.addTask { await quick() } }
        for _ in 0..<2 { group.addTask { await middle() } }
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in parked.up() } // at: body
        for await _ in group {
            drained.up()
        }
    }
}

func draining() async {
    await withTaskGroup(of: Tracked.self) { group in
        for _ in 0..<4 { group.addTask { await quick() } }
        for _ in 0..<2 { group.addTask { await middle() } }
        for await _ in group { // at: drain
            drained.up()
        }
    }
}

func waitingForAll() async {
    await withTaskGroup(of: Tracked.self) { group in
        for _ in 0..<2 { group.addTask { await leaf() } }
        await group.waitForAll() // at: all
        print("all")
    }
}

func implicitEnd() async throws {
    let n = try await withThrowingTaskGroup(of: Tracked.self) { group in // at: implicitEnd
        group.addTask { await liveLeaf() }
        try Task.checkCancellation()
        return 1
    }
    print(n)
}

@inline(never)
func start() {
    Task { await undrained() }
    Task { await draining() }
    Task { await waitingForAll() }
    Task { try await implicitEnd() }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("leaves") { parked.now == 12 && quickDone.now == 7 && drained.now == 4 }
        settle()
        // four middle tasks hold one placeholder each, three results wait in the group
        waitUntil("results") { Tracked.alive.now == 4 + 3 }
        snapshotAndStay()
    }
}
