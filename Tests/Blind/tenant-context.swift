import Foundation

final class RequestContext: Sendable {
    @TaskLocal static var current: RequestContext?
    let id: Int
    let tenant: String
    let body: [UInt8]
    init(id: Int, tenant: String, bytes: Int) {
        self.id = id
        self.tenant = tenant
        body = [UInt8](repeating: 0x61, count: bytes)
    }
}

actor TokenCache {
    static let shared = TokenCache()
    private var tokens: [String: Int] = [:]

    func token(for tenant: String) -> Int {
        if let token = tokens[tenant] { return token }
        tokens[tenant] = 1
        startRefresher(tenant)
        return 1
    }

    private func startRefresher(_ tenant: String) {
        Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(60))
                await TokenCache.shared.renew(tenant)
            }
        }
    }

    private func renew(_ tenant: String) {
        tokens[tenant, default: 0] += 1
    }
}

struct APIHandler: Sendable {
    func handle() async -> Int {
        guard let context = RequestContext.current else { return 401 }
        let token = await TokenCache.shared.token(for: context.tenant)
        await audit("token \(token)")
        return context.body.isEmpty ? 400 : 200
    }

    private func audit(_ text: String) async {
        guard let context = RequestContext.current else { return }
        await AuditLog.shared.append("\(context.tenant)/\(context.id): \(text)")
    }
}

actor AuditLog {
    static let shared = AuditLog()
    private var lines: [String] = []
    private(set) var total = 0
    func append(_ line: String) {
        total += 1
        lines.append(line)
        if lines.count > 20 { lines.removeFirst(10) }
    }
}

@main
struct APIServer {
    static func main() async throws {
        var id = 0
        var ok = 0
        for _ in 0..<6 {
            let statuses = await withTaskGroup(of: Int.self) { group in
                for n in 0..<16 {
                    id += 1
                    let context = RequestContext(id: id, tenant: "tenant-\(n % 8)", bytes: 20_000)
                    group.addTask {
                        await RequestContext.$current.withValue(context) {
                            await APIHandler().handle()
                        }
                    }
                }
                var all: [Int] = []
                for await status in group { all.append(status) }
                return all
            }
            ok += statuses.filter { $0 == 200 }.count
            try await Task.sleep(for: .milliseconds(80))
        }
        print("requests ok:", ok, "audited:", await AuditLog.shared.total)
    }
}
