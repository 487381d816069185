import Foundation

final class Dish {
    let name: String
    let seconds: Int
    private(set) var elapsed = 0
    init(name: String, seconds: Int) {
        self.name = name
        self.seconds = seconds
    }
    func cook() -> Bool {
        elapsed += 1
        return elapsed >= seconds
    }
}

final class Receipt {
    let dish: String
    let station: Int
    let servedAt: Int
    init(dish: String, station: Int, servedAt: Int) {
        self.dish = dish
        self.station = station
        self.servedAt = servedAt
    }
}

final class Station {
    let number: Int
    private var stove: [Dish] = []
    private var timer: Timer?
    private unowned let kitchen: Kitchen

    init(number: Int, kitchen: Kitchen) {
        self.number = number
        self.kitchen = kitchen
    }

    func light() {
        let timer = Timer(timeInterval: 0.004, repeats: true) { [weak self] _ in self?.cookAll() }
        RunLoop.current.add(timer, forMode: .default)
        self.timer = timer
    }

    func turnOff() {
        timer?.invalidate()
        timer = nil
    }

    func start(_ dish: Dish) { stove.append(dish) }

    private func cookAll() {
        let ready = stove.filter { $0.cook() }
        stove.removeAll { dish in ready.contains { $0 === dish } }
        for dish in ready { kitchen.serve(dish, from: number) }
    }

    var busy: Int { stove.count }
}

final class Kitchen {
    private var stations: [Station] = []
    private var clockTimer: Timer?
    private var orders: [Dish] = []
    private(set) var receipts: [Receipt] = []
    private(set) var clock = 0

    init(stationCount: Int) {
        stations = (0..<stationCount).map { Station(number: $0, kitchen: self) }
    }

    func openUp() {
        let timer = Timer(timeInterval: 0.005, repeats: true) { [weak self] _ in self?.tick() }
        RunLoop.current.add(timer, forMode: .default)
        clockTimer = timer
        for station in stations { station.light() }
    }

    func take(_ dish: Dish) { orders.append(dish) }

    private func tick() {
        clock += 1
        for station in stations where station.busy < 2 && !orders.isEmpty {
            station.start(orders.removeFirst())
        }
    }

    func serve(_ dish: Dish, from station: Int) {
        receipts.append(Receipt(dish: dish.name, station: station, servedAt: clock))
    }

    var isDone: Bool { orders.isEmpty && stations.allSatisfy { $0.busy == 0 } }

    func closeDown() {
        clockTimer?.invalidate()
        clockTimer = nil
        for station in stations { station.turnOff() }
    }
}

let menu = ["soup", "risotto", "trout", "salad", "pie"]
let kitchen = Kitchen(stationCount: 6)
kitchen.openUp()
for n in 0..<420 { kitchen.take(Dish(name: menu[n % menu.count], seconds: 3 + n % 6)) }
let deadline = Date(timeIntervalSinceNow: 6)
while !kitchen.isDone && Date() < deadline {
    RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.02))
}
kitchen.closeDown()
let perDish = Dictionary(grouping: kitchen.receipts) { $0.dish }.mapValues(\.count)
print("served \(kitchen.receipts.count)")
for (dish, count) in perDish.sorted(by: { $0.key < $1.key }) { print("\(dish): \(count)") }
