/* expect
{"about": "Consumers of streams: with a kept producer, without one, with the producer's end only in their own frame, with only the stream kept, and fed by a task that is itself stuck.",
 "tasks": 14,
 "states": {"waiting": 14},
 "rows": [
  {"count": 4, "state": "waiting", "at": "consume", "wait": "stream", "resumedBy": "holder"},
  {"count": 3, "state": "waiting", "at": "orphan", "wait": "stream", "resumedBy": "noCode"},
  {"count": 2, "state": "waiting", "at": "ownEnd", "wait": "stream", "resumedBy": "noCode"},
  {"count": 1, "state": "waiting", "at": "keptStream", "wait": "stream", "resumedBy": "holder"},
  {"count": 2, "state": "waiting", "at": "throwing", "wait": "stream", "resumedBy": "noCode"},
  {"count": 1, "state": "waiting", "at": "fed", "wait": "stream", "resumedBy": "noCode"},
  {"count": 1, "state": "waiting", "at": "feeder", "wait": "continuation", "resumedBy": "noCode"}],
 "deadlocks": {"threads": [], "tasks": []},
 "starved": false}
*/
import Dispatch
import Glibc
import Synchronization

nonisolated(unsafe) var producers: [AsyncStream<Int>.Continuation] = []
nonisolated(unsafe) var keptStream: AsyncStream<Int>? = nil
let got = Counter()
let parked = Counter()

func consume(_ stream: AsyncStream<Int>) async {
    var sum = 0
    for await x in stream { // at: consume
        sum += x
        got.up()
    }
    print(sum)
}

func orphan() async {
    let stream = AsyncStream<Int> { c in c.yield(1) }
    for await _ in stream { // at: orphan
        got.up()
    }
    print("end")
}

func ownEnd() async {
    let (stream, end) = AsyncStream<Int>.makeStream()
    end.yield(1)
    for await _ in stream { // at: ownEnd
        got.up()
    }
    end.yield(2)
    end.finish()
}

func fromKeptStream() async {
    for await _ in keptStream! { // at: keptStream
        got.up()
    }
}

func throwing() async {
    do {
        let stream = AsyncThrowingStream<Int, any Error> { c in c.yield(1) }
        for try await _ in stream { // at: throwing
            got.up()
        }
    } catch {
        print(error)
    }
}

func fed(_ stream: AsyncStream<Int>) async {
    for await _ in stream { // at: fed
        got.up()
    }
}

func feed(_ end: AsyncStream<Int>.Continuation) async {
    end.yield(1)
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in parked.up() } // at: feeder
    end.yield(2)
    end.finish()
}

@inline(never)
func start() {
    for _ in 0..<4 {
        let (stream, end) = AsyncStream<Int>.makeStream()
        producers.append(end)
        Task { await consume(stream) }
        end.yield(5)
    }
    for _ in 0..<3 { Task { await orphan() } }
    for _ in 0..<2 { Task { await ownEnd() } }
    keptStream = AsyncStream<Int> { c in c.yield(1) }
    Task { await fromKeptStream() }
    for _ in 0..<2 { Task { await throwing() } }
    let (stream, end) = AsyncStream<Int>.makeStream()
    Task { await fed(stream) }
    Task { await feed(end) }
}

@main struct Main {
    static func main() {
        start()
        waitUntil("consuming") { got.now == 13 && parked.now == 1 }
        settle()
        snapshotAndStay()
    }
}
