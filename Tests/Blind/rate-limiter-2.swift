import Foundation

// Login protection of a web portal: limits the attempts per client in a sliding window and
// blocks clients that keep failing.

struct Attempt {
    let time: Double
    let user: String
    let success: Bool
}

enum Decision: String, CaseIterable { case allowed, throttled, blocked }

struct LimitPolicy {
    let window: Double
    let maxAttempts: Int
    let maxFailures: Int
}

final class AttemptLimiter {
    private let policy: LimitPolicy
    private var attempts: [String: [Attempt]] = [:]

    init(policy: LimitPolicy) { self.policy = policy }

    func decide(client: String, at time: Double) -> Decision {
        guard let list = attempts[client] else { return .allowed }
        let recent = list.reversed().prefix { $0.time > time - policy.window }
        if recent.filter({ !$0.success }).count >= policy.maxFailures { return .blocked }
        return recent.count >= policy.maxAttempts ? .throttled : .allowed
    }

    func record(client: String, user: String, success: Bool, at time: Double) {
        attempts[client, default: []].append(Attempt(time: time, user: user, success: success))
    }
}

struct PasswordStore {
    private let digests: [String: UInt64]

    init(users: Int) {
        var table: [String: UInt64] = [:]
        for user in 0..<users { table["user\(user)"] = PasswordStore.digest("secret\(user)", salt: "user\(user)") }
        digests = table
    }

    static func digest(_ password: String, salt: String) -> UInt64 {
        var value: UInt64 = 14695981039346656037
        for round in 0..<60 {
            for byte in (password + salt).utf8 { value = (value ^ UInt64(byte) ^ UInt64(round)) &* 1099511628211 }
        }
        return value
    }

    func verify(_ user: String, _ password: String) -> Bool {
        digests[user] == PasswordStore.digest(password, salt: user)
    }
}

final class LoginService {
    private let limiter: AttemptLimiter
    private let store: PasswordStore
    private(set) var decisions: [Decision: Int] = [:]
    private(set) var signedIn = 0

    init(limiter: AttemptLimiter, store: PasswordStore) {
        self.limiter = limiter
        self.store = store
    }

    func login(client: String, user: String, password: String, at time: Double) {
        let decision = limiter.decide(client: client, at: time)
        decisions[decision, default: 0] += 1
        var success = false
        if decision == .allowed {
            success = store.verify(user, password)
            if success { signedIn += 1 }
        }
        limiter.record(client: client, user: user, success: success, at: time)
    }

    var report: String {
        Decision.allCases.map { "\($0.rawValue) \(decisions[$0] ?? 0)" }.joined(separator: ", ") + ", signed in \(signedIn)"
    }
}

let policy = LimitPolicy(window: 10, maxAttempts: 14, maxFailures: 8)
let service = LoginService(limiter: AttemptLimiter(policy: policy), store: PasswordStore(users: 120))
let clients = (0..<25).map { "10.4.\($0 / 5).\(20 + $0 % 5)" }

for second in 0..<160 {
    for slot in 0..<25 {
        let serial = second * 25 + slot
        let client = clients[slot]
        let user = serial * 17 % 120
        let wrong = slot % 5 == 4 ? serial % 8 != 0 : serial % 6 == 0
        service.login(client: client, user: "user\(user)", password: wrong ? "guess" : "secret\(user)", at: Double(second))
    }
    if second % 40 == 39 { print("\(second + 1)s: \(service.report)") }
    Thread.sleep(forTimeInterval: 0.005)
}
