/* expect
{"about": "Eight tasks put their continuation into one dictionary, three of the entries are removed without a resume; two more tasks await a lost and a live one.",
 "tasks": 10,
 "states": {"waiting": 10},
 "rows": [
  {"count": 5, "state": "waiting", "at": "register", "wait": "continuation", "resumedBy": "holder"},
  {"count": 3, "state": "waiting", "at": "register", "wait": "continuation", "resumedBy": "noCode"},
  {"count": 1, "state": "waiting", "at": "joinLost", "wait": "task", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "joinLive", "wait": "task", "resumedBy": "task"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let registry = Mutex<[Int: CheckedContinuation<Int, Never>]>([:])
let registered = Counter()
let joining = Counter()

func register(_ key: Int) async -> Int {
    let n = await withCheckedContinuation { c in // at: register
        registry.withLock { $0[key] = c }
        registered.up()
    }
    print(n)
    return n
}

func joinLost(_ task: Task<Int, Never>) async {
    joining.up()
    let value = await task.value // at: joinLost
    print(value)
}

func joinLive(_ task: Task<Int, Never>) async {
    joining.up()
    let value = await task.value // at: joinLive
    print(value)
}

@inline(never)
func start() {
    for key in 0..<8 {
        let task = Task { await register(key) }
        if key == 0 { Task { await joinLost(task) } }
        if key == 7 { Task { await joinLive(task) } }
    }
}

@inline(never)
func loseThree() {
    registry.withLock { all in
        for key in 0..<3 { all[key] = nil }
    }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("registered") { registered.now == 8 && joining.now == 2 }
        settle()
        loseThree()
        waitUntil("five left") { registry.withLock { $0.count } == 5 }
        settle()
        snapshotAndStay()
    }
}
