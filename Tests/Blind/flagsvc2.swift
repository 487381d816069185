import Foundation

/// Process-wide feature flags; observers learn of each changed key.
final class FlagStore: @unchecked Sendable {
    typealias Observer = (_ key: String, _ enabled: Bool) -> Void

    static let shared = FlagStore()

    private let lock = NSRecursiveLock()
    private var values: [String: Bool] = [:]
    private var observers: [Int: Observer] = [:]
    private var nextToken = 0

    func observe(_ observer: @escaping Observer) -> Int {
        lock.withLock {
            nextToken += 1
            observers[nextToken] = observer
            return nextToken
        }
    }

    func stopObserving(_ token: Int) {
        lock.withLock { observers[token] = nil }
    }

    func set(_ key: String, _ enabled: Bool) {
        lock.withLock {
            guard values[key] != enabled else { return }
            values[key] = enabled
            for observer in observers.values {
                observer(key, enabled)
            }
        }
    }

    func isEnabled(_ key: String) -> Bool {
        lock.withLock { values[key] ?? false }
    }
}

final class TenantPolicy {
    let tenant: String
    private let plan: Int
    private var rules: [String: Int] = [:]
    private var recomputed = 0
    private var token = 0

    init(tenant: String, plan: Int) {
        self.tenant = tenant
        self.plan = plan
        recompute()
        token = FlagStore.shared.observe { key, _ in
            if key.hasPrefix("limits.") {
                self.recompute()
            }
        }
    }

    private func recompute() {
        recomputed += 1
        let burst = FlagStore.shared.isEnabled("limits.burst")
        for route in 0..<20 {
            rules["/v1/route\(route)"] = (plan + 1) * (burst ? 200 : 50) + route
        }
    }

    func allows(_ route: String, used: Int) -> Bool {
        used < (rules[route] ?? 0)
    }

    deinit {
        FlagStore.shared.stopObserving(token)
    }
}

struct Gatekeeper {
    private var policies: [String: TenantPolicy] = [:]
    private(set) var allowed = 0
    private(set) var throttled = 0

    mutating func onboard(_ tenant: String, plan: Int) {
        policies[tenant] = TenantPolicy(tenant: tenant, plan: plan)
    }

    mutating func offboard(_ tenant: String) {
        policies.removeValue(forKey: tenant)
    }

    mutating func check(_ tenant: String, route: Int, used: Int) {
        guard let policy = policies[tenant] else { return }
        if policy.allows("/v1/route\(route)", used: used) {
            allowed += 1
        } else {
            throttled += 1
        }
    }

    var tenants: Int { policies.count }
}

@main
enum RateLimiter {
    static func main() {
        var gatekeeper = Gatekeeper()
        for week in 0..<5 {
            for n in 0..<15 {
                gatekeeper.onboard("t\(week)-\(n)", plan: n % 3)
            }
            for request in 0..<3_000 {
                gatekeeper.check("t\(week)-\(request % 15)", route: request % 20, used: request % 320)
                if request % 500 == 0 {
                    FlagStore.shared.set("limits.burst", request % 1_000 == 0)
                    Thread.sleep(forTimeInterval: 0.02)
                }
            }
            for n in 0..<15 {
                gatekeeper.offboard("t\(week)-\(n)")
            }
        }
        print("allowed \(gatekeeper.allowed), throttled \(gatekeeper.throttled), tenants \(gatekeeper.tenants)")
    }
}
