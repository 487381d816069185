import Foundation

enum FetchError: Error {
    case transient
    case gone
}

final class FetchRequest: @unchecked Sendable {
    let id: Int
    let path: String
    var attempts = 0
    init(id: Int) {
        self.id = id
        self.path = "/v1/items/\(id)?expand=full"
    }
}

final class DeadlineGuard: @unchecked Sendable {
    let request: FetchRequest
    let deadline: Date
    init(request: FetchRequest, seconds: Double) {
        self.request = request
        self.deadline = Date().addingTimeInterval(seconds)
    }
}

final class Document: @unchecked Sendable {
    let id: Int
    let body: String
    init(id: Int) {
        self.id = id
        self.body = String(repeating: "lorem ", count: 20)
    }
}

actor Watchdog {
    private var armed: [ObjectIdentifier: DeadlineGuard] = [:]

    func arm(_ request: FetchRequest) -> DeadlineGuard {
        let entry = DeadlineGuard(request: request, seconds: 30)
        armed[ObjectIdentifier(entry)] = entry
        return entry
    }

    func disarm(_ entry: DeadlineGuard) {
        armed.removeValue(forKey: ObjectIdentifier(entry))
    }

    func overdue() -> Int {
        let now = Date()
        return armed.values.filter { $0.deadline < now }.count
    }
}

struct Fetcher: Sendable {
    let watchdog: Watchdog

    func fetch(_ request: FetchRequest) async throws -> Document {
        for _ in 0..<4 {
            let entry = await watchdog.arm(request)
            do {
                let document = try await transfer(request)
                await watchdog.disarm(entry)
                return document
            } catch FetchError.transient {
                await watchdog.disarm(entry)
                try await Task.sleep(nanoseconds: 500_000)
            }
        }
        throw FetchError.transient
    }

    private func transfer(_ request: FetchRequest) async throws -> Document {
        request.attempts += 1
        await Task.yield()
        if request.id % 32 == 5 { throw FetchError.gone }
        if request.id % 6 == 0 && request.attempts < 3 { throw FetchError.transient }
        return Document(id: request.id)
    }
}

@main
struct FetchRetryApp {
    static let watchdog = Watchdog()
    static let fetcher = Fetcher(watchdog: watchdog)

    static func main() async {
        var stored = 0
        var missing = 0
        for page in 0..<20 {
            await withTaskGroup(of: Bool.self) { group in
                for n in 0..<32 {
                    group.addTask {
                        let document = try? await fetcher.fetch(FetchRequest(id: page * 32 + n))
                        return document != nil
                    }
                }
                for await ok in group { if ok { stored += 1 } else { missing += 1 } }
            }
            try? await Task.sleep(nanoseconds: 40_000_000)
        }
        print("stored \(stored), missing \(missing), overdue \(await watchdog.overdue())")
    }
}
