// Lift dispatcher for an office tower with a short trip log for the lobby panel.
import Foundation

final class TripRecord {
    let car: Int
    let from: Int
    let to: Int
    let waitTicks: Int

    init(car: Int, from: Int, to: Int, waitTicks: Int) {
        self.car = car
        self.from = from
        self.to = to
        self.waitTicks = waitTicks
    }
}

final class TripLog {
    private var trips: [TripRecord] = []
    private let keep: Int

    init(keep: Int) { self.keep = keep }

    func append(_ trip: TripRecord) {
        trips.append(trip)
        if trips.count > keep {
            trips.removeFirst(trips.count - keep)
        }
    }

    var averageWait: Double {
        trips.isEmpty ? 0 : Double(trips.reduce(0) { $0 + $1.waitTicks }) / Double(trips.count)
    }

    func panel() -> [String] {
        trips.suffix(3).map { "car \($0.car): \($0.from) -> \($0.to) (\($0.waitTicks))" }
    }
}

struct Car {
    let id: Int
    var floor: Int
    var busyUntil: Int
}

final class Dispatcher {
    private var cars: [Car]
    private let log: TripLog
    private(set) var trips = 0
    private(set) var floorsTravelled = 0

    init(cars: Int, log: TripLog) {
        self.cars = (0..<cars).map { Car(id: $0, floor: 0, busyUntil: 0) }
        self.log = log
    }

    func call(from: Int, to: Int, tick: Int) {
        var best = 0
        var bestArrival = Int.max
        for (i, car) in cars.enumerated() {
            let arrival = max(tick, car.busyUntil) + abs(car.floor - from)
            if arrival < bestArrival {
                best = i
                bestArrival = arrival
            }
        }
        floorsTravelled += abs(cars[best].floor - from) + abs(to - from)
        cars[best].busyUntil = bestArrival + abs(to - from) + 2
        cars[best].floor = to
        trips += 1
        log.append(TripRecord(car: best, from: from, to: to, waitTicks: bestArrival - tick))
    }
}

let log = TripLog(keep: 40)
let dispatcher = Dispatcher(cars: 4, log: log)
var seed: UInt32 = 2024
func roll(_ n: Int) -> Int {
    seed = seed &* 1664525 &+ 1013904223
    return Int(seed >> 8) % n
}

var worstAverage = 0.0
for tick in 0..<1800 {
    let from = roll(3) == 0 ? 0 : roll(22)
    var to = roll(22)
    if to == from { to = (to + 1) % 22 }
    dispatcher.call(from: from, to: to, tick: tick * 6)
    worstAverage = max(worstAverage, log.averageWait)
    if tick % 100 == 0 { usleep(4000) }
}

print("trips: \(dispatcher.trips), floors travelled: \(dispatcher.floorsTravelled)")
print(String(format: "average wait now %.1f, worst %.1f", log.averageWait, worstAverage))
log.panel().forEach { print("  \($0)") }
