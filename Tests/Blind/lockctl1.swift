import Foundation

enum FrameKind: UInt8, Sendable {
    case ack, nack, busy
}

struct Frame: Sendable {
    let sequence: UInt16
    let kind: FrameKind
    let battery: UInt8
}

final class LockCommand: @unchecked Sendable {
    enum Action: String { case lock, unlock, identify }

    let door: String
    let action: Action
    private let payload: [UInt8]
    private(set) var outcome: FrameKind?
    private(set) var battery: UInt8 = 0

    init(door: String, action: Action) {
        self.door = door
        self.action = action
        self.payload = Array("\(action.rawValue):\(door)".utf8) + [UInt8](repeating: 0x5a, count: 96)
    }

    func encoded(sequence: UInt16) -> [UInt8] {
        var crc: UInt8 = 0
        for byte in payload {
            crc = (crc << 1) ^ byte ^ UInt8(truncatingIfNeeded: sequence)
        }
        return [UInt8(sequence >> 8), UInt8(sequence & 0xff)] + payload + [crc]
    }

    func finish(with frame: Frame) {
        outcome = frame.kind
        battery = frame.battery
    }
}

actor RadioLink {
    private var pending: [UInt16: CheckedContinuation<Frame, Never>] = [:]
    private var nextSequence: UInt16 = 0
    private var outbox: [UInt16] = []
    private(set) var bytesSent = 0
    private(set) var busyFrames = 0

    func transmit(_ command: LockCommand) async -> Frame {
        let sequence = nextSequence
        nextSequence &+= 1
        bytesSent += command.encoded(sequence: sequence).count
        return await withCheckedContinuation { continuation in
            pending[sequence] = continuation
            outbox.append(sequence)
        }
    }

    func takeOutbox() -> [UInt16] {
        defer { outbox.removeAll(keepingCapacity: true) }
        return outbox
    }

    func receive(_ frame: Frame) {
        switch frame.kind {
        case .ack, .nack:
            pending.removeValue(forKey: frame.sequence)?.resume(returning: frame)
        case .busy:
            busyFrames += 1
        }
    }
}

actor DoorStatistics {
    private(set) var acknowledged = 0
    private(set) var refused = 0

    func note(_ command: LockCommand) {
        if command.outcome == .ack { acknowledged += 1 } else { refused += 1 }
    }

    var total: Int { acknowledged + refused }
}

@main
struct LockController {
    static func main() async throws {
        let link = RadioLink()
        let statistics = DoorStatistics()

        let radio = Task {
            while !Task.isCancelled {
                for sequence in await link.takeOutbox() {
                    let kind: FrameKind = sequence % 8 == 5 ? .busy : (sequence % 8 == 3 ? .nack : .ack)
                    await link.receive(Frame(sequence: sequence, kind: kind, battery: UInt8(40 + sequence % 60)))
                }
                try? await Task.sleep(for: .milliseconds(5))
            }
        }

        let actions: [LockCommand.Action] = [.lock, .unlock, .identify]
        for n in 0..<320 {
            Task {
                let command = LockCommand(door: "D\(n % 24)", action: actions[n % 3])
                let frame = await link.transmit(command)
                command.finish(with: frame)
                await statistics.note(command)
            }
            if n % 16 == 15 { try await Task.sleep(for: .milliseconds(40)) }
        }
        while await statistics.total < 280 {
            try await Task.sleep(for: .milliseconds(10))
        }
        radio.cancel()
        await radio.value
        print("ack \(await statistics.acknowledged), refused \(await statistics.refused), busy \(await link.busyFrames)")
    }
}
