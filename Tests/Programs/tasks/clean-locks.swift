/* expect
{"about": "Threads, a task and a queue wait for locks that others hold for long, in chains but never in a circle.",
 "tasks": 7,
 "states": {"running": 1, "waiting": 6},
 "rows": [
  {"count": 1, "state": "waiting", "at": "joinBlocked", "wait": "task", "resumedBy": "task"},
  {"count": 1, "state": "waiting", "at": "group", "wait": "group", "resumedBy": "task"},
  {"count": 1, "state": "waiting", "at": "held", "wait": "continuation", "resumedBy": "holder"},
  {"count": 3, "state": "waiting", "at": "sleeper", "wait": "sleep", "resumedBy": "timer"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let a = PlainLock()
let b = PlainLock()
let m = Mutex<Int>(0)
let queue = DispatchQueue(label: "busy")
let wakeUp = DispatchSemaphore(value: 0)
nonisolated(unsafe) var timer: (any DispatchSourceTimer)? = nil
let keeper = Mutex<[CheckedContinuation<Void, Never>]>([])
let holding = Counter()
let wanting = Counter()
let parked = Counter()

/// Waits for a long time. The caller holds a lock.
@inline(never)
func holdLong() {
    holding.up()
    wakeUp.wait()
}

@inline(never)
func wantB() {
    wanting.up()
    b.lock()
    b.unlock()
}

func blockedTask() async {
    wantB()
}

func joinBlocked(_ task: Task<Void, Never>) async {
    parked.up()
    await task.value // at: joinBlocked
    print("joined")
}

func held() async {
    await withCheckedContinuation { c in keeper.withLock { $0.append(c) }; parked.up() } // at: held
    print("held")
}

func parent() async {
    await withTaskGroup(of: Void.self) { group in
        group.addTask { await held() }
        await group.waitForAll() // at: group
        print("group")
    }
}

func sleeper(_ seconds: Int) async {
    parked.up()
    try? await Task.sleep(for: .seconds(seconds)) // at: sleeper
    print("slept")
}

@inline(never)
func start() {
    Task { await parent() }
    for i in 0..<3 { Task { await sleeper(600 + i) } }
    waitUntil("parked") { parked.now == 4 }
    startThread { b.lock(); holdLong(); b.unlock() }
    startThread { m.withLock { $0 += 1; holdLong() } }
    queue.async { holdLong() }
    waitUntil("holding") { holding.now == 3 }
    startThread {
        a.lock()
        wantB()
        a.unlock()
    }
    waitUntil("b wanted") { wanting.now == 1 }
    settle()
    startThread { wanting.up(); a.lock(); a.unlock() }
    startThread { wanting.up(); m.withLock { $0 += 1 } }
    startThread { wanting.up(); queue.sync { print("in") } }
    startThread { wanting.up(); a.lock(); b.lock(); b.unlock(); a.unlock() }
    let blocked = Task { await blockedTask() }
    Task { await joinBlocked(blocked) }
    let t = DispatchSource.makeTimerSource(queue: DispatchQueue.global())
    t.schedule(deadline: .now() + 300)
    t.setEventHandler { for _ in 0..<3 { wakeUp.signal() } }
    t.resume()
    timer = t
}

@main struct Main {
    static func main() {
        start()
        waitUntil("wanting") { wanting.now == 6 && parked.now == 5 }
        settle()
        snapshotAndStay()
    }
}
