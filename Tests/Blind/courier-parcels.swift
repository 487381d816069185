import Foundation

final class Parcel {
    let tracking: String
    let grams: Int
    let postcode: Int
    var attempts = 0

    init(tracking: String, grams: Int, postcode: Int) {
        self.tracking = tracking
        self.grams = grams
        self.postcode = postcode
    }
}

final class Route {
    let code: String
    private(set) var manifest: [Parcel] = []

    init(code: String) {
        self.code = code
    }

    func load(_ parcel: Parcel) {
        manifest.append(parcel)
    }

    func unload(_ parcel: Parcel) {
        if let index = manifest.firstIndex(where: { $0 === parcel }) {
            manifest.remove(at: index)
        }
    }
}

final class Depot {
    private var tracked: [String: Parcel] = [:]
    private var shelf: Set<String> = []
    private var routes: [Route]
    private(set) var deliveredGrams = 0
    private(set) var delivered = 0
    private(set) var returned = 0

    init(routeCodes: [String]) {
        routes = routeCodes.map { Route(code: $0) }
    }

    private func route(for postcode: Int) -> Route {
        routes[postcode % routes.count]
    }

    func accept(tracking: String, grams: Int, postcode: Int) {
        let parcel = Parcel(tracking: tracking, grams: grams, postcode: postcode)
        tracked[tracking] = parcel
        shelf.insert(tracking)
        route(for: postcode).load(parcel)
    }

    enum Outcome {
        case delivered, absent, unknown
    }

    func attempt(_ tracking: String, someoneHome: Bool) -> Outcome {
        guard let parcel = tracked[tracking] else { return .unknown }
        parcel.attempts += 1
        guard someoneHome else {
            if parcel.attempts >= 3 { returnToSender(parcel) }
            return .absent
        }
        deliveredGrams += parcel.grams
        delivered += 1
        route(for: parcel.postcode).unload(parcel)
        shelf.remove(tracking)
        tracked[tracking] = nil
        return .delivered
    }

    private func returnToSender(_ parcel: Parcel) {
        shelf.remove(parcel.tracking)
        tracked[parcel.tracking] = nil
        returned += 1
    }

    var onShelf: Int { shelf.count }
    var open: Int { tracked.count }
}

@main
enum CourierDay {
    static let depot = Depot(routeCodes: ["north", "quay", "old-town", "hillside"])

    static func main() {
        var visits = 0
        for day in 0..<20 {
            let numbers = (0..<60).map { String(format: "PX%02d%03d", day, $0) }
            for (index, number) in numbers.enumerated() {
                depot.accept(tracking: number, grams: 200 + (index * 91 + day * 7) % 4800, postcode: 1000 + index * 3 + day)
            }
            for round in 0..<3 {
                for (index, number) in numbers.enumerated() {
                    // Some households are out all day, some only for the second round.
                    let home = index % 20 < 3 ? false : (index % 4 == 0 ? round >= 1 : true)
                    if depot.attempt(number, someoneHome: home) != .unknown { visits += 1 }
                }
            }
        }
        print("visits: \(visits)")
        print("delivered: \(depot.delivered) parcels, \(depot.deliveredGrams) g")
        print("returned: \(depot.returned), on shelf: \(depot.onShelf), open: \(depot.open)")
    }
}
