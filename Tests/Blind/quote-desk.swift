import Foundation

// Insurance desk: quotes are computed with a small Monte Carlo model, kept in
// a cache, compared with each other and turned into policies.

struct Applicant: Hashable {
    let age: Int
    let region: Int
    let vehicle: Int
    let claims: Int
}

final class TariffTable {
    private var base: [[Double]] = []

    init(regions: Int, vehicles: Int) {
        for region in 0..<regions {
            base.append((0..<vehicles).map { 180 + Double(region * 13 % 47) + Double($0 * 29 % 61) * 1.5 })
        }
    }

    func rate(_ applicant: Applicant) -> Double {
        let youth = applicant.age < 25 ? 1.6 : applicant.age > 70 ? 1.25 : 1
        return base[applicant.region][applicant.vehicle] * youth * (1 + 0.18 * Double(applicant.claims))
    }
}

final class Quote {
    let number: Int
    let applicant: Applicant
    let premium: Double
    let percentiles: [Double]
    let issued: Int

    init(number: Int, applicant: Applicant, premium: Double, percentiles: [Double], issued: Int) {
        self.number = number
        self.applicant = applicant
        self.premium = premium
        self.percentiles = percentiles
        self.issued = issued
    }
}

struct RiskModel {
    private var seed: UInt64 = 0x1357_9BDF

    private mutating func uniform() -> Double {
        seed ^= seed << 13
        seed ^= seed >> 7
        seed ^= seed << 17
        return Double(seed >> 11) / Double(1 << 53)
    }

    /// Yearly loss for a number of simulated years, sorted.
    mutating func losses(rate: Double, claims: Int, years: Int) -> [Double] {
        var result: [Double] = []
        result.reserveCapacity(years)
        let probability = 0.08 + 0.03 * Double(claims)
        for _ in 0..<years {
            var loss = 0.0
            let weather = exp(0.25 * (-2 * log(1 - uniform() * 0.999)).squareRoot() * cos(2 * .pi * uniform()))
            for _ in 0..<3 where uniform() < probability * weather { loss += -log(1 - uniform() * 0.999) * rate * 3 }
            result.append(loss)
        }
        result.sort()
        return result
    }
}

struct QuoteKey: Hashable {
    let applicant: Applicant
    let timestamp: Int
}

final class QuoteService {
    private let tariff: TariffTable
    private var model = RiskModel()
    private var cache: [QuoteKey: Quote] = [:]
    private var counter = 0
    private(set) var hits = 0

    init(tariff: TariffTable) { self.tariff = tariff }

    func quote(for applicant: Applicant, at timestamp: Int) -> Quote {
        let key = QuoteKey(applicant: applicant, timestamp: timestamp)
        if let cached = cache[key] {
            hits += 1
            return cached
        }
        counter += 1
        let rate = tariff.rate(applicant)
        let losses = model.losses(rate: rate, claims: applicant.claims, years: 1_450)
        let mean = losses.reduce(0, +) / Double(losses.count)
        let percentiles = [0.5, 0.9, 0.99].map { losses[Int(Double(losses.count) * $0)] }
        let quote = Quote(number: counter, applicant: applicant, premium: rate * 0.4 + mean * 1.2, percentiles: percentiles, issued: timestamp)
        cache[key] = quote
        return quote
    }

    var issued: Int { counter }
}

struct Policy {
    let holder: Applicant
    let premium: Double
    let start: Int
}

final class PolicyBook {
    private var active: [Policy] = []
    private let term: Int
    private(set) var written = 0
    private(set) var ended = 0
    private(set) var income = 0.0

    init(term: Int) { self.term = term }

    func write(_ quote: Quote, at time: Int) {
        active.append(Policy(holder: quote.applicant, premium: quote.premium, start: time))
        written += 1
        income += quote.premium
    }

    func expire(now: Int) {
        let before = active.count
        active.removeAll { now - $0.start >= term }
        ended += before - active.count
    }

    var count: Int { active.count }
    var youngest: Int { active.map(\.holder.age).min() ?? 0 }
}

struct Market {
    private var seed: UInt32 = 4_321
    mutating func pick(_ bound: Int) -> Int {
        seed = seed &* 1_103_515_245 &+ 12_345
        return Int(seed >> 12) % bound
    }
    mutating func applicant() -> Applicant {
        Applicant(age: 18 + pick(60), region: pick(12), vehicle: pick(25), claims: pick(4) == 0 ? pick(4) : 0)
    }
}

struct PremiumHistogram {
    private var buckets = [Int](repeating: 0, count: 8)
    mutating func add(_ premium: Double) { buckets[min(7, Int(premium / 120))] += 1 }
    var text: String { buckets.map(String.init).joined(separator: " ") }
}

let service = QuoteService(tariff: TariffTable(regions: 12, vehicles: 25))
let book = PolicyBook(term: 4_000)
var market = Market()
var histogram = PremiumHistogram()
var declined = 0
for step in 0..<1_600 {
    let now = step * 17
    let applicant = market.applicant()
    let offer = service.quote(for: applicant, at: now)
    // The customer reads the offer again before deciding.
    let confirmed = service.quote(for: applicant, at: now)
    histogram.add(confirmed.premium)
    if confirmed.premium < 450, offer.percentiles[2] < 6_000 {
        book.write(confirmed, at: now)
    } else {
        declined += 1
    }
    book.expire(now: now)
    usleep(120)
}
print("quotes \(service.issued), cache hits \(service.hits), declined \(declined)")
print("policies \(book.count) active, \(book.written) written, \(book.ended) ended, income \(Int(book.income)), youngest \(book.youngest)")
print("premiums \(histogram.text)")
