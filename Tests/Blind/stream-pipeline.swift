import Foundation

// Telemetry pipeline: several producers write into AsyncStreams, a decoder and
// an aggregator consume them, and windows are reported when they are complete.

struct RawFrame: Sendable {
    let source: Int
    let sequence: Int
    let payload: [UInt8]
}

final class Measurement: Sendable {
    let source: Int
    let sequence: Int
    let values: [Double]
    init(source: Int, sequence: Int, values: [Double]) {
        self.source = source
        self.sequence = sequence
        self.values = values
    }
}

enum FrameError: Error { case checksum, truncated }

struct FrameCodec: Sendable {
    func encode(_ values: [Int16]) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(values.count)]
        for value in values {
            bytes.append(UInt8(truncatingIfNeeded: value))
            bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        }
        bytes.append(bytes.reduce(0) { $0 ^ $1 })
        return bytes
    }

    func decode(_ frame: RawFrame) throws -> Measurement {
        let bytes = frame.payload
        guard let count = bytes.first, bytes.count == Int(count) * 2 + 2 else { throw FrameError.truncated }
        guard bytes.reduce(0, { $0 ^ $1 }) == 0 else { throw FrameError.checksum }
        let values = (0..<Int(count)).map { index -> Double in
            let low = UInt16(bytes[1 + index * 2]), high = UInt16(bytes[2 + index * 2])
            return Double(Int16(bitPattern: high << 8 | low)) / 16
        }
        return Measurement(source: frame.source, sequence: frame.sequence, values: values)
    }
}

struct Producer: Sendable {
    let source: Int
    let frames: Int
    let codec = FrameCodec()

    func start() -> AsyncStream<RawFrame> {
        let (stream, continuation) = AsyncStream.makeStream(of: RawFrame.self)
        let producer = self
        let task = Task {
            var seed = UInt32(producer.source) &* 2_654_435_761 | 1
            for sequence in 0..<producer.frames {
                if Task.isCancelled { break }
                var values: [Int16] = []
                for _ in 0..<16 {
                    seed = seed &* 1_664_525 &+ 1_013_904_223
                    values.append(Int16(truncatingIfNeeded: seed >> 16))
                }
                var payload = producer.codec.encode(values)
                if seed % 97 == 0 { payload[3] ^= 0x40 }
                continuation.yield(RawFrame(source: producer.source, sequence: sequence, payload: payload))
                if sequence % 64 == 63 { await Task.yield() }
            }
            continuation.finish()
        }
        continuation.onTermination = { reason in
            if case .cancelled = reason { task.cancel() }
        }
        return stream
    }
}

actor DecodeStage {
    private let codec = FrameCodec()
    private(set) var decoded = 0
    private(set) var rejected = 0

    func process(_ frame: RawFrame) -> Measurement? {
        do {
            let measurement = try codec.decode(frame)
            decoded += 1
            return measurement
        } catch {
            rejected += 1
            return nil
        }
    }
}

struct WindowReport: Sendable {
    let index: Int
    let count: Int
    let mean: Double
    let deviation: Double
}

actor WindowStage {
    private final class Window {
        let index: Int
        var measurements: [Measurement] = []
        init(index: Int) { self.index = index }
    }
    private var open: [Int: Window] = [:]
    private let width: Int
    private let sources: Int
    private var progress: [Int: Int] = [:]
    private(set) var peak = 0

    init(width: Int, sources: Int) {
        self.width = width
        self.sources = sources
    }

    func add(_ measurement: Measurement) -> [WindowReport] {
        let index = measurement.sequence / width
        let window = open[index] ?? Window(index: index)
        open[index] = window
        window.measurements.append(measurement)
        peak = max(peak, open.count)
        progress[measurement.source] = measurement.sequence
        guard progress.count == sources, let slowest = progress.values.min() else { return [] }
        return close(before: slowest / width)
    }

    func finish(_ source: Int) -> [WindowReport] {
        progress[source] = Int.max
        guard progress.count == sources, let slowest = progress.values.min() else { return [] }
        return close(before: slowest / width)
    }

    private func close(before limit: Int) -> [WindowReport] {
        let ready = open.keys.filter { $0 < limit }.sorted()
        return ready.map { index in
            let window = open.removeValue(forKey: index)!
            let values = window.measurements.flatMap(\.values)
            let mean = values.reduce(0, +) / Double(values.count)
            let variance = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(values.count)
            return WindowReport(index: index, count: window.measurements.count, mean: mean, deviation: variance.squareRoot())
        }
    }

    var remaining: Int { open.count }
}

@main
struct Pipeline {
    static func main() async {
        let sources = 4, frames = 7_800
        let decoder = DecodeStage()
        let windows = WindowStage(width: 200, sources: sources)
        let (reports, sink) = AsyncStream.makeStream(of: WindowReport.self)

        let workers = (1...sources).map { source in
            Task {
                for await frame in Producer(source: source, frames: frames).start() {
                    guard let measurement = await decoder.process(frame) else { continue }
                    for report in await windows.add(measurement) { sink.yield(report) }
                }
                for report in await windows.finish(source) { sink.yield(report) }
            }
        }
        let supervisor = Task {
            for worker in workers { await worker.value }
            sink.finish()
        }

        var received: [WindowReport] = []
        for await report in reports { received.append(report) }
        await supervisor.value

        received.sort { $0.index < $1.index }
        let total = received.reduce(0) { $0 + $1.count }
        let widest = received.max { $0.deviation < $1.deviation }!
        let decoded = await decoder.decoded, rejected = await decoder.rejected
        let remaining = await windows.remaining
        print("windows \(received.count), measurements \(total), decoded \(decoded), rejected \(rejected), left open \(remaining)")
        print("first mean \(String(format: "%.3f", received[0].mean)), widest \(widest.index) with \(String(format: "%.2f", widest.deviation))")
    }
}
