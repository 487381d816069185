import Foundation

final class BuildRequest: Sendable {
    let client: String
    let target: String
    init(client: String, target: String) {
        self.client = client
        self.target = target
    }
}

actor BuildCoordinator {
    static let shared = BuildCoordinator()
    private var waiters: [String: [UnsafeContinuation<String, Never>]] = [:]
    private(set) var waitingSince = 0
    private(set) var succeeded = 0
    private(set) var failed = 0

    func artifact(for request: BuildRequest) async -> String {
        await withUnsafeContinuation { continuation in
            waitingSince += 1
            waiters[request.target, default: []].append(continuation)
        }
    }

    func buildFinished(_ target: String, exitCode: Int) {
        guard exitCode == 0 else {
            failed += 1
            return
        }
        for continuation in waiters.removeValue(forKey: target) ?? [] {
            succeeded += 1
            continuation.resume(returning: "/cache/\(target).tar")
        }
    }
}

actor Deliveries {
    static let shared = Deliveries()
    private(set) var count = 0
    func deliver(_ path: String, to client: String) { count += 1 }
}

func requestArtifact(client: String, target: String) {
    let request = BuildRequest(client: client, target: target)
    Task {
        let path = await BuildCoordinator.shared.artifact(for: request)
        await Deliveries.shared.deliver(path, to: request.client)
    }
}

@main
struct BuildCacheServer {
    static func main() async throws {
        let coordinator = BuildCoordinator.shared
        for commit in 1...5 {
            let targets = ["core", "net", "ui", "docs", "tests"].map { "\($0)@\(commit)" }
            for target in targets {
                for n in 0..<8 { requestArtifact(client: "ci-\(n)", target: target) }
            }
            while await coordinator.waitingSince < commit * 40 {
                try await Task.sleep(for: .milliseconds(3))
            }
            for target in targets {
                let broken = target.hasPrefix("tests")
                await coordinator.buildFinished(target, exitCode: broken ? 65 : 0)
            }
            while await Deliveries.shared.count < commit * 32 {
                try await Task.sleep(for: .milliseconds(3))
            }
            try await Task.sleep(for: .milliseconds(60))
        }
        try await Task.sleep(for: .milliseconds(150))
        print("artifacts delivered:", await Deliveries.shared.count, "failed builds:", await coordinator.failed)
    }
}
