import Foundation

enum QueryError: Error { case timedOut(Int) }

actor DNSResolver {
    private var pending: [Int: CheckedContinuation<String, Error>] = [:]
    private var timers: [Int: Task<Void, Never>] = [:]
    private var nextID = 0
    private(set) var timeouts = 0

    func resolve(_ host: String) async throws -> String {
        nextID += 1
        let id = nextID
        defer { timers.removeValue(forKey: id)?.cancel() }
        return try await withCheckedThrowingContinuation { continuation in
            pending[id] = continuation
            timers[id] = Task { [weak self] in
                do { try await Task.sleep(for: .milliseconds(60)) } catch { return }
                await self?.expire(id)
            }
            // Every third packet is lost.
            if id % 3 != 0 { Task { self.answer(id, "192.0.2.\(id % 250)") } }
        }
    }

    private func answer(_ id: Int, _ address: String) {
        pending.removeValue(forKey: id)?.resume(returning: address)
    }

    private func expire(_ id: Int) {
        guard let continuation = pending.removeValue(forKey: id) else { return }
        timeouts += 1
        continuation.resume(throwing: QueryError.timedOut(id))
    }

    var open: Int { pending.count }
}

@main
struct Resolver {
    static let resolver = DNSResolver()

    static func lookup(_ hosts: [String]) async -> (ok: Int, failed: Int) {
        var tasks: [Task<String, Error>] = []
        for host in hosts {
            tasks.append(Task { try await resolver.resolve(host) })
        }
        var ok = 0, failed = 0
        for task in tasks {
            do {
                _ = try await task.value
                ok += 1
            } catch {
                failed += 1
            }
        }
        return (ok, failed)
    }

    static func main() async throws {
        var ok = 0, failed = 0
        for round in 0..<6 {
            let hosts = (0..<30).map { "host\($0).zone\(round).example" }
            let result = await lookup(hosts)
            ok += result.ok
            failed += result.failed
        }
        try await Task.sleep(for: .milliseconds(100))
        print("resolved \(ok), failed \(failed), open \(await resolver.open)")
    }
}
