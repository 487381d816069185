import Foundation

struct Offer: Sendable {
    let insurer: String
    let premium: Int
}

final class PendingTable: @unchecked Sendable {
    private let lock = NSLock()
    private var waiters: [Int: CheckedContinuation<Offer?, Never>] = [:]

    func wait(for id: Int) async -> Offer? {
        await withCheckedContinuation { continuation in
            lock.withLock { waiters[id] = continuation }
        }
    }

    @discardableResult
    func resolve(_ id: Int, _ offer: Offer?) -> Bool {
        let waiter = lock.withLock { waiters.removeValue(forKey: id) }
        waiter?.resume(returning: offer)
        return waiter != nil
    }

    var count: Int { lock.withLock { waiters.count } }
}

@MainActor
final class QuoteRequest {
    enum Status { case waiting, offered(Int), expired }

    let id: Int
    let customer: String
    private(set) var status = Status.waiting
    let askedAt: Int

    init(id: Int, customer: String, askedAt: Int) {
        self.id = id
        self.customer = customer
        self.askedAt = askedAt
    }

    func submit(to table: PendingTable, then done: @escaping (QuoteRequest) -> Void) {
        Task {
            if let offer = await table.wait(for: id) {
                status = .offered(offer.premium)
            } else {
                status = .expired
            }
            done(self)
        }
    }
}

@MainActor
final class QuoteDesk {
    private let table = PendingTable()
    private var open: [Int: QuoteRequest] = [:]
    private var nextID = 1
    private(set) var premiums = 0
    private(set) var expired: [String] = []

    func ask(_ customer: String, at time: Int) -> Int {
        let request = QuoteRequest(id: nextID, customer: customer, askedAt: time)
        nextID += 1
        open[request.id] = request
        request.submit(to: table) { [weak self] in self?.book($0) }
        return request.id
    }

    private func book(_ request: QuoteRequest) {
        open[request.id] = nil
        switch request.status {
        case .offered(let premium): premiums += premium
        case .expired: expired.append(request.customer)
        case .waiting: break
        }
    }

    func receive(_ offer: Offer, for id: Int) { table.resolve(id, offer) }

    func expire(olderThan time: Int) {
        for request in open.values where request.askedAt < time {
            table.resolve(request.id, nil)
        }
    }

    func ready() async throws {
        while table.count < open.count { try await Task.sleep(for: .milliseconds(1)) }
    }

    var openCount: Int { open.count }
}

@main
struct Broker {
    @MainActor static let desk = QuoteDesk()

    @MainActor
    static func main() async throws {
        for day in 1...10 {
            let ids = (1...6).map { desk.ask("customer \(day).\($0)", at: day) }
            try await desk.ready()
            for id in ids where id % 8 != 0 {
                desk.receive(Offer(insurer: "Alpha", premium: 200 + id), for: id)
            }
            try await Task.sleep(for: .milliseconds(15))
            desk.expire(olderThan: day - 1)
        }
        desk.expire(olderThan: 11)
        while desk.openCount > 0 { try await Task.sleep(for: .milliseconds(5)) }

        for day in 20..<44 {
            let id = desk.ask("late \(day)", at: day)
            try await desk.ready()
            desk.receive(Offer(insurer: "Beta", premium: day), for: id)
            try await Task.sleep(for: .milliseconds(15))
        }
        print("premiums \(desk.premiums), expired \(desk.expired.sorted()), open \(desk.openCount)")
    }
}
