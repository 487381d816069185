/* expect
{"about": "An actor worked off fifty calls (twenty handles kept) and holds three waiting calls; another actor's method waits for a signal that will come, six tasks are queued for it and one awaits the caller.",
 "tasks": 31,
 "states": {"running": 1, "ready": 6, "waiting": 4, "finished": 20},
 "rows": [
  {"count": 6, "state": "ready", "at": "note", "wait": "actor", "resumedBy": "executor"},
  {"count": 3, "state": "waiting", "at": "interest", "wait": "continuation", "resumedBy": "holder"},
  {"count": 1, "state": "waiting", "at": "joinPrint", "wait": "task", "resumedBy": "task"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

let paper = DispatchSemaphore(value: 0)
let pause = DispatchSemaphore(value: 0)
let printing = Counter()
let noting = Counter()
let noted = Counter()
let parked = Counter()
let deposits = Counter()
nonisolated(unsafe) var kept: [Task<Tracked, Never>] = []

actor Bank {
    var total = 0
    var interested: [CheckedContinuation<Int, Never>] = []
    func deposit(_ n: Int) {
        usleep(1000)
        total += n
        deposits.up()
    }
    func interest() async -> Int {
        let n = await withCheckedContinuation { c in // at: interest
            interested.append(c)
            parked.up()
        }
        return n + total
    }
}

actor Printer {
    var pages = 0
    func printPage() -> Int {
        printing.up()
        paper.wait()
        pages += 1
        return pages
    }
    func note(_ n: Int) {
        pages += n
        noted.up()
    }
}
let bank = Bank()
let printer = Printer()

func depositOnce(_ n: Int) async -> Tracked {
    await bank.deposit(n)
    return Tracked()
}

func noteOnce(_ n: Int) async {
    noting.up()
    await printer.note(n) // at: note
    print("noted")
}

func joinPrint(_ task: Task<Int, Never>) async {
    parked.up()
    let n = await task.value // at: joinPrint
    print(n)
}

@inline(never)
func start() {
    for i in 0..<50 {
        let task = Task { await depositOnce(i) }
        if i < 20 { kept.append(task) }
    }
    for _ in 0..<3 { Task { print(await bank.interest()) } }
    waitUntil("deposits") { deposits.now == 50 && parked.now == 3 }
    settle()
    let job = Task { await printer.printPage() }
    waitUntil("printing") { printing.now == 1 }
    for i in 0..<6 { Task { await noteOnce(i) } }
    Task { await joinPrint(job) }
    startThread {
        _ = pause.wait(timeout: .now() + 300)
        paper.signal()
    }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("queued") { noting.now == 6 && parked.now == 4 }
        settle()
        waitUntil("results") { Tracked.alive.now == 20 && noted.now == 0 }
        withExtendedLifetime((kept, bank, printer)) { snapshotAndStay() }
    }
}
