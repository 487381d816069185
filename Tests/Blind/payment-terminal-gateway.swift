// Gateway between card terminals and an acquirer; time is simulated in milliseconds.
import Foundation

final class PendingCharge {
    let stan: Int
    let terminal: String
    let cents: Int
    let deadline: Int
    var reversed = false

    init(stan: Int, terminal: String, cents: Int, deadline: Int) {
        self.stan = stan
        self.terminal = terminal
        self.cents = cents
        self.deadline = deadline
    }
}

protocol TerminalDelegate: AnyObject {
    func chargeApproved(terminal: String, cents: Int)
    func chargeDeclined(terminal: String, reason: String)
}

final class TerminalFleet: TerminalDelegate {
    private(set) var approved = 0
    private(set) var turnover = 0
    private(set) var declined: [String: Int] = [:]

    func chargeApproved(terminal: String, cents: Int) {
        approved += 1
        turnover += cents
    }

    func chargeDeclined(terminal: String, reason: String) {
        declined[reason, default: 0] += 1
    }
}

/// Replies come back after a delay; some requests are lost on the line.
struct Acquirer {
    private var replies: [(at: Int, stan: Int, ok: Bool)] = []

    mutating func send(stan: Int, cents: Int, now: Int) {
        if stan % 5 == 0 { return }
        replies.append((now + 200 + stan * 13 % 700, stan, cents % 19 != 0))
    }

    mutating func poll(now: Int) -> [(stan: Int, ok: Bool)] {
        let due = replies.filter { $0.at <= now }.map { ($0.stan, $0.ok) }
        replies.removeAll { $0.at <= now }
        return due
    }
}

final class Gateway {
    private var inFlight: [Int: PendingCharge] = [:]
    private var acquirer = Acquirer()
    private weak var delegate: TerminalDelegate?
    private var nextStan = 100_000
    private let timeout = 1500
    private(set) var reversals = 0

    init(delegate: TerminalDelegate) { self.delegate = delegate }

    func charge(terminal: String, cents: Int, now: Int) {
        nextStan += 1
        let charge = PendingCharge(stan: nextStan, terminal: terminal, cents: cents, deadline: now + timeout)
        inFlight[charge.stan] = charge
        acquirer.send(stan: charge.stan, cents: cents, now: now)
    }

    func tick(now: Int) {
        for reply in acquirer.poll(now: now) {
            guard let charge = inFlight.removeValue(forKey: reply.stan) else { continue }
            if reply.ok {
                delegate?.chargeApproved(terminal: charge.terminal, cents: charge.cents)
            } else {
                delegate?.chargeDeclined(terminal: charge.terminal, reason: "refused")
            }
        }
        for charge in inFlight.values where charge.deadline <= now && !charge.reversed {
            charge.reversed = true
            reversals += 1
            delegate?.chargeDeclined(terminal: charge.terminal, reason: "timeout")
        }
    }
}

let fleet = TerminalFleet()
let gateway = Gateway(delegate: fleet)
var now = 0
for n in 0..<900 {
    gateway.charge(terminal: "T\(n % 14)", cents: 150 + n * 37 % 9000, now: now)
    now += 60
    gateway.tick(now: now)
    if n % 60 == 0 { usleep(5000) }
}
for _ in 0..<40 {
    now += 100
    gateway.tick(now: now)
}
print("charges: 900, approved: \(fleet.approved), turnover: \(fleet.turnover / 100)")
print("declined: " + fleet.declined.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
print("reversals sent: \(gateway.reversals)")
