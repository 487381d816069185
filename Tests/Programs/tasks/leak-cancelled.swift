/* expect
{"about": "Cancelled tasks that go on waiting: lost and held continuations, cancelAll of a group, a cancelled async-let parent, after a cancelled sleep, and awaiting another task.",
 "tasks": 16,
 "states": {"waiting": 16},
 "rows": [
  {"count": 7, "state": "waiting", "at": "lost", "wait": "continuation", "resumedBy": "noCode", "cancelled": true},
  {"count": 2, "state": "waiting", "at": "handler", "wait": "continuation", "resumedBy": "holder", "cancelled": true},
  {"count": 1, "state": "waiting", "at": "group", "wait": "group", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "parent", "wait": "child", "resumedBy": "stuckTask", "cancelled": true},
  {"count": 1, "state": "waiting", "at": "joinCancelled", "wait": "task", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "cancelledJoin", "wait": "task", "resumedBy": "task", "cancelled": true},
  {"count": 1, "state": "waiting", "at": "held", "wait": "continuation", "resumedBy": "holder"},
  {"count": 2, "state": "waiting", "at": "afterSleep", "wait": "continuation", "resumedBy": "noCode", "cancelled": true}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let keeper = Mutex<[UnsafeContinuation<Void, Never>]>([])
let parked = Counter()
let sleeping = Counter()
let joining = Counter()
let noticed = Counter()

func lost() async {
    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in parked.up() } // at: lost
}

func held() async {
    await withUnsafeContinuation { c in keeper.withLock { $0.append(c) }; parked.up() } // at: held
}

func handler() async {
    await withTaskCancellationHandler {
        await withUnsafeContinuation { c in keeper.withLock { $0.append(c) }; parked.up() } // at: handler
        print("inside")
    } onCancel: {
        noticed.up()
    }
    print("handled")
}

func groupOfLost() async {
    await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { await lost() } }
        group.cancelAll()
        while await group.next() != nil { // at: group
            print("one")
        }
    }
}

func parent() async {
    async let child: Void = lost()
    await child // at: parent
    print("child")
}

func afterSleep() async {
    sleeping.up()
    try? await Task.sleep(nanoseconds: 600_000_000_000)
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in parked.up() } // at: afterSleep
    print("slept")
}

func joinCancelled(_ task: Task<Void, Never>) async {
    joining.up()
    await task.value // at: joinCancelled
    print("joined")
}

func cancelledJoin(_ task: Task<Void, Never>) async {
    joining.up()
    await task.value // at: cancelledJoin
    print("joined")
}

@inline(never)
func start() {
    var toCancel: [Task<Void, Never>] = []
    for _ in 0..<3 { toCancel.append(Task { await lost() }) }
    let first = toCancel[0]
    Task { await joinCancelled(first) }
    for _ in 0..<2 { toCancel.append(Task { await handler() }) }
    Task { await groupOfLost() }
    toCancel.append(Task { await parent() })
    for _ in 0..<2 { toCancel.append(Task { await afterSleep() }) }
    let alive = Task { await held() }
    toCancel.append(Task { await cancelledJoin(alive) })
    waitUntil("parked") { parked.now == 3 + 2 + 3 + 1 + 1 && sleeping.now == 2 && joining.now == 2 }
    settle()
    for task in toCancel { task.cancel() }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("cancelled") { noticed.now == 2 && parked.now == 12 }
        settle()
        snapshotAndStay()
    }
}
