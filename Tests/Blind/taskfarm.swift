import Foundation

final class RenderJob {
    let number: Int
    let scanlines: Int

    init(number: Int, scanlines: Int) {
        self.number = number
        self.scanlines = scanlines
    }

    func render() -> UInt64 {
        var value = UInt64(number)
        for line in 0..<scanlines {
            value = value &* 2862933555777941757 &+ UInt64(line)
        }
        return value >> 40
    }
}

final class JobBoard: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: [RenderJob] = []
    private var outstanding = 0
    private var total: UInt64 = 0
    private var completed = 0

    func post(_ job: RenderJob) {
        condition.lock()
        waiting.append(job)
        outstanding += 1
        condition.broadcast()
        condition.unlock()
    }

    func next() -> RenderJob {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty {
            condition.wait()
        }
        return waiting.removeFirst()
    }

    func finish(_ value: UInt64) {
        condition.lock()
        total &+= value
        completed += 1
        outstanding -= 1
        condition.broadcast()
        condition.unlock()
    }

    func waitUntilIdle() {
        condition.lock()
        while outstanding > 0 {
            condition.wait()
        }
        condition.unlock()
    }

    func totals() -> (Int, UInt64) {
        condition.lock()
        defer { condition.unlock() }
        return (completed, total)
    }
}

final class RenderWorker: @unchecked Sendable {
    private let board: JobBoard
    private var thread: Thread?

    init(name: String, board: JobBoard) {
        self.board = board
        let thread = Thread { [board] in
            while true {
                let job = board.next()
                board.finish(job.render())
            }
        }
        thread.name = name
        self.thread = thread
    }

    func start() {
        thread?.start()
    }
}

@main
struct RenderFarm {
    static let board = JobBoard()
    static let workers = (1...4).map { RenderWorker(name: "render-\($0)", board: board) }

    static func main() {
        workers.forEach { $0.start() }
        for batch in 0..<40 {
            for slot in 0..<25 {
                board.post(RenderJob(number: batch * 25 + slot, scanlines: 200 + slot * 10))
            }
            board.waitUntilIdle()
            usleep(12_000)
        }
        let (completed, total) = board.totals()
        print("taskfarm: \(completed) jobs on \(workers.count) workers, total \(total)")
        exit(0)
    }
}
