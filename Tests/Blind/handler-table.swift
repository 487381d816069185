import Foundation

typealias RawHandler = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
typealias RawRelease = @convention(c) (UnsafeMutableRawPointer) -> Void

struct RawEntry {
    let context: UnsafeMutableRawPointer
    let handler: RawHandler
    let release: RawRelease
}

final class SignalTable {
    private var entries: [Int32: RawEntry] = [:]
    private var nextID: Int32 = 1

    func add(_ entry: RawEntry) -> Int32 {
        entries[nextID] = entry
        nextID += 1
        return nextID - 1
    }

    func remove(_ id: Int32) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        entry.release(entry.context)
    }

    func raise(_ signal: Int32) -> Int32 {
        var handled: Int32 = 0
        for entry in entries.values { handled += entry.handler(entry.context, signal) }
        return handled
    }

    var count: Int { entries.count }
}

final class Meter {
    let name: String
    private(set) var readings = 0
    init(name: String) { self.name = name }
    func add(_ amount: Int) { readings += amount }
}

final class Subscription {
    let mask: Int32
    let meter: Meter
    init(mask: Int32, meter: Meter) {
        self.mask = mask
        self.meter = meter
    }
}

final class SignalHub {
    private let table = SignalTable()
    private var meters: [String: Meter] = [:]

    func meter(_ name: String) -> Meter {
        if let existing = meters[name] { return existing }
        let created = Meter(name: name)
        meters[name] = created
        return created
    }

    func subscribe(mask: Int32, meter: Meter) -> Int32 {
        let subscription = Subscription(mask: mask, meter: meter)
        return table.add(RawEntry(
            context: Unmanaged.passRetained(subscription).toOpaque(),
            handler: { context, signal in
                let subscription = Unmanaged<Subscription>.fromOpaque(context).takeUnretainedValue()
                guard subscription.mask & signal != 0 else { return 0 }
                subscription.meter.add(1)
                return 1
            },
            release: { context in
                Unmanaged<Subscription>.fromOpaque(context).release()
            }))
    }

    func unsubscribe(_ id: Int32) { table.remove(id) }
    func raise(_ signal: Int32) -> Int32 { table.raise(signal) }

    func ranking() -> [Meter] {
        let context = Array(meters.values)
        return context.sorted { ($1.readings, $0.name) < ($0.readings, $1.name) }
    }

    var active: Int { table.count }
}

let hub = SignalHub()
var handled: Int32 = 0
var temporary: [Int32] = []
for n in 0..<700 {
    let mask = Int32(1 << (n % 6))
    if n % 50 == 20 {
        _ = hub.subscribe(mask: mask, meter: hub.meter("permanent \(n / 50)"))
    } else {
        temporary.append(hub.subscribe(mask: mask, meter: hub.meter("window \(n % 10)")))
    }
    handled += hub.raise(Int32(1 << (n * 5 % 6)))
    if temporary.count > 30 { hub.unsubscribe(temporary.removeFirst()) }
    usleep(1500)
}
for id in temporary { hub.unsubscribe(id) }
handled += hub.raise(0x3f)
print("handled \(handled), still subscribed \(hub.active)")
for meter in hub.ranking().prefix(3) { print("\(meter.name): \(meter.readings)") }
