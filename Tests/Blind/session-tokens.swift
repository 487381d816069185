import Foundation

final class AccessToken {
    let id: Int
    let user: String
    let expires: Int
    var uses = 0

    init(id: Int, user: String, expires: Int) {
        self.id = id
        self.user = user
        self.expires = expires
    }
}

final class TokenStore {
    private var byID: [Int: AccessToken] = [:]
    private var deadlines: [(deadline: Int, id: Int)] = []
    private var nextID = 1
    private(set) var expiredCount = 0

    func issue(user: String, now: Int, ttl: Int) -> Int {
        let token = AccessToken(id: nextID, user: user, expires: now + ttl)
        nextID += 1
        byID[token.id] = token
        deadlines.append((token.expires, token.id))
        return token.id
    }

    func validate(_ id: Int) -> Bool {
        guard let token = byID[id] else { return false }
        token.uses += 1
        return true
    }

    func expire(now: Int) {
        var kept: [(deadline: Int, id: Int)] = []
        for item in deadlines {
            if item.deadline <= now {
                if byID.removeValue(forKey: item.id) != nil { expiredCount += 1 }
            } else {
                kept.append(item)
            }
        }
        deadlines = kept
    }

    var live: Int { byID.count }
}

final class LoginService {
    let store: TokenStore
    private(set) var accepted = 0
    private(set) var denied = 0

    init(store: TokenStore) { self.store = store }

    func handle(_ id: Int) {
        if store.validate(id) { accepted += 1 } else { denied += 1 }
    }
}

let store = TokenStore()
let service = LoginService(store: store)
var recent: [Int] = []

for now in 0..<200 {
    store.expire(now: now)
    for n in 0..<6 {
        recent.append(store.issue(user: "user-\(n)", now: now, ttl: 4 + n % 3))
    }
    for id in recent.suffix(60) { service.handle(id) }
    if recent.count > 120 { recent.removeFirst(60) }
}
print("live \(store.live) expired \(store.expiredCount) ok \(service.accepted) denied \(service.denied)")
