import Foundation

final class CompileOutput {
    var objects: [String] = []
}

final class BuildJob {
    enum State { case waiting, done }
    let id: Int
    let target: String
    private(set) var dependencies: [BuildJob] = []
    private(set) var state = State.waiting
    private let action: (BuildJob, CompileOutput) -> Void

    init(id: Int, target: String, action: @escaping (BuildJob, CompileOutput) -> Void) {
        self.id = id
        self.target = target
        self.action = action
    }

    func addDependency(_ job: BuildJob) {
        dependencies.append(job)
    }

    var isReady: Bool { dependencies.allSatisfy { $0.state == .done } }

    func run(into output: CompileOutput) {
        action(self, output)
        state = .done
    }
}

final class BuildScheduler {
    private var lastJob: [String: BuildJob] = [:]
    private var queue: [BuildJob] = []
    private var nextID = 0
    private(set) var finished = 0

    func enqueue(target: String, after other: String?) {
        nextID += 1
        let job = BuildJob(id: nextID, target: target) { job, output in
            output.objects.append("\(job.target).\(job.id).o")
        }
        if let previous = lastJob[target] { job.addDependency(previous) }
        if let other, let library = lastJob[other] { job.addDependency(library) }
        lastJob[target] = job
        queue.append(job)
    }

    func runAll() -> Int {
        let output = CompileOutput()
        while !queue.isEmpty {
            let ready = queue.filter(\.isReady)
            queue.removeAll(where: \.isReady)
            for job in ready {
                job.run(into: output)
                finished += 1
            }
        }
        return output.objects.count
    }

    var targets: Int { lastJob.count }
}

let scheduler = BuildScheduler()

@main
struct Main {
    static func main() {
        var objects = 0
        // a file watcher triggers an incremental build of the four targets thirty times
        for _ in 0..<30 {
            scheduler.enqueue(target: "Core", after: nil)
            scheduler.enqueue(target: "Net", after: "Core")
            scheduler.enqueue(target: "UI", after: "Core")
            scheduler.enqueue(target: "App", after: "UI")
            objects += scheduler.runAll()
        }
        print("targets \(scheduler.targets) jobs \(scheduler.finished) objects \(objects)")
    }
}
