import Foundation

struct SensorReply: Sendable {
    let callID: UInt64
    let values: [Int]
}

struct DeadlineExceeded: Error {}

actor ReplyTable {
    private var waiting: [UInt64: CheckedContinuation<SensorReply, Never>] = [:]
    private var early: [UInt64: SensorReply] = [:]

    func reply(to callID: UInt64) async -> SensorReply {
        if let ready = early.removeValue(forKey: callID) { return ready }
        return await withCheckedContinuation { waiting[callID] = $0 }
    }

    func fulfil(_ reply: SensorReply) {
        if let continuation = waiting.removeValue(forKey: reply.callID) {
            continuation.resume(returning: reply)
        } else {
            early[reply.callID] = reply
        }
    }
}

final class SensorQuery: @unchecked Sendable {
    let callID: UInt64
    let station: Int
    let channels: [Int]
    private(set) var total: Int?

    init(callID: UInt64, station: Int, channels: [Int]) {
        self.callID = callID
        self.station = station
        self.channels = channels
    }

    func complete(with reply: SensorReply) -> Int {
        let sum = zip(channels, reply.values).reduce(0) { $0 + $1.0 * $1.1 }
        total = sum
        return sum
    }
}

actor FieldBus {
    private let replies: ReplyTable
    private let deadStations: Set<Int>
    private(set) var framesSent = 0

    init(replies: ReplyTable, deadStations: Set<Int>) {
        self.replies = replies
        self.deadStations = deadStations
    }

    func transmit(callID: UInt64, station: Int, channels: [Int]) async {
        framesSent += 1
        guard !deadStations.contains(station) else { return }
        let values = channels.map { ($0 * 17 + station * 5) % 101 }
        await replies.fulfil(SensorReply(callID: callID, values: values))
    }
}

func withDeadline<Value: Sendable>(
    _ limit: Duration,
    _ operation: @escaping @Sendable () async -> Value
) async throws -> Value {
    let (outcomes, outcome) = AsyncThrowingStream.makeStream(of: Value.self)
    let work = Task {
        outcome.yield(await operation())
        outcome.finish()
    }
    let timer = Task {
        try await Task.sleep(for: limit)
        outcome.finish(throwing: DeadlineExceeded())
    }
    defer {
        work.cancel()
        timer.cancel()
    }
    for try await value in outcomes { return value }
    throw DeadlineExceeded()
}

struct BusClient: Sendable {
    let bus: FieldBus
    let replies: ReplyTable

    func poll(station: Int, round: Int) async throws -> Int {
        let callID = UInt64(round) << 16 | UInt64(station)
        let channels = (0..<16).map { ($0 + round) % 32 }
        let query = SensorQuery(callID: callID, station: station, channels: channels)
        await bus.transmit(callID: callID, station: station, channels: channels)
        return try await withDeadline(.milliseconds(350)) {
            let reply = await replies.reply(to: query.callID)
            return query.complete(with: reply)
        }
    }
}

struct PollTally {
    var answered = 0
    var missed = 0
    var sum = 0

    mutating func add(_ result: Int?) {
        if let result {
            answered += 1
            sum += result
        } else {
            missed += 1
        }
    }
}

@main
struct PlantPoller {
    static let replies = ReplyTable()
    static let bus = FieldBus(replies: replies, deadStations: [4, 9])

    static func main() async throws {
        let client = BusClient(bus: bus, replies: replies)
        var tally = PollTally()

        await withTaskGroup(of: Int?.self) { rounds in
            for round in 0..<30 {
                for station in 0..<16 {
                    rounds.addTask { try? await client.poll(station: station, round: round) }
                }
                try? await Task.sleep(for: .milliseconds(22))
            }
            for await result in rounds { tally.add(result) }
        }

        let frames = await bus.framesSent
        print("frames \(frames), answered \(tally.answered), missed \(tally.missed)")
        print("weighted sum \(tally.sum)")
    }
}
