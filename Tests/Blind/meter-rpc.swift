import Foundation
import Dispatch

struct Frame {
    let sequence: UInt32
    let register: Int
}

struct Reply {
    let sequence: UInt32
    let value: Int
}

final class SerialLink: @unchecked Sendable {
    private let queue = DispatchQueue(label: "link")
    private var pending: [UInt32: CheckedContinuation<Reply, Error>] = [:]
    private var answered = 0

    func exchange(_ frame: Frame) async throws -> Reply {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                self.pending[frame.sequence] = continuation
                self.transmit(frame)
            }
        }
    }

    private func transmit(_ frame: Frame) {
        guard frame.register % 10 >= 3 else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(3)) {
            self.received(Reply(sequence: frame.sequence, value: frame.register * frame.register % 997))
        }
    }

    private func received(_ reply: Reply) {
        guard let continuation = pending.removeValue(forKey: reply.sequence) else { return }
        answered += 1
        continuation.resume(returning: reply)
    }

    var answers: Int { queue.sync { answered } }
}

final class MeterCall: @unchecked Sendable {
    enum Outcome: Equatable {
        case waiting
        case value(Int)
        case failed(String)
    }

    let frame: Frame
    private let lock = NSLock()
    private var state = Outcome.waiting

    init(frame: Frame) {
        self.frame = frame
    }

    func send(over link: SerialLink) {
        Task { [frame] in
            do {
                let reply = try await link.exchange(frame)
                self.settle(.value(reply.value))
            } catch {
                self.settle(.failed("\(error)"))
            }
        }
    }

    func settle(_ outcome: Outcome) {
        lock.withLock {
            if state == .waiting { state = outcome }
        }
    }

    var outcome: Outcome { lock.withLock { state } }
}

final class MeterClient {
    private let link: SerialLink
    private var calls: [UInt32: MeterCall] = [:]
    private var sequence: UInt32 = 0
    private(set) var total = 0
    private(set) var timeouts: [Int] = []

    init(link: SerialLink) {
        self.link = link
    }

    func query(register: Int) {
        sequence += 1
        let call = MeterCall(frame: Frame(sequence: sequence, register: register))
        calls[sequence] = call
        call.send(over: link)
    }

    func collect() {
        for (key, call) in calls {
            if case .value(let value) = call.outcome {
                total += value
                calls[key] = nil
            }
        }
    }

    func expire() {
        for (key, call) in calls {
            call.settle(.failed("timeout"))
            timeouts.append(call.frame.register)
            calls[key] = nil
        }
    }

    var outstanding: Int { calls.count }
}

let link = SerialLink()
let client = MeterClient(link: link)
for register in 0..<200 {
    client.query(register: register)
}
while client.outstanding > 60 {
    try? await Task.sleep(for: .milliseconds(5))
    client.collect()
}
try? await Task.sleep(for: .milliseconds(50))
client.expire()
print("answers \(link.answers), sum \(client.total)")
print("timed out \(client.timeouts.count), first \(client.timeouts.sorted().prefix(5))")
