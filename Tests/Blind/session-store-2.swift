import Foundation

final class Account {
    let id: Int
    let email: String
    var logins = 0
    init(id: Int, email: String) {
        self.id = id
        self.email = email
    }
}

final class WebSession {
    let token: String
    let account: Account
    let lifetime: Int
    var expiresAt: Int
    var cart: [String] = []

    init(token: String, account: Account, lifetime: Int, now: Int) {
        self.token = token
        self.account = account
        self.lifetime = lifetime
        self.expiresAt = now + lifetime
    }

    func touch(now: Int) { expiresAt = now + lifetime }
}

final class SessionStore {
    private var byToken: [String: WebSession] = [:]
    private var byAccount: [Int: Set<String>] = [:]
    private var issued = 0

    func open(for account: Account, remember: Bool, now: Int) -> WebSession {
        issued += 1
        account.logins += 1
        let session = WebSession(token: "t\(issued)-\(account.id)", account: account,
                                 lifetime: remember ? 30 * 1_440 : 20, now: now)
        byToken[session.token] = session
        byAccount[account.id, default: []].insert(session.token)
        return session
    }

    func lookup(_ token: String, now: Int) -> WebSession? {
        guard let session = byToken[token] else { return nil }
        guard session.expiresAt > now else {
            close(session)
            return nil
        }
        session.touch(now: now)
        return session
    }

    func close(_ session: WebSession) {
        byToken.removeValue(forKey: session.token)
        byAccount[session.account.id]?.remove(session.token)
        if byAccount[session.account.id]?.isEmpty == true { byAccount.removeValue(forKey: session.account.id) }
    }

    func purge(now: Int) -> Int {
        let stale = byToken.values.filter { $0.expiresAt <= now }
        stale.forEach(close)
        return stale.count
    }

    var count: Int { byToken.count }
}

let accounts = (0..<150).map { Account(id: $0, email: "user\($0)@example.org") }
let store = SessionStore()
var clock = 0
var purged = 0
for day in 0..<45 {
    for n in 0..<40 {
        let account = accounts[(day * 17 + n * 3) % accounts.count]
        let session = store.open(for: account, remember: n % 10 == 0, now: clock)
        session.cart.append("sku-\(n)")
        if n % 4 == 1 { _ = store.lookup(session.token, now: clock + 5) }
        if n % 7 == 2 { store.close(session) }
    }
    clock += 30
    purged += store.purge(now: clock)
    Thread.sleep(forTimeInterval: 0.02)
}
for account in accounts.prefix(60) { store.open(for: account, remember: false, now: clock).cart.append("gift") }
print("purged \(purged), signed in \(store.count)")
