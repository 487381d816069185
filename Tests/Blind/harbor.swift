import Foundation

/// Ends delivery when it is cancelled or goes away.
final class Subscription {
    private var onCancel: (() -> Void)?

    init(_ onCancel: @escaping () -> Void) { self.onCancel = onCancel }

    func cancel() {
        onCancel?()
        onCancel = nil
    }

    deinit { cancel() }
}

final class Subject<Value> {
    private var sinks: [Int: (Value) -> Void] = [:]
    private var nextKey = 0

    func sink(_ receive: @escaping (Value) -> Void) -> Subscription {
        nextKey += 1
        let key = nextKey
        sinks[key] = receive
        return Subscription { [weak self] in
            self?.sinks.removeValue(forKey: key)
        }
    }

    func send(_ value: Value) {
        for receive in sinks.values { receive(value) }
    }

    var audience: Int { sinks.count }
}

struct TideState {
    let depth: Double
    let current: Double
}

final class HarborMaster {
    static let shared = HarborMaster()
    let tide = Subject<TideState>()
    let signals = Subject<String>()
}

/// A ship at one of the berths.
final class Vessel {
    let name: String
    let draught: Double
    private var subscriptions: [Subscription] = []
    private(set) var warnings = 0
    private(set) var signalsHeard = 0

    init(name: String, draught: Double) {
        self.name = name
        self.draught = draught
    }

    func moor() {
        subscriptions.append(HarborMaster.shared.tide.sink { [weak self] state in
            self?.check(state)
        })
        subscriptions.append(HarborMaster.shared.signals.sink { [weak self] _ in
            self?.signalsHeard += 1
        })
    }

    private func check(_ state: TideState) {
        if state.depth - 0.5 < draught { warnings += 1 }
    }
}

var berths: [Vessel?] = Array(repeating: nil, count: 12)
var arrivals = 0
var warnings = 0
var heard = 0
var largestAudience = 0

for tick in 0..<300 {
    let slot = (tick * 5) % berths.count
    if let leaving = berths[slot] {
        warnings += leaving.warnings
        heard += leaving.signalsHeard
    }
    arrivals += 1
    let vessel = Vessel(name: "MV \(arrivals)", draught: 3 + Double(tick % 9) / 2)
    vessel.moor()
    berths[slot] = vessel
    let wave = sin(Double(tick) / 12)
    HarborMaster.shared.tide.send(TideState(depth: 6 + 2 * wave, current: wave))
    if tick % 10 == 0 {
        HarborMaster.shared.signals.send("pilot on board")
        usleep(14_000)
    }
    largestAudience = max(largestAudience, HarborMaster.shared.tide.audience)
}
print("\(arrivals) arrivals, \(warnings) depth warnings, \(heard) signals, audience up to \(largestAudience)")
