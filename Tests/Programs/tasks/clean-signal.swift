/* expect
{"about": "A task waits on a semaphore that a thread will signal, a thread waits for a condition; ten tasks and an async-let child await the blocked task, two background tasks sleep.",
 "tasks": 15,
 "states": {"running": 1, "waiting": 14},
 "rows": [
  {"count": 11, "state": "waiting", "at": "await", "wait": "task", "resumedBy": "task"},
  {"count": 1, "state": "waiting", "at": "parent", "wait": "child", "resumedBy": "task"},
  {"count": 2, "state": "waiting", "at": "background", "wait": "sleep", "resumedBy": "timer"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let semaphore = DispatchSemaphore(value: 0)
let pause = DispatchSemaphore(value: 0)
let blocked = Counter()
let parked = Counter()
let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
let conditionMutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
nonisolated(unsafe) var go = false

@inline(never)
func waitForSignal() -> Int {
    blocked.up()
    semaphore.wait()
    return 7
}

func awaitIt(_ task: Task<Int, Never>) async -> Int {
    parked.up()
    let n = await task.value // at: await
    return n + 1
}

func parent(_ task: Task<Int, Never>) async {
    async let child = awaitIt(task)
    let n = await child // at: parent
    print(n)
}

func background() async {
    parked.up()
    try? await Task.sleep(nanoseconds: 700_000_000_000) // at: background
    print("slept")
}

@inline(never)
func start() {
    pthread_cond_init(condition, nil)
    pthread_mutex_init(conditionMutex, nil)
    let task = Task { waitForSignal() }
    for _ in 0..<10 { Task { print(await awaitIt(task)) } }
    Task { await parent(task) }
    for _ in 0..<2 { Task(priority: .background) { await background() } }
    startThread {
        pthread_mutex_lock(conditionMutex)
        blocked.up()
        while !go { pthread_cond_wait(condition, conditionMutex) }
        pthread_mutex_unlock(conditionMutex)
    }
    startThread {
        blocked.up()
        _ = pause.wait(timeout: .now() + 300)
        semaphore.signal()
        pthread_mutex_lock(conditionMutex)
        go = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(conditionMutex)
    }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("reached") { blocked.now == 3 && parked.now == 13 }
        settle()
        snapshotAndStay()
    }
}
