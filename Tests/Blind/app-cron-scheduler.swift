import Foundation
import Dispatch

final class RunRecord {
    let job: String
    let number: Int
    init(job: String, number: Int) {
        self.job = job
        self.number = number
    }
}

final class CronJob {
    let name: String
    let interval: Int
    private let queue: DispatchQueue
    private var timers: [DispatchSourceTimer] = []
    private var last: RunRecord?
    private(set) var runs = 0
    private let limit: Int
    var onFinished: ((CronJob) -> Void)?

    init(name: String, interval: Int, limit: Int, queue: DispatchQueue) {
        self.name = name
        self.interval = interval
        self.limit = limit
        self.queue = queue
    }

    func start() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(interval), repeating: .milliseconds(interval))
        timer.setEventHandler { self.fire() }
        timers.append(timer)
        timer.resume()
    }

    private func fire() {
        runs += 1
        last = RunRecord(job: name, number: runs)
        if runs == limit {
            let handler = onFinished
            stop()
            handler?(self)
        }
    }

    func stop() {
        timers.popLast()?.cancel()
        onFinished = nil
    }

    func reschedule(every milliseconds: Int) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(milliseconds), repeating: .milliseconds(milliseconds))
        timer.setEventHandler { self.touch() }
        timers.append(timer)
        timer.resume()
    }

    private func touch() {
        last = RunRecord(job: name, number: runs)
    }
}

final class Crontab {
    private let queue = DispatchQueue(label: "crontab")
    private var jobs: [String: CronJob] = [:]
    private var finished = 0
    private var removed = 0
    private var runs = 0

    func add(_ name: String, interval: Int, limit: Int) {
        queue.sync {
            let job = CronJob(name: name, interval: interval, limit: limit, queue: queue)
            job.onFinished = { [weak self] job in
                guard let self else { return }
                self.finished += 1
                self.runs += job.runs
                self.jobs[job.name] = nil
            }
            jobs[name] = job
            job.start()
        }
    }

    func slowDown(_ name: String) {
        queue.sync { jobs[name]?.reschedule(every: 90) }
    }

    func remove(_ name: String) {
        queue.sync {
            guard let job = jobs.removeValue(forKey: name) else { return }
            runs += job.runs
            removed += 1
            job.stop()
        }
    }

    var state: (active: Int, finished: Int, removed: Int, runs: Int) {
        queue.sync { (jobs.count, finished, removed, runs) }
    }
}

func maintain() {
    let table = Crontab()
    var slowed: [String] = []
    for index in 0..<320 {
        let name = "job-\(index)"
        let patient = index % 40 == 7
        table.add(name, interval: 12 + index % 9, limit: patient ? 10_000 : 4)
        if patient { slowed.append(name) }
        if index % 10 == 3 { table.remove(name) }
        if index % 40 == 15, let name = slowed.last {
            table.slowDown(name)
        }
        if index % 40 == 25, let name = slowed.last {
            table.remove(name)
            slowed.removeLast()
        }
        usleep(6000)
    }
    while table.state.active > 0 { usleep(20_000) }
    let state = table.state
    print("finished \(state.finished), removed \(state.removed), runs \(state.runs)")
}

maintain()
