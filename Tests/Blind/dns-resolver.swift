import Foundation

enum ResponseCode: UInt8 {
    case noError = 0
    case formatError = 1
    case serverFailure = 2
    case nameError = 3
}

struct Response {
    let transaction: UInt16
    let code: ResponseCode
    let addresses: [String]
    let ttl: Int
}

final class PendingQuery {
    let transaction: UInt16
    let host: String
    let sentAt: Int
    let completion: (Result<[String], ResolveError>) -> Void

    init(transaction: UInt16, host: String, sentAt: Int, completion: @escaping (Result<[String], ResolveError>) -> Void) {
        self.transaction = transaction
        self.host = host
        self.sentAt = sentAt
        self.completion = completion
    }
}

struct ResolveError: Error {
    let host: String
    let code: ResponseCode
}

final class Resolver {
    private var pending: [UInt16: PendingQuery] = [:]
    private var cache: [String: (addresses: [String], expires: Int)] = [:]
    private var nextTransaction: UInt16 = 1
    private(set) var cacheHits = 0
    var clock = 0

    func resolve(_ host: String, completion: @escaping (Result<[String], ResolveError>) -> Void) -> UInt16? {
        if let entry = cache[host], entry.expires > clock {
            cacheHits += 1
            completion(.success(entry.addresses))
            return nil
        }
        let transaction = nextTransaction
        nextTransaction &+= 1
        let query = PendingQuery(transaction: transaction, host: host, sentAt: clock, completion: completion)
        pending[transaction] = query
        return transaction
    }

    func receive(_ response: Response) {
        guard let query = pending[response.transaction] else { return }
        guard response.code == .noError else {
            query.completion(.failure(ResolveError(host: query.host, code: response.code)))
            return
        }
        cache[query.host] = (response.addresses, clock + response.ttl)
        query.completion(.success(response.addresses))
        pending.removeValue(forKey: response.transaction)
    }
}

struct Upstream {
    func answer(_ transaction: UInt16, host: Int) -> Response {
        if host % 8 == 5 {
            return Response(transaction: transaction, code: .nameError, addresses: [], ttl: 0)
        }
        if host % 16 == 10 {
            return Response(transaction: transaction, code: .serverFailure, addresses: [], ttl: 0)
        }
        return Response(transaction: transaction, code: .noError, addresses: ["10.0.\(host % 200).\(host % 250)"], ttl: 6)
    }
}

let resolver = Resolver()
let upstream = Upstream()
var resolved = 0
var failures: [ResponseCode: Int] = [:]

for round in 0..<1200 {
    resolver.clock = round / 100
    let host = (round * 7) % 400
    let transaction = resolver.resolve("svc-\(host).mesh.internal") { result in
        switch result {
        case .success(let addresses): resolved += addresses.count
        case .failure(let error): failures[error.code, default: 0] += 1
        }
    }
    if let transaction {
        resolver.receive(upstream.answer(transaction, host: host))
    }
}

print("resolved: \(resolved), cache hits: \(resolver.cacheHits)")
print("name errors: \(failures[.nameError] ?? 0), server failures: \(failures[.serverFailure] ?? 0)")
