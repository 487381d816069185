/* expect
{"about": "Two threads and three threads take locks in a circle, another thread waits for one of these locks, a task joins one of the threads with pthread_join and a second task awaits that task.",
 "tasks": 3,
 "states": {"running": 1, "waiting": 2},
 "rows": [
  {"count": 1, "state": "waiting", "at": "joinStuck", "wait": "task", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "sleeper", "wait": "sleep", "resumedBy": "timer"}],
 "deadlocks": {"threads": [2, 3], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let locks = [PlainLock(), PlainLock(), PlainLock(), PlainLock(), PlainLock()]
let haveFirst = [Counter(), Counter()]
let wantSecond = Counter()
let bystanders = Counter()
let joining = Counter()
let reached = Counter()

@inline(never)
func takeTwo(_ circle: Int, _ size: Int, _ first: Int, _ second: Int) {
    locks[first].lock()
    haveFirst[circle].up()
    waitUntil("circle \(circle)") { haveFirst[circle].now == size }
    wantSecond.up()
    locks[second].lock()
    print("not reached")
    locks[second].unlock()
    locks[first].unlock()
}

@inline(never)
func join(_ thread: pthread_t) -> Int {
    joining.up()
    return Int(pthread_join(thread, nil))
}

func joinThread(_ thread: pthread_t) async -> Int {
    join(thread)
}

func joinStuck(_ task: Task<Int, Never>) async {
    reached.up()
    let n = await task.value // at: joinStuck
    print(n)
}

func sleeper() async {
    reached.up()
    try? await Task.sleep(nanoseconds: 600_000_000_000) // at: sleeper
    print("slept")
}

@inline(never)
func start() {
    let one = startThread { takeTwo(0, 2, 0, 1) }
    startThread { takeTwo(0, 2, 1, 0) }
    startThread { takeTwo(1, 3, 2, 3) }
    startThread { takeTwo(1, 3, 3, 4) }
    startThread { takeTwo(1, 3, 4, 2) }
    waitUntil("want second") { wantSecond.now == 5 }
    settle()
    startThread {
        bystanders.up()
        locks[0].lock()
        print("not reached")
        locks[0].unlock()
    }
    Task { await sleeper() }
    waitUntil("sleeper") { reached.now == 1 }
    settle()
    let joiner = Task { await joinThread(one) }
    Task { await joinStuck(joiner) }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("reached") { bystanders.now == 1 && joining.now == 1 && reached.now == 2 }
        settle()
        withExtendedLifetime(locks) { snapshotAndStay() }
    }
}
