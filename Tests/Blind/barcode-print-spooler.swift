// Label printing in a parcel hub: packing stations feed two thermal printers.
import Foundation

final class LabelJob {
    let tracking: String
    let bars: [Bool]

    init(tracking: String) {
        self.tracking = tracking
        var bars: [Bool] = []
        for byte in tracking.utf8 {
            for bit in 0..<8 { bars.append(byte >> UInt8(bit) & 1 == 1) }
            bars.append(false)
        }
        self.bars = bars
    }
}

final class Spooler: @unchecked Sendable {
    private var jobs: [LabelJob] = []
    private let capacity: Int
    private let condition = NSCondition()
    private var closed = false
    private(set) var longest = 0

    init(capacity: Int) { self.capacity = capacity }

    func submit(_ job: LabelJob) {
        condition.lock()
        while jobs.count >= capacity { condition.wait() }
        jobs.append(job)
        longest = max(longest, jobs.count)
        condition.broadcast()
        condition.unlock()
    }

    func next() -> LabelJob? {
        condition.lock()
        defer { condition.unlock() }
        while jobs.isEmpty && !closed { condition.wait() }
        guard !jobs.isEmpty else { return nil }
        let job = jobs.removeFirst()
        condition.broadcast()
        return job
    }

    func close() {
        condition.lock()
        closed = true
        condition.broadcast()
        condition.unlock()
    }
}

final class Printer: @unchecked Sendable {
    let name: String
    private let spooler: Spooler
    private(set) var labels = 0
    private(set) var inkDots = 0

    init(name: String, spooler: Spooler) {
        self.name = name
        self.spooler = spooler
    }

    func run(in group: DispatchGroup) {
        group.enter()
        Thread { [self] in
            while let job = spooler.next() {
                labels += 1
                inkDots += job.bars.filter { $0 }.count
                usleep(400)
            }
            group.leave()
        }.start()
    }
}

let spooler = Spooler(capacity: 24)
let printers = ["north", "south"].map { Printer(name: $0, spooler: spooler) }
let printing = DispatchGroup()
printers.forEach { $0.run(in: printing) }

let packing = DispatchGroup()
for station in 0..<3 {
    packing.enter()
    Thread {
        for parcel in 0..<500 {
            spooler.submit(LabelJob(tracking: "NO\(station)\(100_000 + parcel)X"))
        }
        packing.leave()
    }.start()
}
packing.wait()
spooler.close()
printing.wait()

let total = printers.reduce(0) { $0 + $1.labels }
let dots = printers.reduce(0) { $0 + $1.inkDots }
print("labels printed: \(total), dots: \(dots), longest queue: \(spooler.longest)")
