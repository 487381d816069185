// Build driver: schedules targets over workers and prints where the time went.
import Foundation

final class Span {
    let target: String
    let worker: Int
    let start: Int
    let end: Int
    let waitedFor: String?

    init(target: String, worker: Int, start: Int, end: Int, waitedFor: String?) {
        self.target = target
        self.worker = worker
        self.start = start
        self.end = end
        self.waitedFor = waitedFor
    }
}

struct Target {
    let name: String
    let dependencies: [String]
    let cost: Int
}

final class Timeline {
    private var spans: [Span] = []

    func add(_ span: Span) { spans.append(span) }

    var duration: Int { spans.map(\.end).max() ?? 0 }

    func utilisation(workers: Int) -> [Double] {
        var busy = [Int](repeating: 0, count: workers)
        for span in spans { busy[span.worker] += span.end - span.start }
        return busy.map { Double($0) / Double(max(duration, 1)) }
    }

    func criticalPath() -> [Span] {
        let byName = Dictionary(uniqueKeysWithValues: spans.map { ($0.target, $0) })
        var path: [Span] = []
        var cursor = spans.max { $0.end < $1.end }
        while let span = cursor {
            path.append(span)
            cursor = span.waitedFor.flatMap { byName[$0] }
        }
        return path.reversed()
    }
}

final class BuildDriver {
    private var finishedAt: [String: Int] = [:]
    private var freeAt: [Int]
    let timeline = Timeline()

    init(workers: Int) { freeAt = [Int](repeating: 0, count: workers) }

    func build(_ target: Target) {
        let worker = freeAt.indices.min { freeAt[$0] < freeAt[$1] }!
        let blocker = target.dependencies.max { finishedAt[$0, default: 0] < finishedAt[$1, default: 0] }
        let ready = blocker.map { finishedAt[$0, default: 0] } ?? 0
        let start = max(freeAt[worker], ready)
        let end = start + target.cost
        freeAt[worker] = end
        finishedAt[target.name] = end
        timeline.add(Span(target: target.name, worker: worker, start: start, end: end, waitedFor: blocker))
    }
}

let workers = 6
let driver = BuildDriver(workers: workers)
for i in 0..<1200 {
    var dependencies: [String] = []
    if i >= 8 { dependencies.append("mod\(i - 8)") }
    if i % 5 == 0 && i > 20 { dependencies.append("mod\(i - 19)") }
    driver.build(Target(name: "mod\(i)", dependencies: dependencies, cost: 20 + i * 31 % 90))
    if i % 100 == 0 { usleep(5000) }
}

let path = driver.timeline.criticalPath()
print("build finished after \(driver.timeline.duration) ms, critical path has \(path.count) targets")
for (worker, share) in driver.timeline.utilisation(workers: workers).enumerated() {
    print(String(format: "  worker %d: %.0f%%", worker, share * 100))
}
if let heaviest = path.max(by: { $0.end - $0.start < $1.end - $1.start }) {
    print("heaviest step on the path: \(heaviest.target) (\(heaviest.end - heaviest.start) ms)")
}
