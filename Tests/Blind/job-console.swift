import Foundation
import Dispatch

enum JobEvent: Hashable {
    case tick, poll, done
}

final class Job {
    let id: Int
    private var handlers: [JobEvent: (Int) -> Void] = [:]
    private var timer: DispatchSourceTimer?
    private var ticks = 0
    private var polls = 0
    private var log: [String] = []
    private lazy var describe: () -> String = { "job \(self.id): \(self.ticks) ticks, \(self.polls) polls" }

    init(id: Int) {
        self.id = id
    }

    func start(whenDone: @escaping (Job) -> Void) {
        handlers[.tick] = { count in
            self.log.append("tick \(count)")
            self.check()
        }
        handlers[.poll] = { attempt in
            self.log.append("poll \(attempt)")
            self.check()
        }
        handlers[.done] = { _ in
            whenDone(self)
        }
        let source = DispatchSource.makeTimerSource(queue: .main)
        source.schedule(deadline: .now() + .milliseconds(8), repeating: .milliseconds(8))
        source.setEventHandler { self.tick() }
        source.resume()
        timer = source
        poll(attempt: 1)
    }

    private func tick() {
        ticks += 1
        if ticks == 3 { timer?.cancel() }
        handlers[.tick]?(ticks)
    }

    private func poll(attempt: Int) {
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(6)) {
            self.polls = attempt
            if attempt < 4 { self.poll(attempt: attempt + 1) }
            self.handlers[.poll]?(attempt)
        }
    }

    private func check() {
        guard ticks >= 3, polls >= 4 else { return }
        handlers[.done]?(log.count)
    }

    /// Gives back everything that was installed by start().
    func finish() -> String {
        let line = describe()
        timer?.cancel()
        timer = nil
        handlers.removeAll()
        describe = { "finished" }
        return line
    }
}

final class Console {
    private var commands: [String: (Int) -> Int] = [:]
    private var active: [Int: Job] = [:]
    private var history: [String] = []
    private(set) var finished = 0
    private var nextID = 1
    private var charactersWritten = 0
    private var refresh: Timer?
    private var screen = ""

    init() {
        commands["start"] = { count in
            for _ in 0..<count { self.launch() }
            return self.active.count
        }
        commands["written"] = { _ in self.charactersWritten }
        commands["recent"] = { limit in self.history.suffix(limit).reduce(0) { $0 + $1.count } }
        commands["finished"] = { _ in self.finished }
        commands["screen"] = { _ in self.screen.count }
        let timer = Timer(timeInterval: 0.01, repeats: true) { _ in self.redraw() }
        RunLoop.main.add(timer, forMode: .default)
        refresh = timer
    }

    var isIdle: Bool { active.isEmpty }

    func execute(_ name: String, _ argument: Int = 0) -> Int {
        commands[name]?(argument) ?? -1
    }

    private func launch() {
        let job = Job(id: nextID)
        nextID += 1
        active[job.id] = job
        job.start { done in
            self.active[done.id] = nil
            self.finished += 1
            self.write(done.finish())
        }
    }

    private func redraw() {
        screen = history.suffix(5).joined(separator: "\n")
    }

    private func write(_ line: String) {
        charactersWritten += line.count
        history.append(line)
        if history.count > 20 { history.removeFirst() }
    }
}

func refreshScreen() {
    let until = Date(timeIntervalSinceNow: 0.15)
    while Date() < until { _ = RunLoop.main.run(mode: .default, before: until) }
}

let console = Console()
var recent = 0
for _ in 0..<20 {
    _ = console.execute("start", 5)
    while !console.isIdle {
        _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02))
    }
    recent = console.execute("recent", 10)
}
refreshScreen()
print("finished \(console.execute("finished")), written \(console.execute("written")), recent \(recent), screen \(console.execute("screen"))")
