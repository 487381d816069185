import Foundation

final class UserProfile: @unchecked Sendable {
    let id: Int
    let displayName: String
    var lastSeen = 0
    var visits = 0
    init(id: Int, displayName: String) {
        self.id = id
        self.displayName = displayName
    }
}

final class PresenceSession: @unchecked Sendable {
    let profile: UserProfile
    let device: String
    var status = "online"
    init(profile: UserProfile, device: String) {
        self.profile = profile
        self.device = device
    }
}

final class StatusChange: @unchecked Sendable {
    let userID: Int
    let status: String
    init(userID: Int, status: String) {
        self.userID = userID
        self.status = status
    }
}

actor PresenceBoard {
    private var roster: [Int: UserProfile] = [:]
    private var sessions: [Int: [PresenceSession]] = [:]
    private var feed: [StatusChange] = []
    private var clock = 0

    func enroll(_ profile: UserProfile) { roster[profile.id] = profile }

    func signIn(_ userID: Int, device: String) -> PresenceSession? {
        guard let profile = roster[userID] else { return nil }
        clock += 1
        profile.visits += 1
        let session = PresenceSession(profile: profile, device: device)
        sessions[userID, default: []].append(session)
        publish(userID, "online")
        return session
    }

    func signOut(_ session: PresenceSession) {
        let id = session.profile.id
        session.profile.lastSeen = clock
        sessions[id]?.removeAll { $0 === session }
        if sessions[id]?.isEmpty == true {
            sessions.removeValue(forKey: id)
            publish(id, "offline")
        }
    }

    private func publish(_ userID: Int, _ status: String) {
        feed.append(StatusChange(userID: userID, status: status))
        if feed.count > 128 { feed.removeFirst(64) }
    }

    func digest() -> String {
        let regulars = roster.values.filter { $0.visits > 2 }.count
        let newest = roster.values.map { $0.lastSeen }.max() ?? 0
        return "roster \(roster.count) regulars \(regulars) online \(sessions.count) last \(newest)"
    }
}

@main
struct PresenceApp {
    static let board = PresenceBoard()

    static func main() async {
        for id in 0..<500 { await board.enroll(UserProfile(id: id, displayName: "Person \(id)")) }
        for hour in 0..<30 {
            await withTaskGroup(of: Void.self) { group in
                for n in 0..<40 {
                    let user = (hour * 40 + n) % 500
                    group.addTask {
                        guard let phone = await board.signIn(user, device: "phone") else { return }
                        let laptop = user % 3 == 0 ? await board.signIn(user, device: "laptop") : nil
                        try? await Task.sleep(nanoseconds: 20_000_000)
                        await board.signOut(phone)
                        if let laptop { await board.signOut(laptop) }
                    }
                }
            }
            if hour >= 25 {
                for id in 0..<20 {
                    let fresh = 500 + (hour - 25) * 20 + id
                    await board.enroll(UserProfile(id: fresh, displayName: "New \(fresh)"))
                }
            }
        }
        for user in 0..<35 { _ = await board.signIn(user, device: "kiosk") }
        print(await board.digest())
    }
}
