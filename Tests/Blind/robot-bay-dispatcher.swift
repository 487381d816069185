import Foundation

enum BayError: Error {
    case aisleBlocked(Int)
    case lowBattery(Int)
}

final class RobotRun {
    let robot: Int
    let order: Int
    var position: Int
    var battery: Int
    var picked = 0

    init(robot: Int, order: Int, position: Int, battery: Int) {
        self.robot = robot
        self.order = order
        self.position = position
        self.battery = battery
    }
}

final class BayDispatcher {
    private var runs: [Int: RobotRun] = [:]
    private(set) var busiest = 0
    private(set) var started = 0

    func withRun<T>(robot: Int, order: Int, battery: Int, _ body: (RobotRun) throws -> T) rethrows -> T {
        let run = RobotRun(robot: robot, order: order, position: 0, battery: battery)
        checkIn(run)
        do {
            let value = try body(run)
            checkOut(run)
            return value
        } catch {
            checkOut(run)
            throw error
        }
    }

    private func checkIn(_ run: RobotRun) {
        runs[run.order] = run
        started += 1
        busiest = max(busiest, runs.count)
    }

    private func checkOut(_ run: RobotRun) {
        runs[run.order] = nil
    }

    func isNear(_ position: Int, excluding order: Int) -> Bool {
        runs.values.contains { $0.order != order && abs($0.position - position) < 2 }
    }

    var active: Int { runs.count }
}

struct Warehouse {
    let aisles: Int
    let blocked: Set<Int>
    let dispatcher: BayDispatcher

    func pick(order: Int, robot: Int, stops: [Int], battery: Int) throws -> Int {
        try dispatcher.withRun(robot: robot, order: order, battery: battery) { run in
            for stop in stops {
                let aisle = stop % aisles
                if blocked.contains(aisle) { throw BayError.aisleBlocked(aisle) }
                run.battery -= abs(stop - run.position) / 4 + 1
                if run.battery < 10 { throw BayError.lowBattery(run.robot) }
                run.position = stop
                run.picked += dispatcher.isNear(stop, excluding: order) ? 0 : 1
                if run.picked == 6 { return run.battery }
            }
            return run.battery
        }
    }
}

let dispatcher = BayDispatcher()
let warehouse = Warehouse(aisles: 37, blocked: [5, 23], dispatcher: dispatcher)
var completed = 0
var chargeLeft = 0
var blockedAt: [Int: Int] = [:]
var exhausted: Set<Int> = []
var lowBattery = 0

for order in 1...2600 {
    let robot = order % 14
    let stops = (0..<(2 + order % 7)).map { (order * 31 + $0 * $0 * 19) % 120 }
    do {
        chargeLeft += try warehouse.pick(order: order, robot: robot, stops: stops,
                                         battery: 60 + (order * 7) % 50)
        completed += 1
    } catch BayError.aisleBlocked(let aisle) {
        blockedAt[aisle, default: 0] += 1
    } catch BayError.lowBattery(let robot) {
        exhausted.insert(robot)
        lowBattery += 1
    } catch {
        fatalError("\(error)")
    }
}

print("runs \(dispatcher.started), completed \(completed), mean charge left \(chargeLeft / completed)")
for aisle in blockedAt.keys.sorted() {
    print("aisle \(aisle) blocked \(blockedAt[aisle]!) runs")
}
print("low battery \(lowBattery) times on \(exhausted.count) robots")
print("active \(dispatcher.active), busiest \(dispatcher.busiest)")
