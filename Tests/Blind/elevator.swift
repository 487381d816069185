import Foundation

final class Passenger {
    let id: Int
    let from: Int
    let to: Int
    let arrived: Int
    init(id: Int, from: Int, to: Int, arrived: Int) {
        self.id = id
        self.from = from
        self.to = to
        self.arrived = arrived
    }
}

final class TripNote {
    let passenger: Passenger
    let waited: Int
    init(passenger: Passenger, waited: Int) {
        self.passenger = passenger
        self.waited = waited
    }
}

final class Floor {
    let level: Int
    var queue: [Passenger] = []
    init(level: Int) { self.level = level }
}

final class Car {
    let capacity = 8
    var level = 0
    var direction = 1
    var riders: [Passenger] = []

    func unload() -> [Passenger] {
        let leaving = riders.filter { $0.to == level }
        riders.removeAll { $0.to == level }
        return leaving
    }

    func load(from floor: Floor) -> [Passenger] {
        var boarded: [Passenger] = []
        while riders.count < capacity, let next = floor.queue.first {
            floor.queue.removeFirst()
            riders.append(next)
            boarded.append(next)
        }
        return boarded
    }
}

final class Building {
    let floors: [Floor]
    let cars: [Car]
    private(set) var served = 0
    private(set) var longWaits: [TripNote] = []
    private var waitHistogram = [Int](repeating: 0, count: 16)

    init(levels: Int, cars: Int) {
        floors = (0..<levels).map { Floor(level: $0) }
        self.cars = (0..<cars).map { _ in Car() }
    }

    func arrive(_ passenger: Passenger) {
        floors[passenger.from].queue.append(passenger)
    }

    func step(_ now: Int) {
        for car in cars {
            served += car.unload().count
            for passenger in car.load(from: floors[car.level]) {
                let waited = now - passenger.arrived
                waitHistogram[min(waited / 10, 15)] += 1
                if waited > 20 { longWaits.append(TripNote(passenger: passenger, waited: waited)) }
            }
            car.level += car.direction
            if car.level == 0 || car.level == floors.count - 1 { car.direction = -car.direction }
        }
    }

    var waiting: Int { floors.reduce(0) { $0 + $1.queue.count } }
    var riding: Int { cars.reduce(0) { $0 + $1.riders.count } }
    var median: Int {
        var remaining = waitHistogram.reduce(0, +) / 2
        for (index, count) in waitHistogram.enumerated() {
            remaining -= count
            if remaining <= 0 { return index * 10 }
        }
        return 0
    }
}

let building = Building(levels: 12, cars: 3)
for (index, car) in building.cars.enumerated() { car.level = index * 3 }
var nextID = 0
for now in 0..<900 {
    let rush = now > 760
    for lane in 0..<(rush ? 4 : 1) {
        let from = (now * 5 + lane * 7) % 12
        let to = (from + 1 + (now + lane) % 11) % 12
        building.arrive(Passenger(id: nextID, from: from, to: to, arrived: now))
        nextID += 1
    }
    building.step(now)
    usleep(1200)
}
print("served \(building.served), waiting \(building.waiting), riding \(building.riding)")
print("median wait \(building.median)")
let worst = building.longWaits.max { $0.waited < $1.waited }
print("waits over 20: \(building.longWaits.count), worst \(worst?.waited ?? 0) from floor \(worst?.passenger.from ?? -1)")
