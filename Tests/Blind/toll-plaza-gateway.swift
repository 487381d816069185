// Toll plaza: every passage is matched with a reply from the tag issuer.
import Foundation

final class PendingPassage {
    let number: Int
    let lane: Int
    let cents: Int
    let deadline: Int

    init(number: Int, lane: Int, cents: Int, deadline: Int) {
        self.number = number
        self.lane = lane
        self.cents = cents
        self.deadline = deadline
    }
}

protocol LaneDelegate: AnyObject {
    func passagePaid(lane: Int, cents: Int)
    func passageUnpaid(lane: Int, reason: String)
}

final class Plaza: LaneDelegate {
    private(set) var paid = 0
    private(set) var income = 0
    private(set) var unpaid: [String: Int] = [:]

    func passagePaid(lane: Int, cents: Int) {
        paid += 1
        income += cents
    }

    func passageUnpaid(lane: Int, reason: String) {
        unpaid[reason, default: 0] += 1
    }
}

struct TagIssuer {
    private var replies: [(at: Int, number: Int, ok: Bool)] = []

    mutating func send(number: Int, cents: Int, now: Int) {
        if number % 5 == 0 { return }
        replies.append((now + 150 + number * 17 % 600, number, number % 23 != 0))
    }

    mutating func poll(now: Int) -> [(number: Int, ok: Bool)] {
        let due = replies.filter { $0.at <= now }.map { ($0.number, $0.ok) }
        replies.removeAll { $0.at <= now }
        return due
    }
}

final class TollGateway {
    private var inFlight: [Int: PendingPassage] = [:]
    private var issuer = TagIssuer()
    private weak var delegate: LaneDelegate?
    private var nextNumber = 50_000
    private let timeout = 1500
    private(set) var photographed = 0

    init(delegate: LaneDelegate) { self.delegate = delegate }

    func passage(lane: Int, cents: Int, now: Int) {
        nextNumber += 1
        let passage = PendingPassage(number: nextNumber, lane: lane, cents: cents, deadline: now + timeout)
        inFlight[passage.number] = passage
        issuer.send(number: passage.number, cents: cents, now: now)
    }

    func tick(now: Int) {
        for reply in issuer.poll(now: now) {
            guard let passage = inFlight.removeValue(forKey: reply.number) else { continue }
            if reply.ok {
                delegate?.passagePaid(lane: passage.lane, cents: passage.cents)
            } else {
                delegate?.passageUnpaid(lane: passage.lane, reason: "tag blocked")
            }
        }
        for passage in inFlight.values.filter({ $0.deadline <= now }) {
            inFlight[passage.number] = nil
            photographed += 1
            delegate?.passageUnpaid(lane: passage.lane, reason: "no answer")
        }
    }
}

let plaza = Plaza()
let gateway = TollGateway(delegate: plaza)
var now = 0
for n in 0..<900 {
    gateway.passage(lane: n % 6, cents: n % 7 == 0 ? 480 : 190, now: now)
    now += 60
    gateway.tick(now: now)
    if n % 60 == 0 { usleep(5000) }
}
for _ in 0..<40 {
    now += 100
    gateway.tick(now: now)
}
print("passages: 900, paid: \(plaza.paid), income: \(plaza.income / 100)")
print("unpaid: " + plaza.unpaid.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
print("photographed: \(gateway.photographed)")
