import Foundation

final class EffectToken: @unchecked Sendable {
    let label: String
    private let stop: @Sendable () -> Void

    init(label: String, stop: @escaping @Sendable () -> Void) {
        self.label = label
        self.stop = stop
    }

    func cancel() { stop() }
}

final class CancellationTable: @unchecked Sendable {
    static let shared = CancellationTable()

    private let lock = NSLock()
    private var tokens: [UUID: [EffectToken]] = [:]

    func insert(_ token: EffectToken, for id: UUID) {
        lock.withLock {
            tokens[id, default: []].append(token)
        }
    }

    func cancelAll(for id: UUID) {
        let removed = lock.withLock { tokens.removeValue(forKey: id) }
        removed?.forEach { $0.cancel() }
    }
}

func withCancellation<Value: Sendable>(
    id: UUID,
    label: String,
    operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    let task = Task { try await operation() }
    let token = EffectToken(label: label) { task.cancel() }
    CancellationTable.shared.insert(token, for: id)
    return try await withTaskCancellationHandler {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}

actor SearchFeature {
    private(set) var results = 0
    private(set) var cancelled = 0

    func run(query: Int) async {
        let id = UUID()
        let slow = query % 4 == 3
        let effect = Task {
            try await withCancellation(id: id, label: "query-\(query)") {
                try await Task.sleep(nanoseconds: slow ? 5_000_000_000 : 1_000_000)
                return query * 2
            }
        }
        if slow {
            try? await Task.sleep(nanoseconds: 3_000_000)
            CancellationTable.shared.cancelAll(for: id)
        }
        switch await effect.result {
        case .success: results += 1
        case .failure: cancelled += 1
        }
    }
}

func main() async {
    let feature = SearchFeature()
    for query in 0..<192 {
        await feature.run(query: query)
    }
    print("results \(await feature.results), cancelled \(await feature.cancelled)")
}

await main()
