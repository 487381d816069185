/* expect
{"about": "Three serial queues sync into each other in a circle, a thread with a lock and a queue block each other, a task is blocked in a sync on the first queue, and blocks queued there would resume two other tasks.",
 "tasks": 4,
 "states": {"running": 1, "waiting": 3},
 "rows": [
  {"count": 2, "state": "waiting", "at": "block", "wait": "continuation", "resumedBy": "holder"},
  {"count": 1, "state": "waiting", "at": "joinStuck", "wait": "task", "resumedBy": "stuckTask"}],
 "deadlocks": {"threads": [2, 3], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let queues = [DispatchQueue(label: "a"), DispatchQueue(label: "b"), DispatchQueue(label: "c")]
let mixed = DispatchQueue(label: "mixed")
let lock = PlainLock()
let inside = Counter()
let entering = Counter()
let mixedInside = Counter()
let reached = Counter()

@inline(never)
func circle(_ i: Int) {
    queues[i].async {
        inside.up()
        waitUntil("three queues") { inside.now == 3 }
        entering.up()
        queues[(i + 1) % 3].sync { print("not reached") }
    }
}

@inline(never)
func lockAndQueue() {
    mixed.async {
        mixedInside.up()
        waitUntil("lock and queue") { mixedInside.now == 2 }
        entering.up()
        lock.lock()
        print("not reached")
        lock.unlock()
    }
    startThread {
        lock.lock()
        mixedInside.up()
        waitUntil("lock and queue") { mixedInside.now == 2 }
        entering.up()
        mixed.sync { print("not reached") }
        lock.unlock()
    }
}

func byBlock() async {
    await withCheckedContinuation { c in // at: block
        queues[0].async { c.resume() }
        reached.up()
    }
    print("resumed")
}

@inline(never)
func enterFirst() -> Int {
    reached.up()
    return queues[0].sync { 1 }
}

func blocked() async -> Int {
    enterFirst()
}

func joinStuck(_ task: Task<Int, Never>) async {
    reached.up()
    let n = await task.value // at: joinStuck
    print(n)
}

@inline(never)
func start() {
    for i in 0..<3 { circle(i) }
    lockAndQueue()
    waitUntil("circles") { entering.now == 5 }
    settle()
    for _ in 0..<2 { Task { await byBlock() } }
    waitUntil("blocks") { reached.now == 2 }
    settle()
    let task = Task { await blocked() }
    Task { await joinStuck(task) }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("reached") { reached.now == 4 }
        settle()
        withExtendedLifetime(queues) { snapshotAndStay() }
    }
}
