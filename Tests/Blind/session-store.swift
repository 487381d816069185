import Foundation

// Session handling for a web shop: sessions expire after a period without use,
// and carts live inside the session.

protocol Clock: AnyObject { var now: Int { get } }

final class ManualClock: Clock {
    private(set) var now = 0
    func advance(by seconds: Int) { now += seconds }
}

final class CartItem {
    let sku: Int
    var quantity: Int
    init(sku: Int, quantity: Int) {
        self.sku = sku
        self.quantity = quantity
    }
}

final class Session {
    let id: String
    let user: Int
    fileprivate(set) var expires: Int
    private(set) var cart: [CartItem] = []
    private(set) var history: [String] = []
    weak var store: SessionStore?

    init(id: String, user: Int, expires: Int, store: SessionStore) {
        self.id = id
        self.user = user
        self.expires = expires
        self.store = store
    }

    func add(_ sku: Int) {
        if let item = cart.first(where: { $0.sku == sku }) {
            item.quantity += 1
        } else {
            cart.append(CartItem(sku: sku, quantity: 1))
        }
    }

    func visit(_ page: String) {
        history.append(page)
        if history.count > 12 { history.removeFirst() }
    }

    func logout() { store?.end(self) }
    var items: Int { cart.reduce(0) { $0 + $1.quantity } }
}

final class SessionStore {
    private var sessions: [String: Session] = [:]
    private var byUser: [Int: Set<String>] = [:]
    private var wheel: [Int: [String]] = [:]
    private unowned let clock: Clock
    private let lifetime: Int
    private var counter = 0
    private var lastSweep = 0
    private(set) var expired = 0
    private(set) var peak = 0

    init(clock: Clock, lifetime: Int) {
        self.clock = clock
        self.lifetime = lifetime
    }

    func open(user: Int) -> Session {
        counter += 1
        let id = String(UInt64(counter) &* 0x9E37_79B9_7F4A_7C15, radix: 16)
        let session = Session(id: id, user: user, expires: clock.now + lifetime, store: self)
        sessions[id] = session
        byUser[user, default: []].insert(id)
        wheel[session.expires, default: []].append(id)
        peak = max(peak, sessions.count)
        return session
    }

    func touch(_ id: String) -> Session? {
        guard let session = sessions[id], session.expires > clock.now else { return nil }
        session.expires = clock.now + lifetime
        return session
    }

    func end(_ session: Session) {
        sessions[session.id] = nil
        byUser[session.user]?.remove(session.id)
        if byUser[session.user]?.isEmpty == true { byUser[session.user] = nil }
    }

    func sweep() {
        while lastSweep <= clock.now {
            for id in wheel.removeValue(forKey: lastSweep) ?? [] {
                guard let session = sessions[id] else { continue }
                if session.expires <= clock.now {
                    end(session)
                    expired += 1
                } else {
                    wheel[session.expires, default: []].append(id)
                }
            }
            lastSweep += 1
        }
    }

    func sessions(of user: Int) -> [Session] { (byUser[user] ?? []).compactMap { sessions[$0] } }
    var count: Int { sessions.count }
}

final class Shop {
    private let store: SessionStore
    private(set) var orders = 0
    private(set) var units = 0
    private(set) var rejected = 0

    init(store: SessionStore) { self.store = store }

    func browse(_ id: String, page: Int) -> Bool {
        guard let session = store.touch(id) else { rejected += 1; return false }
        session.visit("/product/\(page)")
        if page % 3 == 0 { session.add(page) }
        return true
    }

    func checkout(_ id: String) {
        guard let session = store.touch(id) else { rejected += 1; return }
        if session.items > 0 {
            orders += 1
            units += session.items
        }
        session.logout()
    }
}

struct Visitors {
    private var seed: UInt32 = 1979
    mutating func pick(_ bound: Int) -> Int {
        seed ^= seed << 13
        seed ^= seed >> 17
        seed ^= seed << 5
        return Int(seed) % bound
    }
}

let clock = ManualClock()
let store = SessionStore(clock: clock, lifetime: 120)
let shop = Shop(store: store)
var visitors = Visitors()
var known: [String] = []
var multiple = 0
for second in 0..<23_000 {
    for _ in 0..<5 {
        known.append(store.open(user: visitors.pick(2_000)).id)
    }
    for _ in 0..<40 {
        let position = visitors.pick(known.count)
        if !shop.browse(known[position], page: visitors.pick(900)) { known.swapAt(position, known.count - 1); known.removeLast() }
        if known.isEmpty { break }
    }
    if second % 2 == 0, !known.isEmpty { shop.checkout(known.remove(at: visitors.pick(known.count))) }
    if store.sessions(of: visitors.pick(2_000)).count > 1 { multiple += 1 }
    clock.advance(by: 1)
    store.sweep()
    if known.count > 1_500 { known.removeFirst(known.count - 1_500) }
}
print("orders \(shop.orders) with \(shop.units) units, rejected \(shop.rejected)")
print("sessions open \(store.count), expired \(store.expired), peak \(store.peak), users seen twice \(multiple)")
