import Foundation

actor NodeRegistry {
    static let shared = NodeRegistry()
    private var beats: [String: Int] = [:]
    func beat(_ node: String) { beats[node, default: 0] += 1 }
    func remove(_ node: String) { beats[node] = nil }
    var count: Int { beats.count }
}

/// Lives as long as the process.
final class Heartbeat: @unchecked Sendable {
    static let shared = Heartbeat()
    private var loop: Task<Void, Never>?
    private var sequence = 0

    func start(node: String) {
        loop = Task.detached {
            while !Task.isCancelled {
                self.sequence += 1
                await NodeRegistry.shared.beat(node)
                try? await Task.sleep(for: .milliseconds(30))
            }
        }
    }
}

final class CompactionWorker: @unchecked Sendable {
    let shard: Int
    private var runs = 0
    init(shard: Int) { self.shard = shard }

    func run() {
        Task {
            while true {
                self.runs += 1
                try await Task.sleep(for: .milliseconds(70 + shard))
            }
        }
    }
}

/// Watches one replication session; must not keep it alive.
final class LagMonitor: @unchecked Sendable {
    private var lag: [Int] = []
    private let lock = NSLock()
    let peer: String

    init(peer: String) {
        self.peer = peer
        Task { [weak self] in
            while !Task.isCancelled {
                guard self?.measure() != nil else { return }
                try? await Task.sleep(for: .milliseconds(25))
            }
        }
    }

    private func measure() {
        lock.withLock {
            lag.append(lag.count % 13)
            if lag.count > 32 { lag.removeFirst() }
        }
    }

    var worst: Int { lock.withLock { lag.max() ?? 0 } }
}

@main
struct StorageNode {
    static func main() async throws {
        Heartbeat.shared.start(node: "node-a")
        for shard in 0..<3 { CompactionWorker(shard: shard).run() }

        var worst = 0
        for round in 0..<5 {
            var monitors = (0..<10).map { LagMonitor(peer: "peer-\(round)-\($0)") }
            try await Task.sleep(for: .milliseconds(90))
            worst = max(worst, monitors.map(\.worst).max() ?? 0)
            monitors.removeAll()
        }
        try await Task.sleep(for: .milliseconds(200))
        print("nodes alive:", await NodeRegistry.shared.count, worst >= 0)
    }
}
