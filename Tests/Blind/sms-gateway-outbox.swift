// SMS gateway: campaigns hand over batches, a sender thread talks to the carrier.
import Foundation

final class OutboundSMS {
    let id: Int
    let recipient: String
    let segments: [String]

    init(id: Int, recipient: String, text: String) {
        self.id = id
        self.recipient = recipient
        var segments: [String] = []
        var rest = Substring(text)
        while !rest.isEmpty {
            segments.append(String(rest.prefix(70)))
            rest = rest.dropFirst(70)
        }
        self.segments = segments
    }
}

final class Outbox: @unchecked Sendable {
    private var messages: [OutboundSMS] = []
    private var closed = false
    private let lock = NSLock()
    private let ready = DispatchSemaphore(value: 0)

    func submit(_ batch: [OutboundSMS]) {
        lock.lock()
        messages.append(contentsOf: batch)
        lock.unlock()
        ready.signal()
    }

    func take() -> OutboundSMS? {
        ready.wait()
        lock.lock()
        defer { lock.unlock() }
        if closed { return nil }
        return messages.isEmpty ? nil : messages.removeFirst()
    }

    func close() {
        lock.lock()
        closed = true
        lock.unlock()
        ready.signal()
    }
}

final class CarrierLink: @unchecked Sendable {
    private let outbox: Outbox
    private let finished = DispatchSemaphore(value: 0)
    private(set) var sent = 0
    private(set) var segments = 0

    init(outbox: Outbox) { self.outbox = outbox }

    func start() {
        let thread = Thread { [self] in
            while let sms = outbox.take() {
                transmit(sms)
            }
            finished.signal()
        }
        thread.name = "carrier"
        thread.start()
    }

    func join() { finished.wait() }

    private func transmit(_ sms: OutboundSMS) {
        sent += 1
        segments += sms.segments.count
        usleep(300)
    }
}

struct Campaign {
    let name: String
    let body: String

    func batch(from first: Int, size: Int) -> [OutboundSMS] {
        (first..<first + size).map { n in
            OutboundSMS(id: n, recipient: "+4712\(100_000 + n)", text: "\(name): \(body) Ref \(n).")
        }
    }
}

let outbox = Outbox()
let link = CarrierLink(outbox: outbox)
link.start()

let campaigns = [
    Campaign(name: "Library", body: "A book you reserved is ready for pickup at the main desk until Friday at noon."),
    Campaign(name: "Dentist", body: "Reminder of your appointment tomorrow."),
    Campaign(name: "Ferry", body: "Departure 18:40 is delayed by about 25 minutes because of strong wind. Sorry!"),
]
var submitted = 0
for round in 0..<150 {
    let batch = campaigns[round % campaigns.count].batch(from: submitted, size: 8)
    outbox.submit(batch)
    submitted += batch.count
    usleep(2000)
}

usleep(50_000)
outbox.close()
link.join()
print("submitted \(submitted) messages in 150 batches")
print("carrier accepted \(link.sent) messages, \(link.segments) segments")
