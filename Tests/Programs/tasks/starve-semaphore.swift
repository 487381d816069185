/* expect
{"about": "As many tasks as cores wait on a DispatchSemaphore (numbers are for two cores), so new tasks, resumed tasks and tasks resumed on an idle actor are queued; others wait or have finished.",
 "tasks": 18,
 "states": {"running": 2, "ready": 10, "waiting": 4, "finished": 2},
 "rows": [
  {"count": 5, "state": "ready", "at": "unstarted", "wait": "executor", "resumedBy": "executor"},
  {"count": 3, "state": "ready", "at": "resumed", "wait": "executor", "resumedBy": "executor"},
  {"count": 2, "state": "ready", "at": "onActor", "wait": "executor", "resumedBy": "executor"},
  {"count": 4, "state": "waiting", "at": "held", "wait": "continuation", "resumedBy": "holder"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": true}
*/
import Dispatch
import Glibc
import Synchronization

let cores = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
let semaphore = DispatchSemaphore(value: 0)
let later = Mutex<[CheckedContinuation<Void, Never>]>([])
let heldOnes = Mutex<[UnsafeContinuation<Void, Never>]>([])
let parked = Counter()
let blocked = Counter()
let ended = Counter()
let ran = Counter()
nonisolated(unsafe) var kept: [Task<Tracked, Never>] = []

actor Idle {
    var visits = 0
    func visit() async {
        await withCheckedContinuation { c in later.withLock { $0.append(c) }; parked.up() } // at: onActor
        visits += 1
        ran.up()
    }
}
let idle = Idle()

@inline(never)
func block() {
    blocked.up()
    semaphore.wait()
}

func resumedLater() async {
    await withCheckedContinuation { c in later.withLock { $0.append(c) }; parked.up() } // at: resumed
    ran.up()
}

func held() async {
    await withUnsafeContinuation { c in heldOnes.withLock { $0.append(c) }; parked.up() } // at: held
    ran.up()
}

@inline(never)
func start() {
    for _ in 0..<2 {
        kept.append(Task {
            ended.up()
            return Tracked()
        })
    }
    for _ in 0..<2 { Task { await idle.visit() } }
    for _ in 0..<3 { Task { await resumedLater() } }
    for _ in 0..<4 { Task { await held() } }
    waitUntil("parked") { parked.now == 9 && ended.now == 2 }
    settle()
    for _ in 0..<cores { Task { block() } }
    waitUntil("blocked") { blocked.now == cores }
    settle()
    let waiting = later.withLock { all in
        let copy = all
        all = []
        return copy
    }
    for c in waiting { c.resume() }
    for _ in 0..<5 {
        Task { ran.up() } // at: unstarted
    }
}

@main struct Main {
    static func main() {
        start()
        settle()
        waitUntil("none ran") { ran.now == 0 && Tracked.alive.now == 2 }
        withExtendedLifetime((idle, semaphore, kept)) { snapshotAndStay() }
    }
}
