import Foundation

final class Schedule: @unchecked Sendable {
    let name: String
    let everyTicks: Int
    var runs = 0
    init(name: String, everyTicks: Int) {
        self.name = name
        self.everyTicks = everyTicks
    }
}

final class RunRecord: @unchecked Sendable {
    let schedule: Schedule
    let startedAt: Int
    var output: String = ""
    var exitCode: Int32 = 0
    init(schedule: Schedule, startedAt: Int) {
        self.schedule = schedule
        self.startedAt = startedAt
    }
}

final class FailureNote: @unchecked Sendable {
    let record: RunRecord
    let reason: String
    init(record: RunRecord, reason: String) {
        self.record = record
        self.reason = reason
    }
}

actor CronBoard {
    private var schedules: [Schedule] = []
    private var history: [RunRecord] = []
    private var lastFailure: [String: FailureNote] = [:]
    private let historyLimit = 300

    func register(_ schedule: Schedule) { schedules.append(schedule) }

    func fire(at tick: Int) async -> Int {
        let due = schedules.filter { tick % $0.everyTicks == 0 }
        for schedule in due {
            let record = RunRecord(schedule: schedule, startedAt: tick)
            await execute(record)
            schedule.runs += 1
            remember(record)
        }
        return due.count
    }

    private func execute(_ record: RunRecord) async {
        await Task.yield()
        record.output = "\(record.schedule.name)@\(record.startedAt): " + String(repeating: ".", count: 60)
        if (record.startedAt &* 7 &+ record.schedule.everyTicks) % 23 == 0 { record.exitCode = 1 }
    }

    private func remember(_ record: RunRecord) {
        history.append(record)
        if history.count > historyLimit { history.removeFirst(history.count - historyLimit) }
        if record.exitCode != 0 {
            lastFailure[record.schedule.name] = FailureNote(record: record, reason: "exit \(record.exitCode)")
        } else if let note = lastFailure[record.schedule.name], record.startedAt - note.record.startedAt > 50 {
            lastFailure.removeValue(forKey: record.schedule.name)
        }
    }

    func summary() -> String {
        let total = schedules.reduce(0) { $0 + $1.runs }
        let longest = history.map { $0.output.count }.max() ?? 0
        return "schedules \(schedules.count) runs \(total) history \(history.count) widest \(longest) failing \(lastFailure.count)"
    }
}

@main
struct CronBoardApp {
    static let board = CronBoard()

    static func main() async {
        for i in 0..<40 { await board.register(Schedule(name: "job-\(i)", everyTicks: 2 + i % 9)) }
        var fired = 0
        for tick in 1...240 {
            fired += await board.fire(at: tick)
            if tick == 200 {
                for i in 0..<10 { await board.register(Schedule(name: "report-\(i)", everyTicks: 5)) }
            }
            try? await Task.sleep(nanoseconds: 4_000_000)
        }
        print("fired \(fired)")
        print(await board.summary())
    }
}
