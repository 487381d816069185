import Foundation

final class Avatar: Sendable {
    let user: String
    let pixels: [UInt8]
    init(user: String) {
        self.user = user
        pixels = [UInt8](repeating: UInt8(user.utf8.count), count: 3000)
    }
}

enum LoadError: Error { case gone(String) }

actor AvatarCache {
    static let shared = AvatarCache(limit: 50)
    private let limit: Int
    private var cached: [String: Avatar] = [:]
    private var order: [String] = []
    private var inFlight: [String: Task<Avatar, Error>] = [:]
    private(set) var downloads = 0

    init(limit: Int) { self.limit = limit }

    func avatar(for user: String, slow: Bool = false) async throws -> Avatar {
        if let avatar = cached[user] { return avatar }
        if let task = inFlight[user] { return try await task.value }
        let task = Task { try await Self.download(user, slow: slow) }
        inFlight[user] = task
        defer { inFlight[user] = nil }
        downloads += 1
        let avatar = try await task.value
        insert(avatar)
        return avatar
    }

    private func insert(_ avatar: Avatar) {
        cached[avatar.user] = avatar
        order.append(avatar.user)
        while order.count > limit { cached[order.removeFirst()] = nil }
    }

    private static func download(_ user: String, slow: Bool) async throws -> Avatar {
        try await Task.sleep(for: .milliseconds(slow ? 5_000 : 3))
        if user.hasSuffix("7") { throw LoadError.gone(user) }
        return Avatar(user: user)
    }

    var running: Int { inFlight.count }
    var size: Int { cached.count }
}

@main
struct TimelineApp {
    static func main() async throws {
        let cache = AvatarCache.shared
        var missing = 0
        for page in 0..<6 {
            missing += await withTaskGroup(of: Bool.self) { group in
                for n in 0..<60 {
                    let user = "user\(page * 10 + n % 30)"
                    group.addTask {
                        do {
                            _ = try await cache.avatar(for: user)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 0 : 1) }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        // The user closes the app while some pictures are still coming.
        for n in 0..<3 {
            Task { _ = try? await cache.avatar(for: "celebrity-\(n)", slow: true) }
        }
        while await cache.running < 3 { try await Task.sleep(for: .milliseconds(3)) }
        try await Task.sleep(for: .milliseconds(30))
        print("cached \(await cache.size), running \(await cache.running), missing \(missing)")
        exit(0)
    }
}
