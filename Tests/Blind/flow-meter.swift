final class Reading {
    let tick: Int
    let litres: Double
    let previous: Reading?
    let delta: Double
    init(tick: Int, litres: Double, previous: Reading?) {
        self.tick = tick
        self.litres = litres
        self.previous = previous
        self.delta = litres - (previous?.litres ?? litres)
    }
}

final class Alarm {
    let meter: Int
    let tick: Int
    init(meter: Int, tick: Int) { self.meter = meter; self.tick = tick }
}

final class Meter {
    let id: Int
    private var latest: Reading?
    private(set) var peak = 0.0
    private(set) var alarms = 0
    private var lastAlarm: Alarm?
    init(id: Int) { self.id = id }

    func feed(_ litres: Double, tick: Int) {
        let r = Reading(tick: tick, litres: litres, previous: latest)
        latest = r
        if r.delta > peak { peak = r.delta }
        if r.delta > 9 {
            lastAlarm = Alarm(meter: id, tick: tick)
            alarms += 1
        }
    }
    var current: Double { latest?.litres ?? 0 }
    var trend: Double { latest?.delta ?? 0 }
}

final class Network {
    private let meters: [Meter]
    private(set) var reports = 0
    init(count: Int) { meters = (0..<count).map { Meter(id: $0) } }

    func tick(_ t: Int) {
        for m in meters {
            let litres = Double((t * 13 + m.id * 29) % 101) + Double(t) / 50
            m.feed(litres, tick: t)
        }
        if t % 100 == 0 { report() }
    }
    private func report() {
        reports += 1
        let sum = meters.reduce(0) { $0 + $1.current + $1.trend }
        if sum < 0 { reports += 1 }
    }
    var alarms: Int { meters.reduce(0) { $0 + $1.alarms } }
    var peak: Double { meters.map(\.peak).max() ?? 0 }
}

let network = Network(count: 4)
for t in 0..<1000 { network.tick(t) }
print("alarms \(network.alarms) peak \(Int(network.peak)) reports \(network.reports)")
