import Foundation

// Session store of the customer login. Deadlines are kept in a binary heap because
// service accounts live much longer than interactive users.

struct Deadline: Comparable {
    let at: Int
    let token: String
    static func < (a: Deadline, b: Deadline) -> Bool { a.at < b.at }
}

struct MinHeap<Element: Comparable> {
    private var items: [Element] = []
    var first: Element? { items.first }
    var count: Int { items.count }

    mutating func push(_ element: Element) {
        items.append(element)
        var child = items.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard items[child] < items[parent] else { break }
            items.swapAt(child, parent)
            child = parent
        }
    }

    mutating func pop() -> Element? {
        guard let top = items.first else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return top }
        items[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < items.count && items[child] < items[smallest] {
                smallest = child
            }
            if smallest == parent { return top }
            items.swapAt(parent, smallest)
            parent = smallest
        }
    }
}

final class LoginSession {
    let account: Int
    let scopes: Set<String>
    var lastPath = "/"
    var requests = 0

    init(account: Int, scopes: Set<String>) {
        self.account = account
        self.scopes = scopes
    }
}

struct SessionStore {
    private var sessions: [String: LoginSession] = [:]
    private var deadlines = MinHeap<Deadline>()
    private(set) var evicted = 0

    mutating func create(account: Int, now: Int, lifetime: Int) -> String {
        let seed = UInt64(account) &* 0x2545f4914f6cdd1d ^ UInt64(now)
        let token = "s" + String(seed, radix: 32)
        let scopes: Set<String> = account % 5 == 0 ? ["read", "write", "admin"] : ["read", "write"]
        sessions[token] = LoginSession(account: account, scopes: scopes)
        deadlines.push(Deadline(at: now + lifetime, token: token))
        return token
    }

    func authorize(_ token: String, scope: String, path: String) -> Bool {
        guard let session = sessions[token], session.scopes.contains(scope) else { return false }
        session.requests += 1
        session.lastPath = path
        return true
    }

    mutating func evict(now: Int) {
        while let next = deadlines.first, next.at <= now {
            _ = deadlines.pop()
            if sessions.removeValue(forKey: next.token) != nil { evicted += 1 }
        }
    }

    var active: Int { sessions.count }
}

var store = SessionStore()
var window: [String] = []
var granted = 0
var refused = 0

for second in 0..<160 {
    for slot in 0..<18 {
        let account = second * 18 + slot + 1
        window.append(store.create(account: account, now: second, lifetime: 10 + slot % 5))
    }
    if second % 40 == 15 {
        window.append(store.create(account: 900_000 + second, now: second, lifetime: 3_600))
    }
    if window.count > 240 { window.removeFirst(window.count - 240) }
    for probe in 0..<110 {
        let token = window[(probe &* 29 &+ second) % window.count]
        let scope = probe % 9 == 0 ? "admin" : "read"
        if store.authorize(token, scope: scope, path: "/accounts/\(probe)") { granted += 1 } else { refused += 1 }
    }
    store.evict(now: second)
    if second % 80 == 79 {
        print("t=\(second + 1) active=\(store.active) evicted=\(store.evicted)")
    }
    usleep(6_000)
}
print("granted=\(granted) refused=\(refused)")
