import Foundation

final class Timing {
    var steps: [Int] = []
    func mark(_ n: Int) { steps.append(n) }
}

final class RequestContext {
    let key: String
    let path: String
    let timing = Timing()
    init(key: String, path: String) { self.key = key; self.path = path }
}

final class Reply {
    let status: Int
    let body: String
    init(status: Int, body: String) { self.status = status; self.body = body }
}

final class ContextStore {
    private var table: [String: RequestContext] = [:]
    func begin(_ c: RequestContext) { table[c.key] = c }
    func end(_ key: String) { table[key] = nil }
    func lookup(_ key: String) -> RequestContext? { table[key] }
}

final class Catalogue {
    private var items: [String: Int] = [:]
    init() { for i in 0..<100 { items["item\(i)"] = i * 25 } }
    func price(_ name: String) -> Int? { items[name] }
}

final class ShopHandler {
    private let store = ContextStore()
    private let catalogue = Catalogue()
    private(set) var served = 0
    private(set) var missing = 0

    func handle(number: Int, path: String) -> Reply {
        let context = RequestContext(key: "request-\(number)-\(number &* 2654435761 % 100003)", path: path)
        store.begin(context)
        context.timing.mark(1)
        let reply = answer(context)
        context.timing.mark(2)
        served += 1
        return reply
    }

    private func answer(_ c: RequestContext) -> Reply {
        let name = c.path.split(separator: "/").last.map(String.init) ?? ""
        guard let price = catalogue.price(name) else {
            missing += 1
            return Reply(status: 404, body: "no such article: \(name)")
        }
        return Reply(status: 200, body: "the price of \(name) is \(price) cents")
    }
}

let handler = ShopHandler()
var bytes = 0
for minute in 0..<10 {
    for i in 0..<250 {
        let n = minute * 250 + i
        let reply = handler.handle(number: n, path: "/shop/articles/item\((n * 7) % 110)")
        bytes += reply.body.utf8.count
    }
}
print("served \(handler.served) missing \(handler.missing) bytes \(bytes)")
