import Foundation

// Telemetry pipeline of a game backend: producers post events into a stream, the exporter packs
// them into batches for the collector, which accepts one batch per interval.

final class TelemetryEvent: Sendable {
    let name: String
    let player: Int
    let millis: Int
    let fields: [String: Double]

    init(name: String, player: Int, millis: Int, fields: [String: Double]) {
        self.name = name
        self.player = player
        self.millis = millis
        self.fields = fields
    }

    func encode(into buffer: inout [UInt8]) {
        buffer.append(contentsOf: name.utf8)
        buffer.append(UInt8(truncatingIfNeeded: player))
        for key in fields.keys.sorted() {
            withUnsafeBytes(of: fields[key]!.bitPattern.bigEndian) { buffer.append(contentsOf: $0) }
        }
        buffer.append(0x0a)
    }
}

struct Collector {
    private(set) var batches = 0
    private(set) var bytes = 0
    private(set) var checksum: UInt32 = 0

    mutating func accept(_ packet: [UInt8]) {
        batches += 1
        bytes += packet.count
        for byte in packet { checksum = (checksum << 5 | checksum >> 27) ^ UInt32(byte) }
    }
}

struct Exporter {
    private var iterator: AsyncStream<TelemetryEvent>.Iterator
    private let batchSize: Int
    private(set) var exported = 0
    var collector = Collector()

    init(stream: AsyncStream<TelemetryEvent>, batchSize: Int) {
        iterator = stream.makeAsyncIterator()
        self.batchSize = batchSize
    }

    mutating func exportInterval() async {
        var packet: [UInt8] = []
        packet.reserveCapacity(batchSize * 48)
        for _ in 0..<batchSize {
            guard let event = await iterator.next() else { break }
            event.encode(into: &packet)
            exported += 1
        }
        collector.accept(packet)
    }
}

final class GameServer: Sendable {
    private let sink: AsyncStream<TelemetryEvent>.Continuation

    init(sink: AsyncStream<TelemetryEvent>.Continuation) { self.sink = sink }

    /// Simulates one step of a match and reports what happened in it.
    func step(_ tick: Int, players: Int) -> Int {
        var posted = 0
        for player in 0..<players {
            let x = sin(Double(tick * 3 + player)) * 40, y = cos(Double(tick + player * 5)) * 40
            let speed = (x * x + y * y).squareRoot() / 4
            let name = speed > 10 ? "sprint" : speed > 5 ? "move" : "idle"
            let event = TelemetryEvent(name: name, player: player, millis: tick * 16,
                                       fields: ["x": x, "y": y, "speed": speed])
            sink.yield(event)
            posted += 1
        }
        return posted
    }
}

@main
struct TelemetryMain {
    static let pipe = AsyncStream.makeStream(of: TelemetryEvent.self)
    static let server = GameServer(sink: pipe.continuation)

    static func main() async throws {
        var exporter = Exporter(stream: pipe.stream, batchSize: 5)
        var posted = 0
        for tick in 0..<150 {
            posted += server.step(tick, players: 12)
            await exporter.exportInterval()
            if tick % 50 == 49 {
                print("tick \(tick + 1): posted \(posted), exported \(exporter.exported)")
            }
            try await Task.sleep(nanoseconds: 6_000_000)
        }
        let collector = exporter.collector
        print("batches \(collector.batches), bytes \(collector.bytes), checksum \(String(collector.checksum, radix: 16))")
    }
}
