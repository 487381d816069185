import Foundation

struct Token: Hashable {
    let value: String
}

final class Cart {
    private(set) var items: [String: Int] = [:]
    func add(_ sku: String) { items[sku, default: 0] += 1 }
    var size: Int { items.values.reduce(0, +) }
}

final class Session {
    let token: Token
    let user: String
    let cart = Cart()
    let isService: Bool
    var lastUse: UInt64
    var hits = 0
    init(token: Token, user: String, isService: Bool, now: UInt64) {
        self.token = token
        self.user = user
        self.isService = isService
        lastUse = now
    }
}

func milliseconds() -> UInt64 { DispatchTime.now().uptimeNanoseconds / 1_000_000 }

final class SessionStore {
    private let queue = DispatchQueue(label: "sessions")
    private var byToken: [Token: Session] = [:]
    private var byUser: [String: [Session]] = [:]
    private let lifetime: UInt64
    private var sweeper: DispatchSourceTimer?
    private var serial = 0
    private var expired = 0
    private var loggedOut = 0
    private var replaced = 0

    init(lifetime: UInt64) { self.lifetime = lifetime }

    func start() {
        let t = DispatchSource.makeTimerSource(queue: queue)
        t.schedule(deadline: .now() + .milliseconds(50), repeating: .milliseconds(50))
        t.setEventHandler { [weak self] in self?.sweep() }
        t.resume()
        sweeper = t
    }

    func stop() {
        queue.sync {
            sweeper?.cancel()
            sweeper = nil
        }
    }

    func login(_ user: String, service: Bool = false) -> Token {
        queue.sync {
            if let mine = byUser[user], mine.count >= 2, let oldest = mine.min(by: { $0.lastUse < $1.lastUse }) {
                drop(oldest)
                replaced += 1
            }
            serial += 1
            let s = Session(token: Token(value: "t\(serial)-\(user)"), user: user, isService: service, now: milliseconds())
            byToken[s.token] = s
            byUser[user, default: []].append(s)
            return s.token
        }
    }

    private func drop(_ s: Session) {
        byToken[s.token] = nil
        byUser[s.user]?.removeAll { $0 === s }
        if byUser[s.user]?.isEmpty == true { byUser[s.user] = nil }
    }

    func logout(_ t: Token) {
        queue.sync {
            guard let s = byToken[t] else { return }
            drop(s)
            loggedOut += 1
        }
    }

    func access<R>(_ t: Token, _ body: (Session) -> R) -> R? {
        queue.sync {
            guard let s = byToken[t] else { return nil }
            s.lastUse = milliseconds()
            s.hits += 1
            return body(s)
        }
    }

    private func sweep() {
        let now = milliseconds()
        let old = byToken.values.filter { now > $0.lastUse + lifetime }
        for s in old {
            drop(s)
            expired += 1
        }
    }

    func summary() -> String {
        queue.sync {
            let services = byToken.values.filter { $0.isService }
            let hits = services.reduce(0) { $0 + $1.hits }
            return "open \(byToken.count) of \(serial), expired \(expired), logged out \(loggedOut), replaced \(replaced), service hits \(hits)"
        }
    }
}

final class Browser {
    private let store: SessionStore
    private let user: String
    private var token: Token?
    private var remaining: Int
    private let polite: Bool

    init(store: SessionStore, user: String, pages: Int, polite: Bool) {
        self.store = store
        self.user = user
        remaining = pages
        self.polite = polite
    }

    func click() -> Bool {
        if token == nil { token = store.login(user) }
        guard remaining > 0, let t = token else {
            if polite, let t = token { store.logout(t) }
            return false
        }
        remaining -= 1
        let ok = store.access(t) { s -> Int in
            s.cart.add("sku\(s.hits % 9)")
            return s.cart.size
        }
        if ok == nil { token = nil }
        return true
    }
}

final class Monitor {
    private let store: SessionStore
    private let token: Token
    private(set) var largest = 0
    init(store: SessionStore, name: String) {
        self.store = store
        token = store.login(name, service: true)
    }
    func poll() {
        if let n = store.access(token, { s in s.cart.add("probe"); return s.cart.size }) { largest = max(largest, n) }
    }
}

func runSite() {
    let store = SessionStore(lifetime: 200)
    store.start()
    let monitors = ["billing", "search", "health"].map { Monitor(store: store, name: $0) }
    var browsers: [Browser] = []
    for round in 0..<420 {
        if round % 2 == 0 {
            browsers.append(Browser(store: store, user: "user\(round % 14)", pages: 3 + round % 13, polite: round % 3 != 0))
        }
        browsers.removeAll { !$0.click() }
        if round % 8 == 0 { monitors.forEach { $0.poll() } }
        usleep(5_000)
    }
    store.stop()
    print(store.summary(), "probes", monitors.map { $0.largest })
}

runSite()
