import Foundation

final class Measurement: Sendable {
    let station: Int
    let samples: [Double]

    init(station: Int) {
        self.station = station
        samples = (0..<32).map { Double(station) + Double($0) / 32 }
    }

    var mean: Double { samples.reduce(0, +) / Double(samples.count) }
}

final class RendezvousChannel: @unchecked Sendable {
    private struct Sender {
        let ticket: Int
        let element: Measurement
        let continuation: CheckedContinuation<Bool, Never>
    }

    private let lock = NSLock()
    private var senders: [Sender] = []
    private var serial = 0

    func send(_ element: Measurement) async -> Bool {
        let ticket = lock.withLock { () -> Int in
            serial += 1
            return serial
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                lock.withLock {
                    senders.append(Sender(ticket: ticket, element: element, continuation: continuation))
                }
                if Task.isCancelled { withdraw(ticket) }
            }
        } onCancel: {
            withdraw(ticket)
        }
    }

    private func withdraw(_ ticket: Int) {
        let removed = lock.withLock { () -> Sender? in
            guard let index = senders.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return senders.remove(at: index)
        }
        removed?.continuation.resume(returning: false)
    }

    func receive() -> Measurement? {
        let sender = lock.withLock { senders.isEmpty ? nil : senders.removeFirst() }
        sender?.continuation.resume(returning: true)
        return sender?.element
    }

    var waiting: Int { lock.withLock { senders.count } }
}

struct Outcome {
    var delivered = 0
    var withdrawn = 0
    var sum = 0.0
}

func collect(stations: Int) async -> Outcome {
    let channel = RendezvousChannel()
    var outcome = Outcome()
    for station in 0..<stations {
        let sender = Task { await channel.send(Measurement(station: station)) }
        while channel.waiting == 0 { await Task.yield() }
        if station % 3 == 2 {
            sender.cancel()
        } else if let measurement = channel.receive() {
            outcome.sum += measurement.mean
        }
        if await sender.value { outcome.delivered += 1 } else { outcome.withdrawn += 1 }
        try? await Task.sleep(nanoseconds: 2_000_000)
    }
    return outcome
}

let outcome = await collect(stations: 160)
print("delivered \(outcome.delivered), withdrawn \(outcome.withdrawn), sum \(Int(outcome.sum))")
