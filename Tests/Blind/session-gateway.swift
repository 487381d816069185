import Foundation

// Session front end of the portal: logins create a session, requests touch it,
// old sessions are dropped from the table in order of their deadline.

enum ClientKind {
    case browser, mobile, service

    var lifetime: Int {
        switch self {
        case .browser: return 12
        case .mobile: return 12
        case .service: return 86_400
        }
    }
}

final class Session {
    let token: String
    let user: Int
    let kind: ClientKind
    let deadline: Int
    private(set) var hits = 0
    private var attributes: [String: String] = [:]

    init(token: String, user: Int, kind: ClientKind, now: Int) {
        self.token = token
        self.user = user
        self.kind = kind
        deadline = now + kind.lifetime
        attributes["locale"] = user % 3 == 0 ? "de_CH" : "en_GB"
        attributes["csrf"] = String(token.reversed())
    }

    func touch(_ path: String) -> Int {
        hits += 1
        attributes["last"] = path
        return attributes.values.reduce(0) { $0 + $1.utf8.count }
    }
}

struct TokenMint {
    private var counter: UInt64 = 0x9e3779b97f4a7c15

    mutating func next() -> String {
        var z = counter
        counter &+= 0x9e3779b97f4a7c15
        z = (z ^ (z >> 30)) &* 0xbf58476d1ce4e5b9
        z = (z ^ (z >> 27)) &* 0x94d049bb133111eb
        return String(z ^ (z >> 31), radix: 36)
    }
}

final class SessionTable {
    private var byToken: [String: Session] = [:]
    private var expiryOrder: [Session] = []
    private(set) var expired = 0
    private(set) var opened = 0

    func open(token: String, user: Int, kind: ClientKind, now: Int) -> Session {
        let session = Session(token: token, user: user, kind: kind, now: now)
        byToken[token] = session
        expiryOrder.append(session)
        opened += 1
        return session
    }

    func lookup(_ token: String, now: Int) -> Session? {
        guard let session = byToken[token], session.deadline > now else { return nil }
        return session
    }

    func expire(now: Int) {
        var passed = 0
        while passed < expiryOrder.count, expiryOrder[passed].deadline <= now {
            byToken[expiryOrder[passed].token] = nil
            passed += 1
        }
        expiryOrder.removeFirst(passed)
        expired += passed
    }
}

final class FrontEnd {
    private let table = SessionTable()
    private var mint = TokenMint()
    private var recent: [String] = []
    private var served = 0
    private var denied = 0
    private var bytes = 0

    func login(user: Int, kind: ClientKind, now: Int) {
        let session = table.open(token: mint.next(), user: user, kind: kind, now: now)
        recent.append(session.token)
        if recent.count > 200 { recent.removeFirst(100) }
    }

    func request(_ index: Int, path: String, now: Int) {
        guard !recent.isEmpty else { return }
        if let session = table.lookup(recent[index % recent.count], now: now) {
            served += 1
            bytes += session.touch(path)
        } else {
            denied += 1
        }
    }

    func tick(now: Int) { table.expire(now: now) }

    var line: String {
        "opened \(table.opened) expired \(table.expired) served \(served) denied \(denied) bytes \(bytes)"
    }
}

let frontEnd = FrontEnd()
let paths = ["/inbox", "/inbox/unread", "/calendar", "/files/shared", "/profile"]

for second in 0..<150 {
    for slot in 0..<20 {
        frontEnd.login(user: second * 20 + slot, kind: slot % 4 == 0 ? .mobile : .browser, now: second)
    }
    if second == 45 {
        frontEnd.login(user: 1, kind: .service, now: second)
    }
    for index in 0..<120 {
        frontEnd.request(second &* 37 &+ index &* 11, path: paths[index % paths.count], now: second)
    }
    frontEnd.tick(now: second)
    if second % 50 == 49 { print(frontEnd.line) }
    usleep(6_000)
}
