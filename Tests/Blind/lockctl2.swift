import Foundation

enum Verdict: UInt8, Sendable {
    case ack, nack, timeout
}

struct Answer: Sendable {
    let sequence: UInt16
    let verdict: Verdict
}

final class GateCommand: @unchecked Sendable {
    let gate: String
    let verb: String
    private let payload: [UInt8]
    private(set) var verdict: Verdict?

    init(gate: String, verb: String) {
        self.gate = gate
        self.verb = verb
        self.payload = Array("\(verb):\(gate)".utf8) + [UInt8](repeating: 0x33, count: 96)
    }

    func encoded(sequence: UInt16) -> [UInt8] {
        let crc = payload.reduce(UInt8(sequence & 0xff)) { ($0 << 1) ^ $1 }
        return [UInt8(sequence >> 8), UInt8(sequence & 0xff)] + payload + [crc]
    }

    func finish(_ answer: Answer) {
        verdict = answer.verdict
    }
}

actor GateLink {
    private struct Pending {
        let continuation: CheckedContinuation<Answer, Never>
        var age: Int
    }

    private var pending: [UInt16: Pending] = [:]
    private var nextSequence: UInt16 = 0
    private var outbox: [UInt16] = []
    private(set) var busyFrames = 0

    func transmit(_ command: GateCommand) async -> Answer {
        let sequence = nextSequence
        nextSequence &+= 1
        _ = command.encoded(sequence: sequence)
        return await withCheckedContinuation { continuation in
            pending[sequence] = Pending(continuation: continuation, age: 0)
            outbox.append(sequence)
        }
    }

    func takeOutbox() -> [UInt16] {
        defer { outbox.removeAll(keepingCapacity: true) }
        return outbox
    }

    func receive(sequence: UInt16, verdict: Verdict) {
        guard let entry = pending.removeValue(forKey: sequence) else { return }
        entry.continuation.resume(returning: Answer(sequence: sequence, verdict: verdict))
    }

    func receiveBusy(sequence: UInt16) {
        busyFrames += 1
    }

    func expire(after limit: Int) {
        for sequence in Array(pending.keys) {
            pending[sequence]!.age += 1
            if pending[sequence]!.age > limit {
                receive(sequence: sequence, verdict: .timeout)
            }
        }
    }
}

actor GateStatistics {
    private var counts: [Verdict: Int] = [:]

    func note(_ command: GateCommand) {
        counts[command.verdict ?? .timeout, default: 0] += 1
    }

    func count(_ verdict: Verdict) -> Int { counts[verdict] ?? 0 }
    var total: Int { counts.values.reduce(0, +) }
}

@main
struct GateController {
    static func main() async throws {
        let link = GateLink()
        let statistics = GateStatistics()

        let radio = Task {
            while !Task.isCancelled {
                for sequence in await link.takeOutbox() {
                    if sequence % 8 == 5 {
                        await link.receiveBusy(sequence: sequence)
                    } else {
                        await link.receive(sequence: sequence, verdict: sequence % 8 == 3 ? .nack : .ack)
                    }
                }
                await link.expire(after: 30)
                try? await Task.sleep(for: .milliseconds(5))
            }
        }

        let verbs = ["open", "close", "hold"]
        for n in 0..<320 {
            Task {
                let command = GateCommand(gate: "G\(n % 16)", verb: verbs[n % 3])
                let answer = await link.transmit(command)
                command.finish(answer)
                await statistics.note(command)
            }
            if n % 16 == 15 { try await Task.sleep(for: .milliseconds(40)) }
        }
        while await statistics.total < 320 {
            try await Task.sleep(for: .milliseconds(10))
        }
        radio.cancel()
        await radio.value
        try await Task.sleep(for: .milliseconds(50))
        let ack = await statistics.count(.ack)
        print("ack \(ack), total \(await statistics.total), busy \(await link.busyFrames)")
    }
}
