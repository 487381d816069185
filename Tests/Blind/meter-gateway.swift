import Foundation

// Metering gateway: aggregates electricity meter samples per interval and prints the
// consumption report that the billing import picks up at the end of the shift.

struct Sample {
    let meter: Int
    let second: Int
    let watts: Double
}

/// Fixed window used to reject spikes before they reach the interval totals.
struct MedianWindow {
    private var slots: [Double]
    private var cursor = 0
    private var filled = 0

    init(size: Int) { slots = Array(repeating: 0, count: size) }

    mutating func push(_ value: Double) -> Double {
        slots[cursor] = value
        cursor = (cursor + 1) % slots.count
        filled = min(filled + 1, slots.count)
        return slots.prefix(filled).sorted()[filled / 2]
    }
}

final class IntervalRecord {
    let meter: Int
    let index: Int
    let wattHours: Double
    let peak: Double

    init(meter: Int, index: Int, wattHours: Double, peak: Double) {
        self.meter = meter
        self.index = index
        self.wattHours = wattHours
        self.peak = peak
    }

    var row: String {
        "\(meter);\(index);\(String(format: "%.3f", wattHours));\(String(format: "%.1f", peak))"
    }
}

final class MeterChannel {
    let meter: Int
    private var window = MedianWindow(size: 9)
    private var energy = 0.0
    private var peak = 0.0
    private var samples = 0
    private var interval = 0

    init(meter: Int) { self.meter = meter }

    func add(_ sample: Sample) -> IntervalRecord? {
        let filtered = window.push(sample.watts)
        energy += filtered / 3600
        peak = max(peak, filtered)
        samples += 1
        guard samples == 10 else { return nil }
        defer {
            samples = 0
            energy = 0
            peak = 0
            interval += 1
        }
        return IntervalRecord(meter: meter, index: interval, wattHours: energy, peak: peak)
    }
}

final class ShiftReport {
    private var records: [IntervalRecord] = []

    func add(_ record: IntervalRecord) { records.append(record) }

    /// Writes every interval of the shift and returns a checksum over the rows.
    func write(to handle: FileHandle) -> (rows: Int, checksum: UInt32) {
        var checksum: UInt32 = 2166136261
        for record in records.sorted(by: { ($0.meter, $0.index) < ($1.meter, $1.index) }) {
            let line = Data((record.row + "\n").utf8)
            for byte in line { checksum = (checksum ^ UInt32(byte)) &* 16777619 }
            handle.write(line)
        }
        return (records.count, checksum)
    }
}

func load(of meter: Int, at second: Int) -> Double {
    let base = 240 + 90 * sin(Double(second) / 40 + Double(meter))
    let spike = (second * 13 + meter * 7) % 97 == 0 ? 5_000.0 : 0
    return base + spike
}

let channels = (0..<50).map { MeterChannel(meter: 7_000 + $0) }
let report = ShiftReport()

for batch in 0..<90 {
    for offset in 0..<4 {
        let second = batch * 4 + offset
        for channel in channels {
            let sample = Sample(meter: channel.meter, second: second, watts: load(of: channel.meter, at: second))
            if let record = channel.add(sample) { report.add(record) }
        }
    }
    usleep(9_000)
}

let target = FileManager.default.temporaryDirectory
    .appendingPathComponent("shift-\(ProcessInfo.processInfo.processIdentifier).csv")
guard FileManager.default.createFile(atPath: target.path, contents: nil),
      let handle = FileHandle(forWritingAtPath: target.path) else {
    fatalError("cannot open \(target.path)")
}
let written = report.write(to: handle)
try handle.close()
try FileManager.default.removeItem(at: target)
print("intervals \(written.rows), checksum \(String(written.checksum, radix: 16))")
