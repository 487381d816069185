import Foundation

enum UploadError: Error {
    case tooLarge(Int)
    case checksumMismatch
    case aborted
}

struct UploadRequest {
    let name: String
    let chunks: [[UInt8]]
    let expectedSum: UInt32
    let abortAfter: Int?
}

final class UploadSession {
    let id: Int
    let name: String
    private(set) var received: [UInt8] = []

    init(id: Int, name: String) {
        self.id = id
        self.name = name
    }

    func append(_ chunk: [UInt8]) { received += chunk }

    var adler: UInt32 {
        var a: UInt32 = 1, b: UInt32 = 0
        for byte in received {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return b << 16 | a
    }
}

final class SessionRegistry {
    private var active: [Int: UploadSession] = [:]
    private var serial = 0
    private(set) var peak = 0

    func open(name: String) -> UploadSession {
        serial += 1
        let session = UploadSession(id: serial, name: name)
        active[serial] = session
        peak = max(peak, active.count)
        return session
    }

    func close(_ session: UploadSession) {
        active.removeValue(forKey: session.id)
    }

    var count: Int { active.count }
}

struct UploadHandler {
    let registry: SessionRegistry
    let maxBytes: Int

    func handle(_ request: UploadRequest) throws -> Int {
        let session = registry.open(name: request.name)
        defer { registry.close(session) }

        for (i, chunk) in request.chunks.enumerated() {
            if let limit = request.abortAfter, i >= limit {
                throw UploadError.aborted
            }
            session.append(chunk)
            if session.received.count > maxBytes {
                throw UploadError.tooLarge(session.received.count)
            }
        }
        guard session.adler == request.expectedSum else {
            throw UploadError.checksumMismatch
        }
        return session.received.count
    }
}

func makeRequest(_ n: Int) -> UploadRequest {
    let chunks = (0..<(1 + n % 6)).map { c in
        (0..<(40 + n % 25)).map { UInt8(truncatingIfNeeded: $0 &* 5 &+ c &* 31 &+ n) }
    }
    let probe = UploadSession(id: 0, name: "probe")
    chunks.forEach(probe.append)
    let sum = n % 13 == 6 ? probe.adler ^ 1 : probe.adler
    return UploadRequest(name: "scan-\(n).tiff", chunks: chunks, expectedSum: sum,
                         abortAfter: n % 9 == 4 ? n % 3 : nil)
}

let registry = SessionRegistry()
let handler = UploadHandler(registry: registry, maxBytes: 330)
var stored = 0, bytes = 0, large = 0, mismatched = 0, aborted = 0

for n in 0..<2400 {
    do {
        bytes += try handler.handle(makeRequest(n))
        stored += 1
    } catch UploadError.tooLarge {
        large += 1
    } catch UploadError.checksumMismatch {
        mismatched += 1
    } catch {
        aborted += 1
    }
}

print("stored \(stored) files, \(bytes) bytes")
print("too large \(large), mismatched \(mismatched), aborted \(aborted)")
print("open sessions \(registry.count), peak \(registry.peak)")
