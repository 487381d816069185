/* expect
{"about": "Two tasks hold a Mutex of Synchronization and a pthread mutex and want the other's one; on more than two cores more tasks wait for the pthread mutex (numbers are for two cores); new and resumed tasks are queued for a thread.",
 "tasks": 12,
 "states": {"running": 2, "ready": 9, "waiting": 1},
 "rows": [
  {"count": 6, "state": "ready", "at": "unstarted", "wait": "executor", "resumedBy": "executor"},
  {"count": 3, "state": "ready", "at": "resumed", "wait": "executor", "resumedBy": "executor"},
  {"count": 1, "state": "waiting", "at": "joinStuck", "wait": "task", "resumedBy": "stuckTask"}],
 "deadlocks": {"threads": [2], "tasks": []},
 "starved": true}
*/
import Dispatch
import Glibc
import Synchronization

let cores = max(2, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
let counts = Mutex<Int>(0)
let plain = PlainLock()
let gates = Mutex<[Int: CheckedContinuation<Void, Never>]>([:])
let later = Mutex<[CheckedContinuation<Void, Never>]>([])
let parked = Counter()
let haveFirst = Counter()
let wantSecond = Counter()
let ran = Counter()

@inline(never)
func mutexFirst() {
    counts.withLock { n in
        n += 1
        haveFirst.up()
        waitUntil("circle") { haveFirst.now == 2 }
        wantSecond.up()
        plain.lock()
        n += 1
        plain.unlock()
    }
}

@inline(never)
func plainFirst() {
    plain.lock()
    haveFirst.up()
    waitUntil("circle") { haveFirst.now == 2 }
    wantSecond.up()
    counts.withLock { $0 += 1 }
    plain.unlock()
}

@inline(never)
func plainOnly() {
    wantSecond.up()
    plain.lock()
    plain.unlock()
}

func blocker(_ i: Int) async {
    await withCheckedContinuation { c in gates.withLock { $0[i] = c }; parked.up() }
    if i == 0 {
        mutexFirst()
    } else if i == 1 {
        plainFirst()
    } else {
        plainOnly()
    }
}

func resumedLater() async {
    await withCheckedContinuation { c in later.withLock { $0.append(c) }; parked.up() } // at: resumed
    ran.up()
}

func joinStuck(_ task: Task<Void, Never>) async {
    parked.up()
    await task.value // at: joinStuck
    print("joined")
}

func open(_ i: Int) {
    let gate = gates.withLock { $0.removeValue(forKey: i) }
    gate!.resume()
}

@inline(never)
func start() {
    let blockers = (0..<cores).map { i in Task { await blocker(i) } }
    let first = blockers[0]
    Task { await joinStuck(first) }
    for _ in 0..<3 { Task { await resumedLater() } }
    waitUntil("parked") { parked.now == cores + 4 }
    settle()
    open(0)
    open(1)
    waitUntil("circle") { wantSecond.now == 2 }
    settle()
    for i in 2..<cores { open(i) }
    waitUntil("all threads") { wantSecond.now == cores }
    settle()
    let waiting = later.withLock { all in
        let copy = all
        all = []
        return copy
    }
    for c in waiting { c.resume() }
    for _ in 0..<6 {
        Task { ran.up() } // at: unstarted
    }
}

@main struct Main {
    static func main() {
        start()
        settle()
        waitUntil("none ran") { ran.now == 0 }
        snapshotAndStay()
    }
}
