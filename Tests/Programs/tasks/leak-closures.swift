/* expect
{"about": "Continuations kept by an actor, by closures in an array, by a block of a dispatch timer and by a thread; others lost with a dropped request or kept only by the waiting task's own actor.",
 "tasks": 12,
 "states": {"waiting": 12},
 "rows": [
  {"count": 4, "state": "waiting", "at": "receive", "wait": "continuation", "resumedBy": "holder"},
  {"count": 1, "state": "waiting", "at": "receive", "wait": "continuation", "resumedBy": "noCode"},
  {"count": 3, "state": "waiting", "at": "callback", "wait": "continuation", "resumedBy": "holder"},
  {"count": 2, "state": "waiting", "at": "request", "wait": "continuation", "resumedBy": "noCode"},
  {"count": 1, "state": "waiting", "at": "later", "wait": "continuation", "resumedBy": "holder"},
  {"count": 1, "state": "waiting", "at": "thread", "wait": "continuation", "resumedBy": "holder"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let parked = Counter()
nonisolated(unsafe) var callbacks: [() -> Void] = []
let callbacksLock = PlainLock()
let never = DispatchSemaphore(value: 0)

actor Mailbox {
    var waiting: [Int: CheckedContinuation<Int, Never>] = [:]
    func receive(_ id: Int) async -> Int {
        let n = await withCheckedContinuation { c in // at: receive
            waiting[id] = c
            parked.up()
        }
        waiting[id] = nil
        return n
    }
}
let mailbox = Mailbox()

func privateMailbox() async {
    let own = Mailbox()
    let n = await own.receive(1)
    print(n, own)
}

func keep(_ callback: @escaping () -> Void) {
    callbacksLock.lock()
    callbacks.append(callback)
    callbacksLock.unlock()
}

func byCallback(_ i: Int) async {
    let n = await withCheckedContinuation { (c: CheckedContinuation<Int, Never>) in // at: callback
        keep { c.resume(returning: i) }
        parked.up()
    }
    print(n)
}

final class Request {
    var completion: ((Int) -> Void)?
    var retries = 3
}

@inline(never)
func send(_ request: Request) {
    request.retries -= 1
    if request.retries < 0 { request.completion?(1) }
}

func byRequest() async {
    let n = await withCheckedContinuation { (c: CheckedContinuation<Int, Never>) in // at: request
        let request = Request()
        request.completion = { c.resume(returning: $0) }
        send(request)
        parked.up()
    }
    print(n)
}

func byTimer() async {
    let n = await withCheckedContinuation { (c: CheckedContinuation<Int, Never>) in // at: later
        DispatchQueue.global().asyncAfter(deadline: .now() + 600) { c.resume(returning: 2) }
        parked.up()
    }
    print(n)
}

func byThread() async {
    let n = await withUnsafeContinuation { (c: UnsafeContinuation<Int, Never>) in // at: thread
        startThread {
            parked.up()
            never.wait()
            c.resume(returning: 3)
        }
    }
    print(n)
}

@inline(never)
func start() {
    for id in 0..<4 { Task { print(await mailbox.receive(id)) } }
    Task { await privateMailbox() }
    for i in 0..<3 { Task { await byCallback(i) } }
    for _ in 0..<2 { Task { await byRequest() } }
    Task { await byTimer() }
    Task { await byThread() }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("parked") { parked.now == 12 }
        settle()
        withExtendedLifetime(mailbox) { snapshotAndStay() }
    }
}
