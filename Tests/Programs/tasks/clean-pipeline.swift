/* expect
{"about": "Three pipelines of streams with three stages each and a collector per sink; a thousand numbers went through each, more would come from a thread.",
 "tasks": 12,
 "states": {"waiting": 12},
 "rows": [
  {"count": 3, "state": "waiting", "at": "square", "wait": "stream", "resumedBy": "holder"},
  {"count": 3, "state": "waiting", "at": "filter", "wait": "stream", "resumedBy": "holder"},
  {"count": 3, "state": "waiting", "at": "sink", "wait": "stream", "resumedBy": "holder"},
  {"count": 3, "state": "waiting", "at": "collect", "wait": "task", "resumedBy": "task"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

nonisolated(unsafe) var sources: [AsyncStream<Int>.Continuation] = []
let feeding = DispatchSemaphore(value: 0)
let passed = Counter()
let sunk = Counter()
let collecting = Counter()

func square(_ input: AsyncStream<Int>, _ output: AsyncStream<Int>.Continuation) async {
    for await x in input { // at: square
        output.yield(x &* x)
        passed.up()
    }
    output.finish()
}

func filter(_ input: AsyncStream<Int>, _ output: AsyncStream<Int>.Continuation) async {
    for await x in input { // at: filter
        if x % 2 == 0 { output.yield(x) }
        passed.up()
    }
    output.finish()
}

func sink(_ input: AsyncStream<Int>) async -> Int {
    var sum = 0
    for await x in input { // at: sink
        sum &+= x
        sunk.up()
    }
    return sum
}

func collect(_ task: Task<Int, Never>) async {
    collecting.up()
    let sum = await task.value // at: collect
    print(sum)
}

@inline(never)
func pipeline() {
    let (s0, c0) = AsyncStream<Int>.makeStream()
    let (s1, c1) = AsyncStream<Int>.makeStream()
    let (s2, c2) = AsyncStream<Int>.makeStream()
    sources.append(c0)
    Task { await square(s0, c1) }
    Task { await filter(s1, c2) }
    let last = Task { await sink(s2) }
    Task { await collect(last) }
}

@inline(never)
func start() {
    for _ in 0..<3 { pipeline() }
    startThread {
        for i in 0..<1000 {
            for c in sources { c.yield(i) }
        }
        _ = feeding.wait(timeout: .now() + 300)
        for c in sources { c.finish() }
    }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("all through") { passed.now == 6000 && sunk.now == 1500 && collecting.now == 3 }
        settle()
        withExtendedLifetime(sources) { snapshotAndStay() }
    }
}
