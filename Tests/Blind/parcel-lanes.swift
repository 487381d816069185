import Foundation

final class Parcel {
    let code: Int
    let region: String
    let grams: Int

    init(code: Int, region: String, grams: Int) {
        self.code = code
        self.region = region
        self.grams = grams
    }
}

final class Lane {
    private let condition = NSCondition()
    private var waiting: [Parcel] = []
    private var closed = false

    func put(_ parcel: Parcel) {
        condition.lock()
        waiting.append(parcel)
        condition.signal()
        condition.unlock()
    }

    func take() -> Parcel? {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty && !closed {
            condition.wait()
        }
        return waiting.isEmpty ? nil : waiting.removeFirst()
    }

    func close() {
        condition.lock()
        closed = true
        condition.broadcast()
        condition.unlock()
    }
}

final class Depot {
    private let lock = NSLock()
    private var lanes: [String: Lane] = [:]

    func lane(for region: String) -> Lane {
        lock.lock()
        defer { lock.unlock() }
        if let lane = lanes[region] { return lane }
        let lane = Lane()
        lanes[region] = lane
        return lane
    }

    func accept(code: Int, region: String, grams: Int) {
        lane(for: region).put(Parcel(code: code, region: region, grams: grams))
    }

    func closeAll() {
        lock.lock()
        let open = Array(lanes.values)
        lock.unlock()
        open.forEach { $0.close() }
    }
}

final class Driver {
    let region: String
    let done = DispatchSemaphore(value: 0)
    private(set) var parcels = 0
    private(set) var grams = 0

    init(region: String) {
        self.region = region
    }

    func start(at depot: Depot) {
        let lane = depot.lane(for: region)
        let thread = Thread { [self] in
            while let parcel = lane.take() {
                parcels += 1
                grams += parcel.grams
            }
            done.signal()
        }
        thread.start()
    }
}

let depot = Depot()
let drivers = ["north", "south", "east"].map(Driver.init(region:))
let addresses = ["north", "east", "south", "islands", "north", "south", "south", "east", "islands", "north"]

for driver in drivers {
    driver.start(at: depot)
}

var accepted = 0
for code in 0..<4000 {
    let region = addresses[(code + code / 10) % addresses.count]
    depot.accept(code: code, region: region, grams: 200 + (code * 37) % 4000)
    accepted += 1
    if code % 20 == 0 { usleep(500) }
}
depot.closeAll()
for driver in drivers {
    driver.done.wait()
}

print("accepted \(accepted)")
for driver in drivers {
    print("\(driver.region): \(driver.parcels) parcels, \(driver.grams / 1000) kg")
}
