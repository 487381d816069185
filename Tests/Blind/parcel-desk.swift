struct Waypoint: Sendable {
    let city: String
    let hour: Int
}

actor Carrier {
    private let route = ["Bremen", "Kassel", "Fulda", "Ulm", "Wien"]
    private var underway: [String: Int] = [:]
    private(set) var lookups = 0

    func accept(_ code: String) { underway[code] = 0 }

    func advance(_ code: String) -> Bool {
        guard let hop = underway[code] else { return false }
        if hop + 1 == route.count {
            underway[code] = nil
            return true
        }
        underway[code] = hop + 1
        return false
    }

    func locate(_ code: String) -> Waypoint? {
        lookups += 1
        guard let hop = underway[code] else { return nil }
        return Waypoint(city: route[hop], hour: hop * 6)
    }
}

actor ParcelTracker {
    let code: String
    private let carrier: Carrier
    private var arrived = false
    private var path: [Waypoint] = []

    init(code: String, carrier: Carrier) {
        self.code = code
        self.carrier = carrier
    }

    func follow() {
        Task {
            while !arrived {
                if let here = await carrier.locate(code), path.last?.city != here.city {
                    path.append(here)
                }
                try? await Task.sleep(for: .milliseconds(25))
            }
            path.removeAll()
        }
    }

    func markDelivered() { arrived = true }

    var stops: Int { path.count }
}

actor ParcelDesk {
    private let carrier: Carrier
    private var trackers: [String: ParcelTracker] = [:]
    private var receipts: [String] = []

    init(carrier: Carrier) { self.carrier = carrier }

    func ship(_ code: String) async {
        await carrier.accept(code)
        let tracker = ParcelTracker(code: code, carrier: carrier)
        trackers[code] = tracker
        await tracker.follow()
    }

    func delivered(_ code: String) {
        guard trackers.removeValue(forKey: code) != nil else { return }
        receipts.append(code)
    }

    func hour() async {
        for code in trackers.keys.sorted() {
            if await carrier.advance(code) { delivered(code) }
        }
    }

    var open: Int { trackers.count }
    var signed: Int { receipts.count }
}

@main
struct ParcelShop {
    static let carrier = Carrier()
    static let desk = ParcelDesk(carrier: carrier)

    static func main() async throws {
        for wave in 0..<8 {
            for n in 0..<8 { await desk.ship("DE\(wave)\(n)") }
            await desk.hour()
            try await Task.sleep(for: .milliseconds(20))
        }
        while await desk.open > 0 {
            await desk.hour()
            try await Task.sleep(for: .milliseconds(20))
        }

        var invoices: [Int] = []
        for day in 1...30 {
            let signed = await desk.signed
            invoices.append(signed * 420 + day * 15)
            try await Task.sleep(for: .milliseconds(15))
        }
        let polled = await carrier.lookups > 64
        print("\(await desk.signed) parcels signed, last invoice \(invoices.last!), polled: \(polled)")
    }
}
