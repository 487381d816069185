import Foundation

final class WaferImage {
    let lot: Int
    let die: Int
    private let pixels: [UInt8]

    init(lot: Int, die: Int) {
        self.lot = lot
        self.die = die
        var value = UInt32(lot &* 8191 &+ die &* 131)
        pixels = (0..<128).map { _ in
            value = value &* 1103515245 &+ 12345
            return UInt8(truncatingIfNeeded: value >> 16)
        }
    }

    var defects: Int { pixels.lazy.filter { $0 > 250 }.count }
}

final class Conveyor<Item> {
    private let lock = NSCondition()
    private var slots: [Item?]
    private var head = 0
    private var filled = 0
    private var producers: Int

    init(capacity: Int, producers: Int) {
        slots = Array(repeating: nil, count: capacity)
        self.producers = producers
    }

    func place(_ item: Item) {
        lock.lock()
        while filled == slots.count {
            lock.wait()
        }
        slots[(head + filled) % slots.count] = item
        filled += 1
        lock.broadcast()
        lock.unlock()
    }

    func producerFinished() {
        lock.lock()
        producers -= 1
        lock.broadcast()
        lock.unlock()
    }

    func take() -> Item? {
        lock.lock()
        defer { lock.unlock() }
        while filled == 0 {
            if producers == 0 { return nil }
            lock.wait()
        }
        let item = slots[head]
        slots[head] = nil
        head = (head + 1) % slots.count
        filled -= 1
        lock.broadcast()
        return item
    }
}

final class Tally {
    private let lock = NSLock()
    private var defectsPerLot: [Int: Int] = [:]
    private var inspected = 0

    func add(lot: Int, defects: Int) {
        lock.lock()
        defectsPerLot[lot, default: 0] += defects
        inspected += 1
        lock.unlock()
    }

    func report() -> [String] {
        lock.lock()
        defer { lock.unlock() }
        let lots = defectsPerLot.sorted { $0.key < $1.key }.map { "lot \($0.key): \($0.value) defects" }
        return ["inspected \(inspected)"] + lots
    }
}

let conveyor = Conveyor<WaferImage>(capacity: 24, producers: 3)
let tally = Tally()
let finished = DispatchGroup()

func launch(_ body: @escaping @Sendable () -> Void) {
    finished.enter()
    Thread {
        body()
        finished.leave()
    }.start()
}

for lot in 1...3 {
    launch {
        for die in 0..<700 {
            conveyor.place(WaferImage(lot: lot, die: die))
        }
        conveyor.producerFinished()
    }
}
for _ in 0..<2 {
    launch {
        while let image = conveyor.take() {
            tally.add(lot: image.lot, defects: image.defects)
        }
    }
}
finished.wait()

tally.report().forEach { print($0) }
