import Collections
import Foundation

final class Parcel {
    let id: Int
    let street: String
    let weight: Int
    init(id: Int) {
        self.id = id
        street = "Street \(id % 211)"
        weight = 100 + id * 37 % 4000
    }
}

final class Route: Sendable {
    let street: String
    let stops: [Int]
    init(street: String, salt: Int) {
        self.street = street
        stops = (0..<24).map { ($0 * salt) % 97 }
    }
}

final class Van {
    let number: Int
    private(set) var load: Deque<Parcel> = []
    init(number: Int) { self.number = number }
    func put(_ parcel: Parcel) { load.append(parcel) }
    func deliver(_ count: Int) -> Int {
        for _ in 0..<min(count, load.count) { load.removeFirst() }
        return load.count
    }
}

struct Deadline: Comparable {
    let minute: Int
    let parcel: Int
    static func < (lhs: Deadline, rhs: Deadline) -> Bool { lhs.minute < rhs.minute }
}

/// Parcels wait in the store until a van takes them or their time is over.
final class Packhouse {
    static let shared = Packhouse()
    private var waiting: OrderedDictionary<Int, Parcel> = [:]
    private var perStreet: [String: OrderedSet<Int>] = [:]
    private var deadlines = Heap<Deadline>()
    private var routes: OrderedDictionary<String, Route> = [:]
    private var vans = (0..<12).map(Van.init)
    private(set) var returned = 0
    private var nextID = 0

    func accept(_ count: Int, minute: Int) {
        for _ in 0..<count {
            nextID += 1
            let parcel = Parcel(id: nextID)
            waiting[parcel.id] = parcel
            perStreet[parcel.street, default: []].append(parcel.id)
            deadlines.insert(Deadline(minute: minute + 15 + nextID % 10, parcel: parcel.id))
        }
    }

    @discardableResult
    private func take(_ id: Int) -> Parcel? {
        guard let parcel = waiting.removeValue(forKey: id) else { return nil }
        perStreet[parcel.street]?.remove(id)
        if perStreet[parcel.street]?.isEmpty == true { perStreet[parcel.street] = nil }
        return parcel
    }

    func sendBackLate(minute: Int) {
        while let first = deadlines.min, first.minute <= minute {
            deadlines.removeMin()
            if take(first.parcel) != nil { returned += 1 }
        }
    }

    func route(to street: String) -> Route {
        if let route = routes.removeValue(forKey: street) {
            routes[street] = route
            return route
        }
        if routes.count >= 80 { routes.removeFirst() }
        let route = Route(street: street, salt: street.count + routes.count)
        routes[street] = route
        return route
    }

    func loadVans() {
        for van in vans {
            for street in perStreet.keys.sorted().prefix(3) where !route(to: street).stops.isEmpty {
                for id in perStreet[street] ?? [] {
                    if let parcel = take(id) { van.put(parcel) }
                }
            }
        }
    }

    func drive() -> Int { vans.reduce(0) { $0 + $1.deliver(4 + $1.number % 5) } }

    var text: String { "\(waiting.count) waiting, \(returned) returned, \(routes.count) routes of \(nextID) parcels" }
}

@main
struct PackhouseDay {
    static func main() {
        let house = Packhouse.shared
        var onTheRoad = 0
        for minute in 0..<90 {
            house.accept(60 + minute % 20, minute: minute)
            house.sendBackLate(minute: minute)
            if minute % 2 == 0 { house.loadVans() }
            onTheRoad += house.drive()
            Thread.sleep(forTimeInterval: 0.012)
        }
        house.accept(300, minute: 90)
        print(house.text, onTheRoad > 0)
    }
}
