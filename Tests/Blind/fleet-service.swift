import Foundation

struct Position: Sendable {
    var x: Int
    var y: Int
}

actor Depot {
    private var orders: [Int: [Position]] = [:]
    private var assigned = 0

    func nextStop(for vehicle: Int) -> Position {
        assigned += 1
        return Position(x: (vehicle * 7 + assigned) % 50, y: (vehicle * 3 + assigned * 5) % 50)
    }

    var stops: Int { assigned }
}

actor Vehicle {
    nonisolated let number: Int
    private let depot: Depot
    private var position = Position(x: 0, y: 0)
    private var mileage = 0
    private(set) var trips = 0

    init(number: Int, depot: Depot) {
        self.number = number
        self.depot = depot
    }

    func operate() async {
        while !Task.isCancelled {
            let target = await depot.nextStop(for: number)
            mileage += abs(target.x - position.x) + abs(target.y - position.y)
            position = target
            trips += 1
            try? await Task.sleep(for: .milliseconds(20 + number % 10))
        }
    }

    var hasDriven: Bool { trips > 0 }
}

actor FleetService {
    private let depot: Depot
    private var fleet: [Int: Vehicle] = [:]
    private var drivers: [Int: Task<Void, Never>] = [:]
    private(set) var scrapped = 0

    init(depot: Depot) { self.depot = depot }

    func commission(_ numbers: Range<Int>) {
        for number in numbers {
            let vehicle = Vehicle(number: number, depot: depot)
            fleet[number] = vehicle
            drivers[number] = Task.detached {
                await vehicle.operate()
            }
        }
    }

    func decommission(_ number: Int) {
        guard fleet.removeValue(forKey: number) != nil else { return }
        drivers.removeValue(forKey: number)?.cancel()
        scrapped += 1
    }

    func inspect() async -> Int {
        var moving = 0
        for vehicle in fleet.values where await vehicle.hasDriven { moving += 1 }
        return moving
    }

    var size: Int { fleet.count }
}

let depot = Depot()
let service = FleetService(depot: depot)
var inspected: [Int] = []

for year in 0..<5 {
    await service.commission(year * 30..<(year + 1) * 30)
    while await service.inspect() < (await service.size) {
        try await Task.sleep(for: .milliseconds(3))
    }
    inspected.append(await service.inspect())
    for number in year * 30..<(year + 1) * 30 where number % 5 < 3 {
        await service.decommission(number)
    }
    try await Task.sleep(for: .milliseconds(20))
}
for _ in 1...15 {
    _ = await service.inspect()
    try await Task.sleep(for: .milliseconds(30))
}
let size = await service.size
let busy = await depot.stops > 150
print("fleet \(size), scrapped \(await service.scrapped), inspected \(inspected), busy: \(busy)")
