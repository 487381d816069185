// Planner for nightly batch jobs of a data centre: jobs may plan follow-up jobs for later nights.

enum Outcome {
    case done
    case again(afterMinutes: Int)
    case split(into: [String], afterMinutes: Int)
}

class Job {
    let name: String
    let due: Int
    let sequence: Int

    init(name: String, due: Int, sequence: Int) {
        self.name = name
        self.due = due
        self.sequence = sequence
    }

    func run(at minute: Int) -> Outcome { .done }
    var cost: Int { 1 }
}

final class BackupJob: Job {
    override func run(at minute: Int) -> Outcome { .again(afterMinutes: 1_440) }
    override var cost: Int { 12 }
}

final class IndexJob: Job {
    override func run(at minute: Int) -> Outcome {
        let parts = (0..<(2 + sequence % 2)).map { "\(name.prefix(12)).\($0)" }
        return .split(into: parts, afterMinutes: 700 + sequence % 400)
    }
    override var cost: Int { 3 }
}

final class MailJob: Job {
    override func run(at minute: Int) -> Outcome {
        sequence % 5 == 0 ? .again(afterMinutes: 300) : .done
    }
}

struct PriorityQueue<Element> {
    private var heap: [Element] = []
    private let before: (Element, Element) -> Bool

    init(before: @escaping (Element, Element) -> Bool) {
        self.before = before
    }

    var count: Int { heap.count }
    var first: Element? { heap.first }
    var all: [Element] { heap }

    mutating func push(_ element: Element) {
        heap.append(element)
        var child = heap.count - 1
        while child > 0, before(heap[child], heap[(child - 1) / 2]) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func pop() -> Element? {
        guard !heap.isEmpty else { return nil }
        heap.swapAt(0, heap.count - 1)
        let top = heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in (2 * parent + 1)...(2 * parent + 2) where child < heap.count && before(heap[child], heap[least]) {
                least = child
            }
            if least == parent { return top }
            heap.swapAt(least, parent)
            parent = least
        }
    }
}

final class Planner {
    private var queue = PriorityQueue<Job> { ($0.due, $0.sequence) < ($1.due, $1.sequence) }
    private var sequence = 0
    private var runs: [String: Int] = [:]
    private(set) var costSpent = 0
    private(set) var peak = 0

    func plan(_ kind: Job.Type, name: String, due: Int) {
        sequence += 1
        let job: Job
        switch kind {
        case is BackupJob.Type: job = BackupJob(name: name, due: due, sequence: sequence)
        case is IndexJob.Type: job = IndexJob(name: name, due: due, sequence: sequence)
        default: job = MailJob(name: name, due: due, sequence: sequence)
        }
        queue.push(job)
        peak = max(peak, queue.count)
    }

    func advance(to minute: Int) {
        while let next = queue.first, next.due <= minute, let job = queue.pop() {
            runs[String(describing: type(of: job)), default: 0] += 1
            costSpent += job.cost
            switch job.run(at: minute) {
            case .done:
                break
            case .again(let wait):
                plan(type(of: job), name: job.name, due: minute + wait)
            case .split(let parts, let wait):
                for part in parts {
                    plan(type(of: job), name: part, due: minute + wait)
                }
            }
        }
    }

    func statistics() -> String {
        runs.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    func backlog(from minute: Int) -> (jobs: Int, cost: Int, hours: [Int]) {
        var hours = Array(repeating: 0, count: 6)
        for job in queue.all {
            hours[min(5, (job.due - minute) / 240)] += 1
        }
        return (queue.count, queue.all.reduce(0) { $0 + $1.cost }, hours)
    }
}

let planner = Planner()
for server in 0..<40 {
    planner.plan(BackupJob.self, name: "backup-\(server)", due: 60 + server * 3)
}
for catalogue in 0..<12 {
    planner.plan(IndexJob.self, name: "index-\(catalogue)", due: 30 + catalogue * 20)
}

let days = 3
for minute in stride(from: 0, to: days * 1_440, by: 10) {
    if minute % 30 == 0 {
        planner.plan(MailJob.self, name: "digest-\(minute)", due: minute + 45)
    }
    planner.advance(to: minute)
    if minute % 1_440 == 1_430 {
        let rest = planner.backlog(from: minute)
        print("day \(minute / 1_440 + 1): \(rest.jobs) jobs planned, \(rest.cost) units to do, by 4 h: \(rest.hours)")
    }
}
print("runs: \(planner.statistics())")
print("cost \(planner.costSpent), longest queue \(planner.peak)")
