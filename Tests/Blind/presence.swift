import Foundation

enum RoomError: Error { case closed(String) }

actor PresenceService {
    static let shared = PresenceService()
    private var waiters: [String: [Int: CheckedContinuation<Int, Error>]] = [:]
    private var nextID = 0
    private(set) var joined = 0
    private(set) var present = 0

    func waitForHost(in room: String) async throws -> Int {
        nextID += 1
        let id = nextID
        return try await withCheckedThrowingContinuation { continuation in
            joined += 1
            waiters[room, default: [:]][id] = continuation
        }
    }

    func hostArrived(in room: String) {
        let list = waiters.removeValue(forKey: room) ?? [:]
        for (id, continuation) in list { continuation.resume(returning: id) }
    }

    func roomClosed(_ room: String) {
        let list = waiters.removeValue(forKey: room) ?? [:]
        for continuation in list.values { continuation.resume(throwing: RoomError.closed(room)) }
    }

    func didEnter() { present += 1 }
    var stillWaiting: Int { waiters.values.reduce(0) { $0 + $1.count } }
}

final class Guest: Sendable {
    let name: String
    init(name: String) { self.name = name }

    func enter(_ room: String) async -> Bool {
        do {
            _ = try await PresenceService.shared.waitForHost(in: room)
            await PresenceService.shared.didEnter()
            return true
        } catch {
            return false
        }
    }
}

@main
struct MeetingServer {
    static func main() async throws {
        let service = PresenceService.shared
        var refused = 0
        for round in 1...5 {
            var tasks: [Task<Bool, Never>] = []
            for n in 0..<40 {
                let guest = Guest(name: "guest-\(round)-\(n)")
                tasks.append(Task { await guest.enter("room-\(n % 4)") })
            }
            while await service.joined < round * 40 {
                try await Task.sleep(for: .milliseconds(3))
            }
            for room in 0..<3 { await service.hostArrived(in: "room-\(room)") }
            await service.roomClosed("room-3")
            for task in tasks where await task.value == false { refused += 1 }
            try await Task.sleep(for: .milliseconds(30))
        }
        print("present \(await service.present) refused \(refused) waiting \(await service.stillWaiting)")
    }
}
