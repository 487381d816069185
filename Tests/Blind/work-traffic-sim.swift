import Foundation

final class Car {
    let plate: Int
    var speed: Double
    let limit: Double
    var position = 0.0
    var fuel = 100.0
    let route: [Int]
    var leg = 0

    init(plate: Int, limit: Double, route: [Int]) {
        self.plate = plate
        self.limit = limit
        self.speed = limit / 2
        self.route = route
    }
}

final class Road {
    let id: Int
    let length: Double
    var cars: [Car] = []
    init(id: Int, length: Double) {
        self.id = id
        self.length = length
    }
    var density: Double { Double(cars.count) / length }
}

final class Signal {
    let road: Road
    let period: Int
    private(set) var green = true
    init(road: Road, period: Int) {
        self.road = road
        self.period = period
    }
    func step(_ tick: Int) { green = (tick / period) % 2 == 0 }
}

final class Snapshot {
    let tick: Int
    let cars: Int
    let meanSpeed: Double
    init(tick: Int, cars: Int, meanSpeed: Double) {
        self.tick = tick
        self.cars = cars
        self.meanSpeed = meanSpeed
    }
}

final class City {
    private var roads: [Road] = []
    private var signals: [Signal] = []
    private var recent: [Snapshot] = []
    private let recentLimit = 50
    private var nextPlate = 1
    private(set) var finished = 0
    private(set) var stranded = 0
    private var seed: UInt64 = 12_345

    init(roadCount: Int) {
        for id in 0..<roadCount {
            let road = Road(id: id, length: 120 + Double(id * 17 % 90))
            roads.append(road)
            signals.append(Signal(road: road, period: 6 + id % 5))
        }
    }

    private func draw(_ n: Int) -> Int {
        seed = seed &* 6364136223846793005 &+ 1442695040888963407
        return Int((seed >> 34) % UInt64(n))
    }

    private func spawn() {
        let start = draw(roads.count)
        let route = (0..<(2 + draw(4))).map { (start + $0 * 3) % roads.count }
        let car = Car(plate: nextPlate, limit: 8 + Double(draw(7)), route: route)
        car.fuel = 20 + Double(draw(120))
        nextPlate += 1
        roads[route[0]].cars.append(car)
    }

    func step(_ tick: Int) {
        let rush = tick % 200 < 80
        for _ in 0..<(rush ? 6 : 2) { spawn() }
        for signal in signals { signal.step(tick) }
        for signal in signals { move(signal) }
        record(tick)
    }

    private func move(_ signal: Signal) {
        let road = signal.road
        var staying: [Car] = []
        staying.reserveCapacity(road.cars.count)
        let slowdown = max(0.3, 1 - road.density)
        for car in road.cars {
            car.speed += (car.limit * slowdown - car.speed) * 0.3
            car.fuel -= 0.8
            if car.fuel <= 0 {
                stranded += 1
                continue
            }
            let target = car.position + car.speed
            if target < road.length {
                car.position = target
                staying.append(car)
            } else if !signal.green {
                car.position = road.length
                car.speed = 0
                staying.append(car)
            } else if car.leg + 1 < car.route.count {
                car.leg += 1
                car.position = 0
                let next = roads[car.route[car.leg]]
                if next === road { staying.append(car) } else { next.cars.append(car) }
            } else {
                finished += 1
            }
        }
        road.cars = staying
    }

    private func record(_ tick: Int) {
        var count = 0
        var speed = 0.0
        for road in roads {
            count += road.cars.count
            for car in road.cars { speed += car.speed }
        }
        recent.append(Snapshot(tick: tick, cars: count, meanSpeed: count == 0 ? 0 : speed / Double(count)))
        if recent.count > recentLimit { recent.removeFirst(recent.count - recentLimit) }
    }

    func movingAverage() -> (cars: Double, speed: Double) {
        let n = Double(max(recent.count, 1))
        return (recent.reduce(0) { $0 + Double($1.cars) } / n, recent.reduce(0) { $0 + $1.meanSpeed } / n)
    }
}

let city = City(roadCount: 24)
for tick in 0..<600 {
    city.step(tick)
    if tick % 120 == 119 {
        let average = city.movingAverage()
        print(String(format: "tick %d: %.1f cars at %.2f", tick, average.cars, average.speed))
    }
    usleep(3_000)
}
print("finished \(city.finished), stranded \(city.stranded)")
