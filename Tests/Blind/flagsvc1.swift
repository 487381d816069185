import Foundation

final class Subscription {
    private let cancel: () -> Void

    init(_ cancel: @escaping () -> Void) {
        self.cancel = cancel
    }

    deinit { cancel() }
}

final class ConfigCenter: @unchecked Sendable {
    static let shared = ConfigCenter()

    private let lock = NSRecursiveLock()
    private var values: [String: Int] = [:]
    private var observers: [UUID: (String, Int) -> Void] = [:]

    func observe(_ observer: @escaping (String, Int) -> Void) -> Subscription {
        let id = UUID()
        lock.withLock { observers[id] = observer }
        return Subscription { [unowned self] in
            self.lock.withLock { self.observers[id] = nil }
        }
    }

    func set(_ key: String, _ value: Int) {
        lock.withLock {
            values[key] = value
            for observer in Array(observers.values) {
                observer(key, value)
            }
        }
    }

    subscript(key: String) -> Int {
        lock.withLock { values[key] ?? 0 }
    }

    var observerCount: Int { lock.withLock { observers.count } }
}

final class PricingCache {
    let tenant: String
    private let tier: Int
    private var prices: [Int: Int] = [:]
    private var subscription: Subscription?

    init(tenant: String, tier: Int) {
        self.tenant = tenant
        self.tier = tier
        subscription = ConfigCenter.shared.observe { [weak self] key, value in
            guard let self, key == "pricing.base" else { return }
            self.rebuild(base: value)
        }
        rebuild(base: ConfigCenter.shared["pricing.base"])
    }

    private func rebuild(base: Int) {
        for sku in 0..<40 {
            prices[sku] = base + sku * (10 - tier)
        }
    }

    func price(_ sku: Int) -> Int {
        prices[sku] ?? 0
    }
}

struct Storefront {
    private var caches: [String: PricingCache] = [:]
    private(set) var revenue = 0

    mutating func onboard(_ tenant: String, tier: Int) {
        caches[tenant] = PricingCache(tenant: tenant, tier: tier)
    }

    mutating func offboard(_ tenant: String) {
        caches[tenant] = nil
    }

    mutating func sell(_ tenant: String, sku: Int) {
        revenue += caches[tenant]?.price(sku) ?? 0
    }
}

@main
enum Pricing {
    static func main() {
        var storefront = Storefront()
        var peak = 0
        ConfigCenter.shared.set("pricing.base", 500)
        for week in 0..<5 {
            for n in 0..<15 {
                storefront.onboard("t\(week)-\(n)", tier: n % 4)
            }
            peak = max(peak, ConfigCenter.shared.observerCount)
            for sale in 0..<3_000 {
                storefront.sell("t\(week)-\(sale % 15)", sku: sale % 40)
                if sale % 500 == 0 {
                    ConfigCenter.shared.set("pricing.base", 500 + sale / 50)
                    Thread.sleep(forTimeInterval: 0.02)
                }
            }
            for n in 0..<15 {
                storefront.offboard("t\(week)-\(n)")
            }
        }
        print("revenue \(storefront.revenue), peak tenants \(peak), now \(ConfigCenter.shared.observerCount)")
    }
}
