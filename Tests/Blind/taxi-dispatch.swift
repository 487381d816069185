// City taxi dispatch: assigns incoming ride requests to drivers and bills finished rides.

struct Point {
    var x: Int
    var y: Int

    func distance(to other: Point) -> Int {
        abs(x - other.x) + abs(y - other.y)
    }
}

enum RideState {
    case requested
    case onBoard
    case completed
}

final class Ride {
    let id: Int
    let passenger: String
    let pickup: Point
    let destination: Point
    var state = RideState.requested
    var fareCents = 0

    init(id: Int, passenger: String, pickup: Point, destination: Point) {
        self.id = id
        self.passenger = passenger
        self.pickup = pickup
        self.destination = destination
    }
}

final class Driver {
    let name: String
    var position: Point
    var earnedCents = 0
    var busyUntil = 0

    init(name: String, position: Point) {
        self.name = name
        self.position = position
    }
}

struct Tariff {
    let baseCents = 380
    let perBlockCents = 45

    func price(for ride: Ride) -> Int {
        baseCents + perBlockCents * ride.pickup.distance(to: ride.destination)
    }
}

final class Dispatcher {
    private var drivers: [Driver]
    private var activeById: [Int: Ride] = [:]
    private var ridesByDriver: [String: [Ride]] = [:]
    private var driverOfRide: [Int: Driver] = [:]
    private let tariff = Tariff()
    private var nextId = 1
    private(set) var completedCount = 0
    private(set) var longestWait = 0

    init(drivers: [Driver]) {
        self.drivers = drivers
    }

    var activeCount: Int { activeById.count }

    func request(passenger: String, from: Point, to: Point, at minute: Int) -> Int? {
        var best: Driver?
        for driver in drivers where driver.busyUntil <= minute {
            if let current = best, current.position.distance(to: from) <= driver.position.distance(to: from) {
                continue
            }
            best = driver
        }
        guard let driver = best else { return nil }
        let ride = Ride(id: nextId, passenger: passenger, pickup: from, destination: to)
        nextId += 1
        let wait = driver.position.distance(to: from)
        longestWait = max(longestWait, wait)
        driver.busyUntil = minute + 1 + (wait + from.distance(to: to)) / 20
        activeById[ride.id] = ride
        ridesByDriver[driver.name, default: []].append(ride)
        driverOfRide[ride.id] = driver
        return ride.id
    }

    func currentPassenger(of driverName: String) -> String? {
        guard let ride = ridesByDriver[driverName]?.last, ride.state != .completed else { return nil }
        return ride.passenger
    }

    func pickUp(_ id: Int) {
        activeById[id]?.state = .onBoard
    }

    func complete(_ id: Int) {
        guard let ride = activeById.removeValue(forKey: id),
              let driver = driverOfRide.removeValue(forKey: id) else { return }
        ride.state = .completed
        ride.fareCents = tariff.price(for: ride)
        driver.earnedCents += ride.fareCents
        driver.position = ride.destination
        completedCount += 1
    }

    func payroll() -> [(String, Int)] {
        drivers.map { ($0.name, $0.earnedCents) }
    }
}

var seed: UInt32 = 77
func roll(_ bound: Int) -> Int {
    seed = seed &* 1_664_525 &+ 1_013_904_223
    return Int(seed >> 8) % bound
}

let names = ["Amira", "Bastian", "Chloe", "Dmitri", "Esra", "Farid", "Greta", "Hugo"]
let dispatcher = Dispatcher(drivers: names.map { Driver(name: $0, position: Point(x: roll(60), y: roll(60))) })

var waiting: [(id: Int, minute: Int)] = []
var served = 0
var shownPassengers = 0
var minute = 0
while served < 1400 {
    minute += 1
    for item in waiting where item.minute <= minute {
        dispatcher.pickUp(item.id)
        dispatcher.complete(item.id)
    }
    waiting.removeAll { $0.minute <= minute }
    let from = Point(x: roll(60), y: roll(60))
    let to = Point(x: roll(60), y: roll(60))
    if let id = dispatcher.request(passenger: "guest-\(minute)", from: from, to: to, at: minute) {
        served += 1
        waiting.append((id, minute + 3))
    }
    if dispatcher.currentPassenger(of: names[minute % names.count]) != nil {
        shownPassengers += 1
    }
}
for item in waiting {
    dispatcher.pickUp(item.id)
    dispatcher.complete(item.id)
}

print("minutes driven: \(minute), rides completed: \(dispatcher.completedCount), still active: \(dispatcher.activeCount)")
print("longest approach: \(dispatcher.longestWait) blocks, display hits: \(shownPassengers)")
for (name, cents) in dispatcher.payroll() {
    print("  \(name): \(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)")
}
