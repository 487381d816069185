// Upload endpoint of a print shop: customers send files in chunks.
import Foundation

enum UploadError: Error {
    case checksumMismatch(name: String)
    case quotaExceeded(name: String, size: Int)
}

struct UploadRequest {
    let customer: String
    let name: String
    let chunks: [[UInt8]]
    let checksum: UInt32
}

final class UploadSession {
    let token: Int
    let request: UploadRequest
    private(set) var received: [UInt8] = []

    init(token: Int, request: UploadRequest) {
        self.token = token
        self.request = request
    }

    func append(_ chunk: [UInt8]) { received.append(contentsOf: chunk) }

    var checksum: UInt32 { received.reduce(1) { ($0 &* 31) &+ UInt32($1) } }
}

final class SessionRegistry {
    private var active: [Int: UploadSession] = [:]
    private var nextToken = 9000

    func register(_ request: UploadRequest) -> UploadSession {
        nextToken += 1
        let session = UploadSession(token: nextToken, request: request)
        active[session.token] = session
        return session
    }

    func unregister(_ session: UploadSession) { active[session.token] = nil }
}

final class Storage {
    private var usage: [String: Int] = [:]
    let quota: Int

    init(quota: Int) { self.quota = quota }

    func store(_ session: UploadSession) throws {
        let customer = session.request.customer
        let size = session.received.count
        guard usage[customer, default: 0] + size <= quota else {
            throw UploadError.quotaExceeded(name: session.request.name, size: size)
        }
        usage[customer, default: 0] += size
    }

    var total: Int { usage.values.reduce(0, +) }
}

final class UploadHandler {
    private let registry: SessionRegistry
    private let storage: Storage

    init(registry: SessionRegistry, storage: Storage) {
        self.registry = registry
        self.storage = storage
    }

    func handle(_ request: UploadRequest) throws {
        let session = registry.register(request)
        for chunk in request.chunks { session.append(chunk) }
        guard session.checksum == request.checksum else {
            throw UploadError.checksumMismatch(name: request.name)
        }
        try storage.store(session)
        registry.unregister(session)
    }
}

func makeRequest(_ n: Int) -> UploadRequest {
    let chunks = (0..<3).map { c in (0..<64).map { UInt8(($0 * 5 + n + c) % 251) } }
    var checksum = chunks.joined().reduce(UInt32(1)) { ($0 &* 31) &+ UInt32($1) }
    if n % 4 == 3 { checksum ^= 0x40 }
    return UploadRequest(customer: "studio\(n % 9)", name: "poster-\(n).pdf", chunks: chunks, checksum: checksum)
}

let registry = SessionRegistry()
let storage = Storage(quota: 1_000_000)
let handler = UploadHandler(registry: registry, storage: storage)
var stored = 0
var mismatches = 0
var rejected = 0
for n in 0..<500 {
    do {
        try handler.handle(makeRequest(n))
        stored += 1
    } catch UploadError.checksumMismatch {
        mismatches += 1
    } catch {
        rejected += 1
    }
    if n % 40 == 0 { usleep(6000) }
}
print("uploads: 500, stored: \(stored), checksum mismatches: \(mismatches), over quota: \(rejected)")
print("bytes stored: \(storage.total)")
