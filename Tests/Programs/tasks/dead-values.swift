/* expect
{"about": "Rings of one, two and three tasks that await each other's value, four tasks that await a member or such a waiter, and one live pair.",
 "tasks": 12,
 "states": {"waiting": 12},
 "rows": [
  {"count": 6, "state": "waiting", "at": "ring", "wait": "task", "resumedBy": "stuckTask"},
  {"count": 4, "state": "waiting", "at": "bystander", "wait": "task", "resumedBy": "stuckTask"},
  {"count": 1, "state": "waiting", "at": "held", "wait": "continuation", "resumedBy": "holder"},
  {"count": 1, "state": "waiting", "at": "joinLive", "wait": "task", "resumedBy": "task"}],
 "deadlocks": {"threads": [], "tasks": [1, 2, 3]},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

nonisolated(unsafe) var peers: [Task<Int, Never>] = []
let peersReady = Atomic<Bool>(false)
let keeper = Mutex<[CheckedContinuation<Int, Never>]>([])
let reached = Counter()

func ring(_ next: Int) async -> Int {
    while !peersReady.load(ordering: .sequentiallyConsistent) { await Task.yield() }
    reached.up()
    let n = await peers[next].value // at: ring
    return n + 1
}

func bystander(_ task: Task<Int, Never>) async -> Int {
    reached.up()
    let n = await task.value // at: bystander
    return n + 1
}

func held() async -> Int {
    let n = await withCheckedContinuation { c in keeper.withLock { $0.append(c) }; reached.up() } // at: held
    print(n)
    return n
}

func joinLive(_ task: Task<Int, Never>) async {
    reached.up()
    let n = await task.value // at: joinLive
    print(n)
}

@inline(never)
func start() {
    // 0 -> 0, 1 <-> 2, 3 -> 4 -> 5 -> 3
    for next in [0, 2, 1, 4, 5, 3] { peers.append(Task { await ring(next) }) }
    peersReady.store(true, ordering: .sequentiallyConsistent)
    for member in [1, 3] {
        let target = peers[member]
        let waiter = Task { await bystander(target) }
        Task { await bystander(waiter) }
    }
    let live = Task { await held() }
    Task { await joinLive(live) }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("reached") { reached.now == 12 }
        settle()
        withExtendedLifetime(peers) { snapshotAndStay() }
    }
}
