import Foundation

enum SyncError: Error { case timeout, refused }

final class CircuitBreaker: @unchecked Sendable {
    let mirror: String
    var failures = 0
    var openUntil = 0
    init(mirror: String) { self.mirror = mirror }
}

final class ManifestEntry: @unchecked Sendable {
    let path: String
    let revision: Int
    let digest: UInt64
    init(path: String, revision: Int, digest: UInt64) {
        self.path = path
        self.revision = revision
        self.digest = digest
    }
}

final class TransferFailure: @unchecked Sendable {
    let path: String
    let error: SyncError
    init(path: String, error: SyncError) {
        self.path = path
        self.error = error
    }
}

actor MirrorIndex {
    private var entries: [String: ManifestEntry] = [:]
    private var breakers: [String: CircuitBreaker] = [:]
    private var failures: [TransferFailure] = []

    func store(_ entry: ManifestEntry) { entries[entry.path] = entry }

    func note(_ failure: TransferFailure, mirror: String, tick: Int) {
        failures.append(failure)
        if failures.count > 40 { failures.removeFirst() }
        let breaker = breakers[mirror] ?? CircuitBreaker(mirror: mirror)
        breaker.failures += 1
        if breaker.failures % 10 == 0 { breaker.openUntil = tick + 2 }
        breakers[mirror] = breaker
    }

    func isOpen(_ mirror: String, tick: Int) -> Bool { (breakers[mirror]?.openUntil ?? 0) > tick }

    func digest() -> String {
        let mixed = entries.values.reduce(UInt64(0)) { $0 ^ $1.digest }
        return "entries \(entries.count) recent failures \(failures.count) breakers \(breakers.count) digest \(mixed % 9973)"
    }
}

struct Synchronizer: Sendable {
    let index: MirrorIndex

    func pull(_ path: String, revision: Int, from mirror: String, tick: Int) async {
        for attempt in 0..<3 {
            if await index.isOpen(mirror, tick: tick) { return }
            do {
                let entry = try await withThrowingTaskGroup(of: ManifestEntry.self) { group in
                    group.addTask { try await download(path, revision: revision, attempt: attempt) }
                    group.addTask {
                        try await Task.sleep(nanoseconds: 4_000_000_000)
                        throw SyncError.timeout
                    }
                    defer { group.cancelAll() }
                    return try await group.next()!
                }
                await index.store(entry)
                return
            } catch {
                await index.note(TransferFailure(path: path, error: error as? SyncError ?? .timeout), mirror: mirror, tick: tick)
            }
        }
    }

    private func download(_ path: String, revision: Int, attempt: Int) async throws -> ManifestEntry {
        await Task.yield()
        if (path.count + revision + attempt) % 5 == 0 { throw SyncError.refused }
        return ManifestEntry(path: path, revision: revision, digest: UInt64(revision) &* 2_654_435_761)
    }
}

@main
struct MirrorSyncApp {
    static let index = MirrorIndex()
    static let sync = Synchronizer(index: index)

    static func main() async {
        for tick in 0..<35 {
            await withTaskGroup(of: Void.self) { group in
                for n in 0..<24 {
                    let file = (tick * 24 + n) % 600
                    group.addTask { await sync.pull("pkg/\(file).tar", revision: tick, from: "mirror-\(n % 4)", tick: tick) }
                }
            }
            try? await Task.sleep(nanoseconds: 20_000_000)
        }
        print(await index.digest())
    }
}
