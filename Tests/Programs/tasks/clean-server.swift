/* expect
{"about": "A server with 200 connections of three priorities that wait in a dictionary for a dispatch timer, an acceptor on a stream and a sleeping heartbeat.",
 "tasks": 202,
 "states": {"waiting": 202},
 "rows": [
  {"count": 200, "state": "waiting", "at": "connection", "wait": "continuation", "resumedBy": "holder"},
  {"count": 1, "state": "waiting", "at": "accept", "wait": "stream", "resumedBy": "holder"},
  {"count": 1, "state": "waiting", "at": "heartbeat", "wait": "sleep", "resumedBy": "timer"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let waiting = Mutex<[Int: CheckedContinuation<Int, Never>]>([:])
nonisolated(unsafe) var incoming: AsyncStream<Int>.Continuation? = nil
nonisolated(unsafe) var timer: (any DispatchSourceTimer)? = nil
let accepted = Counter()
let parked = Counter()
let served = Counter()

func connection(_ id: Int) async {
    for _ in 0..<2 {
        let n = await withCheckedContinuation { c in // at: connection
            waiting.withLock { $0[id] = c }
            parked.up()
        }
        served.up()
        if n < 0 { return }
    }
}

func acceptAll(_ stream: AsyncStream<Int>) async {
    for await id in stream { // at: accept
        let priority: TaskPriority = id % 4 == 0 ? .background : id % 4 == 1 ? .high : .medium
        Task(priority: priority) { await connection(id) }
        accepted.up()
    }
}

func heartbeat() async {
    while !Task.isCancelled {
        accepted.up()
        try? await Task.sleep(nanoseconds: 600_000_000_000) // at: heartbeat
    }
}

func resumeAll() {
    let all = waiting.withLock { dict in
        let copy = dict
        dict = [:]
        return copy
    }
    for (id, c) in all { c.resume(returning: id) }
}

@inline(never)
func start() {
    let (stream, end) = AsyncStream<Int>.makeStream()
    incoming = end
    Task { await acceptAll(stream) }
    Task { await heartbeat() }
    for id in 0..<200 { end.yield(id) }
    waitUntil("first round") { accepted.now == 201 && parked.now == 200 }
    settle()
    resumeAll()
    waitUntil("second round") { served.now == 200 && parked.now == 400 }
    let t = DispatchSource.makeTimerSource(queue: DispatchQueue.global())
    t.schedule(deadline: .now() + 300)
    t.setEventHandler { resumeAll() }
    t.resume()
    timer = t
}

@main struct Main {
    static func main() {
        start()
        settle()
        waitUntil("all wait") { waiting.withLock { $0.count } == 200 }
        snapshotAndStay()
    }
}
