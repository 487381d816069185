import AsyncAlgorithms
import Foundation
import Glibc
import Logging
import ServiceLifecycle

/// A parcel on the belt. The service that handles it owns it.
final class Parcel: @unchecked Sendable {
    let code: Int
    let grams: Int
    var stamps: [String] = []

    init(code: Int, grams: Int) {
        self.code = code
        self.grams = grams
    }
}

actor Warehouse {
    private var shelves: [Int: [Parcel]] = [:]
    private(set) var stored = 0
    private(set) var shipped = 0

    /// The shelves are filled before the day starts.
    init(parcels: Int) {
        for code in 0..<parcels {
            shelves[code % 20, default: []].append(Parcel(code: code, grams: 100 + code % 900))
            stored += 1
        }
    }

    func store(_ parcel: Parcel) {
        shelves[parcel.code % 20, default: []].append(parcel)
        stored += 1
    }

    /// Every truck takes the oldest parcels of the fullest shelf.
    func loadTruck(capacity: Int) -> [Parcel] {
        guard let (shelf, parcels) = shelves.max(by: { $0.value.count < $1.value.count }) else { return [] }
        let load = parcels.prefix(capacity)
        shelves[shelf] = Array(parcels.dropFirst(capacity))
        stored -= load.count
        shipped += load.count
        return Array(load)
    }
}

struct Intake: Service {
    let belt: AsyncChannel<Parcel>

    func run() async throws {
        var code = 10_000
        for await _ in AsyncTimerSequence(interval: .milliseconds(10), clock: .continuous).cancelOnGracefulShutdown() {
            for _ in 0..<3 {
                code += 1
                await belt.send(Parcel(code: code, grams: 50 + code % 700))
            }
        }
        belt.finish()
    }
}

struct Sorting: Service {
    let belt: AsyncChannel<Parcel>
    let warehouse: Warehouse

    func run() async throws {
        for await parcel in belt {
            parcel.stamps.append("sorted")
            await warehouse.store(parcel)
        }
    }
}

struct Trucks: Service {
    let warehouse: Warehouse

    func run() async throws {
        for await _ in AsyncTimerSequence(interval: .milliseconds(50), clock: .continuous).cancelOnGracefulShutdown() {
            try await withThrowingTaskGroup(of: Int.self) { roads in
                for truck in 0..<3 {
                    let load = await warehouse.loadTruck(capacity: 5)
                    roads.addTask {
                        try await Task.sleep(for: .milliseconds(5 + truck))
                        for parcel in load { parcel.stamps.append("truck \(truck)") }
                        return load.reduce(0) { $0 + $1.grams }
                    }
                }
                for try await grams in roads where grams < 0 { print("scale is broken") }
            }
        }
    }
}

struct Siren: Service {
    func run() async throws {
        await withGracefulShutdownHandler {
            Thread.detachNewThread {
                usleep(1_200_000)
                kill(getpid(), SIGTERM)
            }
            try? await gracefulShutdown()
        } onGracefulShutdown: {
            print("end of the day")
        }
    }
}

@main
struct DayShift {
    static func main() async throws {
        var logger = Logger(label: "dayshift")
        logger.logLevel = .critical
        let warehouse = Warehouse(parcels: 1500)
        let belt = AsyncChannel<Parcel>()
        var configuration = ServiceGroupConfiguration(
            services: [
                // Sorting is done when the belt is empty.
                .init(service: Sorting(belt: belt, warehouse: warehouse), successTerminationBehavior: .ignore),
                .init(service: Intake(belt: belt)),
                .init(service: Trucks(warehouse: warehouse)),
                .init(service: Siren()),
            ],
            gracefulShutdownSignals: [.sigterm],
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = .seconds(3)
        let group = ServiceGroup(configuration: configuration)
        try await group.run()
        print("\(await warehouse.stored) stored, \(await warehouse.shipped) shipped")
    }
}
