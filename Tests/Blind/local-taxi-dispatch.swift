import Foundation

final class Ride {
    let number: Int
    let from: Int
    let to: Int
    let requested: Int
    var driver: Driver?
    var arrives = 0
    init(number: Int, from: Int, to: Int, requested: Int) {
        self.number = number
        self.from = from
        self.to = to
        self.requested = requested
    }
}

final class Driver {
    let id: Int
    let shiftEnd: Int
    var zone: Int
    var isRetiring = false
    var isBusy = false
    private(set) var earned = 0
    init(id: Int, zone: Int, shiftEnd: Int) {
        self.id = id
        self.zone = zone
        self.shiftEnd = shiftEnd
    }
    func pay(_ n: Int) { earned += n }
}

final class Zone {
    let number: Int
    private var parked: [Driver] = []
    init(number: Int) { self.number = number }
    func park(_ d: Driver) { parked.append(d) }
    func depart(_ d: Driver) { parked.removeAll { $0 === d } }
    func nextFree() -> Driver? { parked.first { !$0.isBusy && !$0.isRetiring } }
    var free: Int { parked.lazy.filter { !$0.isBusy && !$0.isRetiring }.count }
}

final class Dispatcher {
    private let zones: [Zone]
    private var fleet: [Int: Driver] = [:]
    private var waiting: [Ride] = []
    private var running: [Ride] = []
    private(set) var completed = 0
    private(set) var lost = 0
    private(set) var paidOut = 0
    private(set) var longestWait = 0

    init(zones n: Int) { zones = (0..<n).map { Zone(number: $0) } }

    func startShift(_ d: Driver) {
        fleet[d.id] = d
        zones[d.zone].park(d)
    }

    func request(_ r: Ride) { waiting.append(r) }

    func assign(now: Int) {
        var rest: [Ride] = []
        for r in waiting {
            if now - r.requested > 20 {
                lost += 1
                continue
            }
            if let d = nearest(r.from) {
                begin(r, d, now: now)
            } else {
                rest.append(r)
            }
        }
        waiting = rest
    }

    private func nearest(_ z: Int) -> Driver? {
        for distance in 0..<3 {
            for candidate in [z - distance, z + distance] where zones.indices.contains(candidate) {
                if let d = zones[candidate].nextFree() { return d }
            }
        }
        return nil
    }

    private func begin(_ r: Ride, _ d: Driver, now: Int) {
        zones[d.zone].depart(d)
        d.isBusy = true
        r.driver = d
        r.arrives = now + abs(d.zone - r.from) + abs(r.from - r.to) + 1
        longestWait = max(longestWait, now - r.requested)
        running.append(r)
    }

    func advance(now: Int) {
        for r in running where r.arrives <= now { complete(r) }
        running.removeAll { $0.arrives <= now }
    }

    private func complete(_ r: Ride) {
        guard let d = r.driver else { return }
        r.driver = nil
        d.isBusy = false
        d.zone = r.to
        d.pay(3 + 2 * abs(r.from - r.to))
        completed += 1
        zones[d.zone].park(d)
        if d.isRetiring {
            signOff(d)
            return
        }
    }

    private func signOff(_ d: Driver) {
        fleet[d.id] = nil
        paidOut += d.earned
    }

    func endShifts(now: Int) {
        for d in Array(fleet.values) where d.shiftEnd <= now && !d.isRetiring {
            d.isRetiring = true
            if d.isBusy { continue }
            zones[d.zone].depart(d)
            signOff(d)
        }
    }

    var onDuty: Int { fleet.count }
    var idle: Int { zones.reduce(0) { $0 + $1.free } }
}

final class City {
    private let dispatcher = Dispatcher(zones: 12)
    private var rides = 0
    private var drivers = 0
    private var seed: UInt64 = 5

    private func random(_ n: Int) -> Int {
        seed = seed &* 6364136223846793005 &+ 1
        return Int((seed >> 34) % UInt64(n))
    }

    func minute(_ now: Int) {
        if now % 2 == 0 {
            drivers += 1
            dispatcher.startShift(Driver(id: drivers, zone: random(12), shiftEnd: now + 90 + random(60)))
        }
        if random(100) < 35 {
            rides += 1
            let from = random(12)
            dispatcher.request(Ride(number: rides, from: from, to: (from + 1 + random(5)) % 12, requested: now))
        }
        dispatcher.advance(now: now)
        dispatcher.assign(now: now)
        dispatcher.endShifts(now: now)
    }

    func report() {
        print("rides \(rides) completed \(dispatcher.completed) lost \(dispatcher.lost) longest wait \(dispatcher.longestWait)")
        print("drivers \(drivers) on duty \(dispatcher.onDuty) idle \(dispatcher.idle) paid \(dispatcher.paidOut)")
    }
}

func simulate() {
    let city = City()
    for now in 0..<900 {
        city.minute(now)
        usleep(2_600)
    }
    city.report()
}

simulate()
