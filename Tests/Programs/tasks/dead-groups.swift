/* expect
{"about": "Groups and async-let children that await the task that waits for them (circles of two, two and three), a lost sibling, two outside waiters, and a live group.",
 "tasks": 13,
 "states": {"waiting": 13},
 "rows": [
  {"count": 1, "state": "waiting", "at": "groupTop", "wait": "group", "resumedBy": "stuckTask"},
  {"count": 3, "state": "waiting", "at": "up", "wait": "task", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "lost", "wait": "continuation", "resumedBy": "noCode"},
  {"count": 1, "state": "waiting", "at": "letTop", "wait": "child", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "nestedTop", "wait": "group", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "nestedMiddle", "wait": "group", "resumedBy": "stuckTask"},
  {"count": 2, "state": "waiting", "at": "outside", "wait": "task", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "liveGroup", "wait": "group", "resumedBy": "task"},
  {"count": 2, "state": "waiting", "at": "held", "wait": "continuation", "resumedBy": "holder"}],
 "deadlocks": {"threads": [], "tasks": [2, 2, 3]},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

nonisolated(unsafe) var roots: [Task<Int, Never>] = []
let rootsReady = Atomic<Bool>(false)
let keeper = Mutex<[CheckedContinuation<Int, Never>]>([])
let reached = Counter()

func up(_ root: Int) async -> Int {
    while !rootsReady.load(ordering: .sequentiallyConsistent) { await Task.yield() }
    reached.up()
    let n = await roots[root].value // at: up
    return n + 1
}

func lost() async -> Int {
    await withCheckedContinuation { (_: CheckedContinuation<Int, Never>) in reached.up() } // at: lost
}

func held() async -> Int {
    let n = await withCheckedContinuation { c in keeper.withLock { $0.append(c) }; reached.up() } // at: held
    print(n)
    return n
}

func groupTop() async -> Int {
    await withTaskGroup(of: Int.self) { group in
        group.addTask { await up(0) }
        group.addTask { await lost() }
        await group.waitForAll() // at: groupTop
        print("all")
        return 1
    }
}

func letTop() async -> Int {
    async let child = up(1)
    let n = await child // at: letTop
    return n + 1
}

func nestedMiddle() async -> Int {
    await withTaskGroup(of: Int.self) { group in
        group.addTask { await up(2) }
        var sum = 0
        for await n in group { // at: nestedMiddle
            sum += n
        }
        return sum
    }
}

func nestedTop() async -> Int {
    await withTaskGroup(of: Int.self) { group in
        group.addTask { await nestedMiddle() }
        let n = await group.next() // at: nestedTop
        return n ?? 0
    }
}

func outside(_ task: Task<Int, Never>) async {
    reached.up()
    let n = await task.value // at: outside
    print(n)
}

func liveGroup() async -> Int {
    await withTaskGroup(of: Int.self) { group in
        for _ in 0..<2 { group.addTask { await held() } }
        var sum = 0
        for await n in group { // at: liveGroup
            sum += n
        }
        return sum
    }
}

@inline(never)
func start() {
    roots = [Task { await groupTop() }, Task { await letTop() }, Task { await nestedTop() }]
    rootsReady.store(true, ordering: .sequentiallyConsistent)
    let first = roots[0]
    for _ in 0..<2 { Task { await outside(first) } }
    Task { print(await liveGroup()) }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("reached") { reached.now == 3 + 1 + 2 + 2 }
        settle()
        withExtendedLifetime(roots) { snapshotAndStay() }
    }
}
