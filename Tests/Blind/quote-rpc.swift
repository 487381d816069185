import Foundation

enum CallError: Error {
    case timedOut(sequence: Int)
}

final class QuoteRequest: @unchecked Sendable {
    let symbol: String
    let order: Int
    private(set) var encoded: [UInt8]

    init(symbol: String, order: Int) {
        self.symbol = symbol
        self.order = order
        self.encoded = Array("QUOTE \(symbol) \(order)\r\n".utf8)
        encoded.reserveCapacity(256)
    }
}

final class PendingCall {
    let sequence: Int
    let request: QuoteRequest
    var continuation: CheckedContinuation<Int, Error>?

    init(sequence: Int, request: QuoteRequest, continuation: CheckedContinuation<Int, Error>) {
        self.sequence = sequence
        self.request = request
        self.continuation = continuation
    }
}

struct WireFrame: Sendable {
    let sequence: Int
    let order: Int
    let bytes: [UInt8]
}

actor QuoteClient {
    private var pending: [Int: PendingCall] = [:]
    private var deadlines: [(tick: Int, sequence: Int)] = []
    private var outbox: [WireFrame] = []
    private var clock = 0
    private var nextSequence = 0
    private(set) var waiting = 0

    func quote(_ symbol: String, order: Int) async throws -> Int {
        let request = QuoteRequest(symbol: symbol, order: order)
        return try await withCheckedThrowingContinuation { continuation in
            nextSequence += 1
            waiting += 1
            let call = PendingCall(sequence: nextSequence, request: request, continuation: continuation)
            pending[call.sequence] = call
            deadlines.append((clock + 3, call.sequence))
            outbox.append(WireFrame(sequence: call.sequence, order: order, bytes: request.encoded))
        }
    }

    func takeOutbox() -> [WireFrame] {
        defer { outbox.removeAll(keepingCapacity: true) }
        return outbox
    }

    func receive(sequence: Int, price: Int) {
        guard let call = pending.removeValue(forKey: sequence) else { return }
        complete(call, with: .success(price))
    }

    func advance() {
        clock += 1
        while let first = deadlines.first, first.tick <= clock {
            deadlines.removeFirst()
            if let call = pending[first.sequence] {
                complete(call, with: .failure(CallError.timedOut(sequence: call.sequence)))
            }
        }
    }

    private func complete(_ call: PendingCall, with result: Result<Int, Error>) {
        guard let continuation = call.continuation else { return }
        call.continuation = nil
        waiting -= 1
        continuation.resume(with: result)
    }
}

struct Exchange {
    /// The feed handler loses every sixth order.
    func price(for frame: WireFrame) -> Int? {
        if frame.order % 6 == 5 { return nil }
        return frame.bytes.reduce(1000) { $0 + Int($1) }
    }
}

struct RoundResult: Sendable {
    var sum = 0
    var answered = 0
    var timedOut = 0
}

@main
struct QuoteBoard {
    static let client = QuoteClient()
    static let symbols = ["VOLV", "SAND", "ERIC", "NDA", "ABB"]

    static func pump(_ exchange: Exchange) async {
        for frame in await client.takeOutbox() {
            if let price = exchange.price(for: frame) {
                await client.receive(sequence: frame.sequence, price: price)
            }
        }
        await client.advance()
    }

    static func round(_ index: Int, exchange: Exchange) async -> RoundResult {
        await withTaskGroup(of: Int?.self) { group in
            for slot in 0..<6 {
                let order = index * 6 + slot
                group.addTask {
                    try? await client.quote(symbols[order % symbols.count], order: order)
                }
            }
            group.addTask {
                var quiet = 0
                while quiet < 2 {
                    try? await Task.sleep(nanoseconds: 500_000)
                    await pump(exchange)
                    quiet = await client.waiting == 0 ? quiet + 1 : 0
                }
                return -1
            }
            var result = RoundResult()
            for await value in group {
                switch value {
                case .some(-1): break
                case .some(let price):
                    result.answered += 1
                    result.sum += price
                case .none:
                    result.timedOut += 1
                }
            }
            return result
        }
    }

    static func main() async {
        let exchange = Exchange()
        var total = RoundResult()
        for index in 0..<150 {
            let result = await round(index, exchange: exchange)
            total.sum += result.sum
            total.answered += result.answered
            total.timedOut += result.timedOut
        }
        let still = await client.waiting
        print("answered \(total.answered), timed out \(total.timedOut), sum \(total.sum), waiting \(still)")
    }
}
