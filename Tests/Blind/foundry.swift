import Foundation

enum Stage: Int, Sendable {
    case waiting, molten, poured, cooled
}

/// One order of the foundry, from sand mould to finished piece.
final class CastingJob: @unchecked Sendable {
    let id: UUID
    let alloy: String
    var stage = Stage.waiting
    var temperature: Double
    var readings: [Double] = []

    init(alloy: String, melt: Double) {
        id = UUID()
        self.alloy = alloy
        temperature = melt
    }

    func cool() {
        while temperature > 320 {
            temperature *= 0.9
            readings.append(temperature)
        }
        stage = .cooled
    }
}

actor JobLedger {
    private var jobs: [UUID: CastingJob] = [:]
    private(set) var finished = 0
    private(set) var readings = 0

    func submit(_ job: CastingJob) {
        jobs[job.id] = job
    }

    func advance(_ id: UUID, to stage: Stage) {
        jobs[id]?.stage = stage
    }

    func finish(_ id: UUID) {
        guard let job = jobs[id] else { return }
        job.stage = .cooled
        readings += job.readings.count
        finished += 1
    }
}

struct Furnace: Sendable {
    let ledger: JobLedger

    func cast(_ job: CastingJob) async {
        await ledger.submit(job)
        await ledger.advance(job.id, to: .molten)
        await ledger.advance(job.id, to: .poured)
        job.cool()
        await ledger.finish(job.id)
    }
}

struct OrderBook {
    private let alloys: [(String, Double)] = [
        ("bronze", 950), ("brass", 930), ("zinc", 420), ("iron", 1530), ("tin", 360),
    ]

    func job(_ number: Int) -> CastingJob {
        let (alloy, melt) = alloys[number % alloys.count]
        return CastingJob(alloy: alloy, melt: melt)
    }
}

@Sendable func shift(_ furnace: Furnace, numbers: Range<Int>) async {
    let book = OrderBook()
    for number in numbers {
        await furnace.cast(book.job(number))
        if number % 7 == 0 { try? await Task.sleep(for: .milliseconds(9)) }
    }
}

let ledger = JobLedger()
let furnace = Furnace(ledger: ledger)
async let early: Void = shift(furnace, numbers: 0..<350)
async let late: Void = shift(furnace, numbers: 350..<700)
_ = await (early, late)
let finished = await ledger.finished
let readings = await ledger.readings
print("cast \(finished) pieces, \(readings) temperature readings")
