/* expect
{"about": "Tasks that await async-let children: two with a lost and a finished child each, one with a live child, one chain of two.",
 "tasks": 11,
 "states": {"waiting": 9, "finished": 2},
 "rows": [
  {"count": 2, "state": "waiting", "at": "pair", "wait": "child", "resumedBy": "stuckTask"},
  {"count": 3, "state": "waiting", "at": "lost", "wait": "continuation", "resumedBy": "noCode"},
  {"count": 1, "state": "waiting", "at": "live", "wait": "child", "resumedBy": "task"},
  {"count": 1, "state": "waiting", "at": "held", "wait": "continuation", "resumedBy": "holder"},
  {"count": 1, "state": "waiting", "at": "outer", "wait": "child", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "deeper", "wait": "child", "resumedBy": "stuckTask"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let keeper = Mutex<[String: UnsafeContinuation<Int, Never>]>([:])
let parked = Counter()
let quickDone = Counter()

func quick() async -> Tracked {
    let result = Tracked()
    quickDone.up()
    return result
}

func lost() async -> Int {
    let n = await withCheckedContinuation { (_: CheckedContinuation<Int, Never>) in parked.up() } // at: lost
    print(n)
    return n
}

func held() async -> Int {
    let n = await withUnsafeContinuation { c in keeper.withLock { $0["held"] = c }; parked.up() } // at: held
    print(n)
    return n
}

func pair() async {
    async let ended = quick()
    async let never = lost()
    let n = await never // at: pair
    print(n)
    let e = await ended
    print(e)
}

func live() async {
    async let child = held()
    let n = await child // at: live
    print(n)
}

func deeper() async -> Int {
    async let leaf = lost()
    let n = await leaf // at: deeper
    return n + 1
}

func outer() async {
    async let middle = deeper()
    let n = await middle // at: outer
    print(n)
}

@inline(never)
func start() {
    for _ in 0..<2 { Task { await pair() } }
    Task { await live() }
    Task { await outer() }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("parked") { parked.now == 4 && quickDone.now == 2 }
        settle()
        waitUntil("results") { Tracked.alive.now == 2 }
        snapshotAndStay()
    }
}
