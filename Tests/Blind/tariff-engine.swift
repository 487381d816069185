import Foundation

// Parcel pricing service. Regional tariffs are announced during the day and apply at once.

struct Parcel {
    let region: String
    let grams: Int
    let express: Bool
    let declaredValue: Int
}

struct Quote {
    let cents: Int
    let tariff: String
}

final class TariffRule {
    let region: String
    let edition: Int
    private let steps: [(limit: Int, cents: Int)]
    private let surcharge: Double

    init(region: String, edition: Int, fuelIndex: Double) {
        self.region = region
        self.edition = edition
        surcharge = fuelIndex
        steps = [250, 500, 1_000, 2_000, 5_000, 10_000, 30_000].enumerated().map { index, limit in
            (limit, 390 + index * 180 + edition % 40)
        }
    }

    func quote(_ parcel: Parcel) -> Quote {
        let base = steps.first { parcel.grams <= $0.limit }?.cents ?? steps.last!.cents * 2
        let insured = parcel.declaredValue > 50_000 ? base / 4 : 0
        let total = Double(base + insured) * (parcel.express ? 1.8 : 1) * (1 + surcharge)
        return Quote(cents: Int(total.rounded()), tariff: "\(region)/\(edition)")
    }
}

final class PricingService {
    typealias Resolver = (Parcel) -> Quote
    private var resolver: Resolver
    private(set) var announced = 0

    init() {
        resolver = { parcel in Quote(cents: 900 + parcel.grams / 10, tariff: "standard") }
    }

    func announce(region: String, fuelIndex: Double) {
        announced += 1
        let rule = TariffRule(region: region, edition: announced, fuelIndex: fuelIndex)
        let fallback = resolver
        resolver = { parcel in
            parcel.region == rule.region ? rule.quote(parcel) : fallback(parcel)
        }
    }

    func quote(_ parcel: Parcel) -> Quote { resolver(parcel) }
}

struct Counter {
    private(set) var revenue = 0
    private(set) var editions: Set<String> = []
    private(set) var standard = 0

    mutating func book(_ quote: Quote) {
        revenue += quote.cents
        if quote.tariff == "standard" { standard += 1 }
        editions.insert(quote.tariff)
        if editions.count > 64 { editions.removeAll(keepingCapacity: true) }
    }
}

struct FuelMarket {
    private var index = 0.08
    private var phase = 0.0

    mutating func next() -> Double {
        phase += 0.21
        index = max(0.02, min(0.2, index + sin(phase) * 0.004))
        return index
    }
}

let regions = ["alps", "coast", "north", "lakes", "metro", "islands"]
let service = PricingService()
var market = FuelMarket()
var counter = Counter()
var serial = 0

for minute in 0..<140 {
    for offset in 0..<6 {
        service.announce(region: regions[(minute + offset) % regions.count], fuelIndex: market.next())
    }
    for _ in 0..<60 {
        serial += 1
        // A few parcels from the old address file still carry a spelling of the wrong case.
        let region = serial % 97 == 0 ? "Alps" : regions[(serial * 5 + minute) % regions.count]
        let parcel = Parcel(region: region, grams: (serial * 379) % 12_000 + 20,
                            express: serial % 4 == 0, declaredValue: (serial * 1_013) % 80_000)
        counter.book(service.quote(parcel))
    }
    if minute % 70 == 69 { print("minute \(minute + 1): revenue \(counter.revenue / 100)") }
    usleep(6_000)
}
print("tariffs \(service.announced), parcels \(serial), revenue \(counter.revenue / 100), standard \(counter.standard)")
