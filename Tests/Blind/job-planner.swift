import Foundation

final class Command: Sendable {
    let executable: String
    let arguments: [String]
    init(executable: String, arguments: [String]) {
        self.executable = executable
        self.arguments = arguments
    }
}

final class Job: @unchecked Sendable {
    enum State { case waiting, ready, done, failed, skipped }
    let id: Int
    let command: Command
    let dependencies: [Int]
    var unresolved: Int
    var state = State.waiting

    init(id: Int, command: Command, dependencies: [Int]) {
        self.id = id
        self.command = command
        self.dependencies = dependencies
        self.unresolved = dependencies.count
    }
}

struct Report: Sendable {
    var succeeded = 0
    var failed = 0
    var skipped = 0
}

actor Planner {
    private var waitingOn: [Int: [Job]] = [:]
    private var ready: [Job] = []
    private(set) var report = Report()

    func submit(_ job: Job) {
        if job.unresolved == 0 {
            job.state = .ready
            ready.append(job)
            return
        }
        for dependency in job.dependencies {
            waitingOn[dependency, default: []].append(job)
        }
    }

    func take() -> Job? {
        ready.isEmpty ? nil : ready.removeFirst()
    }

    func finished(_ job: Job, success: Bool) {
        if success {
            job.state = .done
            report.succeeded += 1
            for waiter in waitingOn.removeValue(forKey: job.id) ?? [] {
                waiter.unresolved -= 1
                if waiter.unresolved == 0 && waiter.state == .waiting {
                    waiter.state = .ready
                    ready.append(waiter)
                }
            }
        } else {
            job.state = .failed
            report.failed += 1
            skipDependents(of: job)
        }
    }

    private func skipDependents(of job: Job) {
        for waiter in waitingOn[job.id] ?? [] where waiter.state == .waiting {
            waiter.state = .skipped
            report.skipped += 1
            skipDependents(of: waiter)
        }
    }
}

struct Toolchain: Sendable {
    func execute(_ command: Command) async -> Bool {
        try? await Task.sleep(nanoseconds: 1_000_000)
        return !command.arguments.contains("broken.c")
    }
}

let planner = Planner()

@main
struct PlannerApp {
    static func submitModule(_ module: Int, to planner: Planner) async {
        let base = module * 3
        let source = module % 20 == 6 ? "broken.c" : "unit\(module).c"
        await planner.submit(Job(id: base, command: Command(executable: "cc", arguments: ["-c", source]), dependencies: []))
        await planner.submit(Job(id: base + 1, command: Command(executable: "ld", arguments: ["unit\(module).o"]), dependencies: [base]))
        await planner.submit(Job(id: base + 2, command: Command(executable: "run", arguments: ["unit\(module)"]), dependencies: [base + 1]))
    }

    static func main() async {
        let toolchain = Toolchain()
        for module in 0..<240 {
            await submitModule(module, to: planner)
            while let job = await planner.take() {
                let ok = await toolchain.execute(job.command)
                await planner.finished(job, success: ok)
            }
        }
        let report = await planner.report
        print("succeeded \(report.succeeded), failed \(report.failed), skipped \(report.skipped)")
    }
}
