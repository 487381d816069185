// Shipping desk: prices parcels by zone and weight band.
import Foundation

struct RateKey: Hashable {
    let zone: Int
    let band: Int
    let express: Bool
}

final class RateQuote {
    let base: Int
    let surcharges: [String: Int]

    init(base: Int, surcharges: [String: Int]) {
        self.base = base
        self.surcharges = surcharges
    }

    var total: Int { base + surcharges.values.reduce(0, +) }
}

struct Parcel {
    let reference: String
    let destination: String
    let grams: Int
    let express: Bool
}

final class Tariff {
    private var quotes: [RateKey: RateQuote] = [:]
    private(set) var computed = 0
    private(set) var reused = 0

    func quote(for parcel: Parcel) -> RateQuote {
        let key = RateKey(zone: zone(of: parcel.destination),
                          band: (parcel.grams + 249) / 250,
                          express: parcel.express)
        if let quote = quotes[key] {
            reused += 1
            return quote
        }
        computed += 1
        let quote = compute(key)
        quotes[key] = quote
        return quote
    }

    private func zone(of postcode: String) -> Int {
        let digits = postcode.compactMap(\.wholeNumberValue)
        return (digits.first ?? 0) % 8
    }

    private func compute(_ key: RateKey) -> RateQuote {
        var surcharges: [String: Int] = [:]
        if key.express { surcharges["express"] = 450 + key.zone * 35 }
        if key.band > 20 { surcharges["bulky"] = (key.band - 20) * 15 }
        if key.zone >= 6 { surcharges["remote"] = 280 }
        return RateQuote(base: 320 + key.zone * 60 + key.band * 22, surcharges: surcharges)
    }

    var size: Int { quotes.count }
}

struct ParcelFeed {
    private var state: UInt64 = 0xA11CE

    mutating func next(_ n: Int) -> Parcel {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        let postcode = String(format: "%05d", Int(state % 90_000) + 1000)
        return Parcel(reference: "PK-\(n)",
                      destination: postcode,
                      grams: 100 + Int((state >> 20) % 9_000),
                      express: (state >> 40) % 4 == 0)
    }
}

let tariff = Tariff()
var feed = ParcelFeed()
var revenue = 0
var expressParcels = 0
for n in 0..<20_000 {
    let parcel = feed.next(n)
    revenue += tariff.quote(for: parcel).total
    if parcel.express { expressParcels += 1 }
    if n % 1000 == 999 { usleep(3000) }
}

print("parcels priced: 20000, express: \(expressParcels)")
print("rates computed: \(tariff.computed), reused: \(tariff.reused), table: \(tariff.size)")
print("revenue: \(revenue / 100).\(String(format: "%02d", revenue % 100))")
