import Foundation

enum FleetEvent: Sendable {
    case join(String)
    case parcel(String, Int)
    case leave(String)
}

actor Depot {
    private(set) var parcels = 0
    private(set) var weight = 0
    private(set) var returned = 0

    func book(_ grams: Int) {
        parcels += 1
        weight += grams
    }

    func noteReturn() {
        returned += 1
    }
}

final class CourierWorker: @unchecked Sendable {
    let courier: String
    private let depot: Depot
    private let lock = NSLock()
    private var bag: [Int] = []
    private var closed = false
    private var route = [UInt8](repeating: 0, count: 1024)

    init(courier: String, depot: Depot) {
        self.courier = courier
        self.depot = depot
    }

    func load(_ parcel: Int) {
        lock.withLock { bag.append(parcel) }
    }

    func close() {
        lock.withLock { closed = true }
    }

    func run() async {
        while !Task.isCancelled {
            let (parcels, last) = unload()
            for parcel in parcels {
                await depot.book(plan(parcel))
            }
            if last { break }
            try? await Task.sleep(for: .milliseconds(30))
        }
        await depot.noteReturn()
    }

    private func unload() -> ([Int], Bool) {
        lock.withLock {
            defer { bag.removeAll() }
            return (bag, closed)
        }
    }

    private func plan(_ parcel: Int) -> Int {
        for i in route.indices {
            route[i] = route[i] &+ UInt8(truncatingIfNeeded: i ^ parcel)
        }
        return route.reduce(0) { $0 + Int($1) } % 5_000
    }
}

struct Dispatcher: Sendable {
    let depot: Depot

    func run(_ events: AsyncStream<FleetEvent>) async {
        await withDiscardingTaskGroup { group in
            var workers: [String: CourierWorker] = [:]
            for await event in events {
                switch event {
                case .join(let courier):
                    let worker = CourierWorker(courier: courier, depot: depot)
                    workers[courier] = worker
                    group.addTask { await worker.run() }
                case .parcel(let courier, let id):
                    workers[courier]?.load(id)
                case .leave(let courier):
                    workers.removeValue(forKey: courier)?.close()
                }
            }
            for worker in workers.values {
                worker.close()
            }
        }
    }
}

@main
struct Fleet {
    static func main() async throws {
        let depot = Depot()
        let (events, feed) = AsyncStream.makeStream(of: FleetEvent.self)
        let dispatcher = Dispatcher(depot: depot)
        let dispatching = Task { await dispatcher.run(events) }

        let regulars = (0..<8).map { "regular-\($0)" }
        for courier in regulars {
            feed.yield(.join(courier))
        }
        var expected = 0
        for shift in 0..<4 {
            let extras = (0..<6).map { "extra-\(shift)-\($0)" }
            for courier in extras {
                feed.yield(.join(courier))
            }
            let crew = regulars + extras
            for id in 0..<210 {
                feed.yield(.parcel(crew[id % crew.count], id))
                expected += 1
            }
            while await depot.parcels < expected {
                try await Task.sleep(for: .milliseconds(20))
            }
            for courier in extras {
                feed.yield(.leave(courier))
            }
            try await Task.sleep(for: .milliseconds(140))
        }
        feed.finish()
        await dispatching.value
        print("parcels \(await depot.parcels), weight \(await depot.weight), returned \(await depot.returned)")
    }
}
