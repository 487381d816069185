import Foundation

/// Lets a fixed number of trucks into the loading bays; the others wait in order.
actor GateKeeper {
    private var free: Int
    private var queue: [CheckedContinuation<Int, Never>] = []
    private var granted = 0
    private(set) var longestQueue = 0

    init(bays: Int) { free = bays }

    func enter() async -> Int {
        if free > 0 {
            free -= 1
            granted += 1
            return granted
        }
        return await withCheckedContinuation { continuation in
            queue.append(continuation)
            longestQueue = max(longestQueue, queue.count)
        }
    }

    func leave() {
        guard !queue.isEmpty else {
            free += 1
            return
        }
        granted += 1
        queue.removeFirst().resume(returning: granted)
    }
}

struct Pallet: Sendable {
    let weight: Int
}

final class Truck: @unchecked Sendable {
    let plate: Int
    private var load: [Pallet] = []
    private(set) var pass = 0

    init(plate: Int) { self.plate = plate }

    func admit(_ pass: Int) { self.pass = pass }

    func stow(_ pallet: Pallet) { load.append(pallet) }

    var weight: Int { load.reduce(0) { $0 + $1.weight } }
}

actor Weighbridge {
    private(set) var trucks = 0
    private(set) var tonnes = 0
    private var passes: Set<Int> = []

    func weigh(_ truck: Truck) {
        trucks += 1
        tonnes += truck.weight / 1000
        passes.insert(truck.pass)
    }

    var distinctPasses: Int { passes.count }
}

struct Depot: Sendable {
    let gate: GateKeeper
    let bridge: Weighbridge

    func handle(_ truck: Truck) async {
        truck.admit(await gate.enter())
        for index in 0..<(6 + truck.plate % 5) {
            truck.stow(Pallet(weight: 400 + (truck.plate * 29 + index * 61) % 500))
        }
        try? await Task.sleep(for: .milliseconds(5 + truck.plate % 4))
        await gate.leave()
        await bridge.weigh(truck)
    }
}

func run() async {
    let depot = Depot(gate: GateKeeper(bays: 4), bridge: Weighbridge())
    for morning in 0..<8 {
        await withDiscardingTaskGroup { group in
            for index in 0..<40 {
                let truck = Truck(plate: morning * 40 + index)
                group.addTask { await depot.handle(truck) }
            }
        }
    }
    let trucks = await depot.bridge.trucks
    let tonnes = await depot.bridge.tonnes
    let passes = await depot.bridge.distinctPasses
    let longest = await depot.gate.longestQueue
    print("\(trucks) trucks, \(tonnes) t, \(passes) passes, queue formed: \(longest > 10)")
}

await run()
