import Foundation
import Dispatch

final class Artifact {
    let name: String
    let bytes: [UInt8]
    init(name: String, size: Int) {
        self.name = name
        bytes = [UInt8](repeating: UInt8(size % 251), count: size)
    }
    var checksum: Int { bytes.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xffff } }
}

final class Job {
    let id: Int
    let artifact: Artifact
    private(set) var attempts = 0
    private var completion: ((Job, Bool) -> Void)?
    private var retry: (() -> Void)?

    init(id: Int) {
        self.id = id
        artifact = Artifact(name: "artifact-\(id)", size: 64 + id % 200)
    }

    func onCompletion(_ handler: @escaping (Job, Bool) -> Void) { completion = handler }

    func execute(on queue: DispatchQueue, group: DispatchGroup) {
        attempts += 1
        let checksum = artifact.checksum
        if (checksum + id * 7 + attempts) % 9 == 0 && attempts < 3 {
            retry = {
                group.enter()
                queue.asyncAfter(deadline: .now() + .milliseconds(8)) {
                    self.execute(on: queue, group: group)
                    group.leave()
                }
            }
            retry?()
            return
        }
        finish(success: (id + attempts) % 13 != 0)
    }

    private func finish(success: Bool) {
        let handler = completion
        completion = nil
        if !success { retry = nil }
        handler?(self, success)
    }
}

final class Runner {
    private let control = DispatchQueue(label: "runner.control")
    private let workers = DispatchQueue(label: "runner.workers", attributes: .concurrent)
    private let group = DispatchGroup()
    private var active: [Int: Job] = [:]
    private var succeeded = 0
    private var failed = 0
    private var retried = 0

    func submit(_ id: Int) {
        let job = Job(id: id)
        job.onCompletion { [weak self] job, success in
            self?.completed(job, success)
        }
        control.sync { active[id] = job }
        group.enter()
        workers.async { [workers, group] in
            job.execute(on: workers, group: group)
            group.leave()
        }
    }

    private func completed(_ job: Job, _ success: Bool) {
        control.sync {
            active[job.id] = nil
            if success { succeeded += 1 } else { failed += 1 }
            if job.attempts > 1 { retried += 1 }
        }
    }

    func wait() { group.wait() }

    func summary() -> String {
        control.sync { "succeeded \(succeeded), failed \(failed), retried \(retried), active \(active.count)" }
    }
}

final class Throttle {
    private var last = Date()
    private let gap: TimeInterval
    init(perSecond: Double) { gap = 1 / perSecond }
    func pass() {
        let wait = last.addingTimeInterval(gap).timeIntervalSinceNow
        if wait > 0 { Thread.sleep(forTimeInterval: wait) }
        last = Date()
    }
}

func nightly() {
    let runner = Runner()
    let throttle = Throttle(perSecond: 350)
    for id in 1...700 {
        throttle.pass()
        runner.submit(id)
    }
    runner.wait()
    print(runner.summary())
}

nightly()
