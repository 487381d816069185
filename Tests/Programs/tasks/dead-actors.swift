/* expect
{"about": "Two actors with a lock each block each other's threads in their methods; tasks that were resumed meanwhile are queued on the two busy actors; they need a thread first.",
 "tasks": 9,
 "states": {"running": 2, "ready": 5, "waiting": 2},
 "rows": [
  {"count": 5, "state": "ready", "at": "park", "wait": "executor", "resumedBy": "executor"},
  {"count": 1, "state": "waiting", "at": "joinStuck", "wait": "task", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "held", "wait": "continuation", "resumedBy": "holder"}],
 "deadlocks": {"threads": [2], "tasks": []},
 "starved": true}
*/
import Dispatch
import Glibc
import Synchronization

let ready = Counter()
let haveFirst = Counter()
let wantSecond = Counter()
let ran = Counter()
let parkedOnes = Mutex<[CheckedContinuation<Void, Never>]>([])
let heldOnes = Mutex<[CheckedContinuation<Void, Never>]>([])
let gates = Mutex<[CheckedContinuation<Void, Never>]>([])

actor Account {
    let lock = PlainLock()
    var amount = 10

    func park() async {
        await withCheckedContinuation { c in parkedOnes.withLock { $0.append(c) }; ready.up() } // at: park
        amount += 1
        ran.up()
    }

    func transfer(_ other: PlainLock) {
        lock.lock()
        haveFirst.up()
        waitUntil("both") { haveFirst.now == 2 }
        wantSecond.up()
        other.lock()
        amount -= 1
        other.unlock()
        lock.unlock()
    }
}
let left = Account()
let right = Account()

func transfer(_ from: Account, _ to: Account) async {
    await withCheckedContinuation { c in gates.withLock { $0.append(c) }; ready.up() }
    await from.transfer(to.lock)
}

func joinStuck(_ task: Task<Void, Never>) async {
    ready.up()
    await task.value // at: joinStuck
    print("joined")
}

func held() async {
    await withCheckedContinuation { c in heldOnes.withLock { $0.append(c) }; ready.up() } // at: held
    print("held")
}

func takeAll(_ from: borrowing Mutex<[CheckedContinuation<Void, Never>]>) -> [CheckedContinuation<Void, Never>] {
    from.withLock { all in
        let copy = all
        all = []
        return copy
    }
}

@inline(never)
func start() {
    for _ in 0..<3 { Task { await left.park() } }
    for _ in 0..<2 { Task { await right.park() } }
    let one = Task { await transfer(left, right) }
    Task { await transfer(right, left) }
    Task { await joinStuck(one) }
    Task { await held() }
    waitUntil("ready") { ready.now == 5 + 2 + 1 + 1 }
    settle()
    for c in takeAll(gates) { c.resume() }
    waitUntil("blocked") { wantSecond.now == 2 }
    settle()
    for c in takeAll(parkedOnes) { c.resume() }
}

@main struct Main {
    static func main() {
        start()
        settle()
        waitUntil("none ran") { ran.now == 0 }
        withExtendedLifetime((left, right)) { snapshotAndStay() }
    }
}
