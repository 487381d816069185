/* expect
{"about": "Tasks whose handle only they have (finished ones in a circle with their result, waiting ones in their own frame), fire-and-forget tasks of two priorities, a task awaiting a lost detached task, two sleepers.",
 "tasks": 13,
 "states": {"waiting": 10, "finished": 3},
 "rows": [
  {"count": 2, "state": "waiting", "at": "ownHandle", "wait": "continuation", "resumedBy": "noCode"},
  {"count": 4, "state": "waiting", "at": "fire", "wait": "continuation", "resumedBy": "noCode"},
  {"count": 2, "state": "waiting", "at": "sleeper", "wait": "sleep", "resumedBy": "timer"},
  {"count": 1, "state": "waiting", "at": "onlyMine", "wait": "task", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "inner", "wait": "continuation", "resumedBy": "noCode"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

final class Box: @unchecked Sendable {
    static let alive = Counter()
    var task: Task<Box, Never>?
    let ready = Atomic<Bool>(false)
    init() { Box.alive.up() }
    deinit { Box.alive.down() }
    func set(_ t: Task<Box, Never>) {
        task = t
        ready.store(true, ordering: .sequentiallyConsistent)
    }
}
nonisolated(unsafe) var kept: [Task<Void, Never>] = []
let ended = Counter()
let parked = Counter()
let plainEnded = Counter()

func ring(_ box: Box) async -> Box {
    while !box.ready.load(ordering: .sequentiallyConsistent) { await Task.yield() }
    ended.up()
    return box
}

func ownHandle(_ box: Box) async -> Box {
    while !box.ready.load(ordering: .sequentiallyConsistent) { await Task.yield() }
    let me = box.task!
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in parked.up() } // at: ownHandle
    me.cancel()
    return box
}

func fire() async {
    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in parked.up() } // at: fire
    print("fired")
}

func sleeper() async {
    parked.up()
    try? await Task.sleep(nanoseconds: 600_000_000_000) // at: sleeper
    print("slept")
}

func inner() async -> Int {
    let n = await withUnsafeContinuation { (_: UnsafeContinuation<Int, Never>) in parked.up() } // at: inner
    print(n)
    return n
}

func onlyMine() async {
    let mine = Task.detached { await inner() }
    let n = await mine.value // at: onlyMine
    print(n)
}

@inline(never)
func start() {
    for _ in 0..<3 {
        let box = Box()
        box.set(Task { await ring(box) })
    }
    for _ in 0..<2 {
        let box = Box()
        box.set(Task { await ownHandle(box) })
    }
    for _ in 0..<2 {
        Task(priority: .background) { await fire() }
        Task(priority: .high) { await fire() }
    }
    for _ in 0..<2 { kept.append(Task { await sleeper() }) }
    Task { await onlyMine() }
    for _ in 0..<5 {
        Task { () async -> Tracked in
            plainEnded.up()
            return Tracked()
        }
    }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("reached") { ended.now == 3 && parked.now == 9 && plainEnded.now == 5 }
        settle()
        waitUntil("freed") { Tracked.alive.now == 0 && Box.alive.now == 5 }
        snapshotAndStay()
    }
}
