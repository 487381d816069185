import Foundation
import Synchronization

let freedSessions = Atomic<Int>(0)

func settle(_ ms: Int) async {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(ms)) {
            continuation.resume()
        }
    }
}

final class ScanSession: @unchecked Sendable {
    let host: String
    private var banners: [String] = []
    private var job: Task<Int, Error>?
    private let lock = NSLock()

    init(host: String) { self.host = host }
    deinit { freedSessions.add(1, ordering: .relaxed) }

    func start() {
        job = Task {
            try await withThrowingTaskGroup(of: Int.self) { group in
                group.addTask { try await self.sweep(ports: 1..<1024) }
                group.addTask { try await self.sweep(ports: 1024..<2048) }
                var total = 0
                for try await n in group { total += n }
                return total
            }
        }
    }

    private func sweep(ports: Range<Int>) async throws -> Int {
        var port = ports.lowerBound
        while true {
            try Task.checkCancellation()
            record("\(host):\(port) open")
            port = port + 1 == ports.upperBound ? ports.lowerBound : port + 1
            await settle(15)
        }
    }

    private func record(_ banner: String) {
        lock.withLock {
            banners.append(banner)
            if banners.count > 50 { banners.removeFirst(25) }
        }
    }

    /// Cancels the scan and waits until it has stopped.
    func stop() async -> Int {
        job?.cancel()
        let result = await job?.result
        job = nil
        if case .success(let n)? = result { return n }
        return lock.withLock { banners.count }
    }
}

@main
struct PortScanner {
    static func main() async throws {
        var found = 0
        for round in 0..<5 {
            var sessions = (0..<10).map { ScanSession(host: "198.51.100.\(round * 10 + $0)") }
            for session in sessions { session.start() }
            await settle(60)
            for session in sessions { found += await session.stop() }
            sessions.removeAll()
        }
        var patience = 0
        while freedSessions.load(ordering: .relaxed) < 50, patience < 60 {
            patience += 1
            await settle(10)
        }
        print("sessions freed:", freedSessions.load(ordering: .relaxed), found > 0)
    }
}
