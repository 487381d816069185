// Shared whiteboard for online classes. Pupils join, draw and drop off.
import Foundation

enum LeaveReason {
    case leftClass, connectionLost
}

final class PupilSession {
    let id: Int
    let name: String
    var lastSeen: Int
    var strokes: [UInt16] = []
    unowned let board: Whiteboard

    init(id: Int, name: String, board: Whiteboard, now: Int) {
        self.id = id
        self.name = name
        self.board = board
        self.lastSeen = now
    }
}

final class Whiteboard {
    let lesson: String
    private var members: [Int: PupilSession] = [:]
    private(set) var broadcast = 0

    init(lesson: String) { self.lesson = lesson }

    func join(_ session: PupilSession) { members[session.id] = session }
    func leave(_ session: PupilSession) { members[session.id] = nil }

    func stroke(_ code: UInt16, from sender: PupilSession) {
        for member in members.values where member !== sender {
            member.strokes.append(code)
            if member.strokes.count > 16 { member.strokes.removeFirst() }
            broadcast += 1
        }
    }
}

final class KeepAlive {
    private var watched: [Int: PupilSession] = [:]
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func add(_ session: PupilSession) { watched[session.id] = session }
    func remove(_ session: PupilSession) { watched[session.id] = nil }

    func overdue(now: Int) -> [PupilSession] {
        watched.values.filter { now - $0.lastSeen > limit }
    }
}

final class ClassroomServer {
    private var sessions: [Int: PupilSession] = [:]
    private let boards: [Whiteboard]
    private let keepAlive = KeepAlive(limit: 40)
    private(set) var reasons: [LeaveReason: Int] = [:]

    init(lessons: [String]) { boards = lessons.map(Whiteboard.init(lesson:)) }

    func connect(id: Int, name: String, now: Int) {
        let board = boards[id % boards.count]
        let session = PupilSession(id: id, name: name, board: board, now: now)
        sessions[id] = session
        board.join(session)
        keepAlive.add(session)
    }

    func draw(id: Int, code: UInt16, now: Int) {
        guard let session = sessions[id] else { return }
        session.lastSeen = now
        session.board.stroke(code, from: session)
    }

    func leave(id: Int) {
        guard let session = sessions[id] else { return }
        tearDown(session, reason: .leftClass)
    }

    func tick(now: Int) {
        for session in keepAlive.overdue(now: now) {
            tearDown(session, reason: .connectionLost)
        }
    }

    private func tearDown(_ session: PupilSession, reason: LeaveReason) {
        sessions[session.id] = nil
        session.board.leave(session)
        keepAlive.remove(session)
        reasons[reason, default: 0] += 1
    }

    var broadcast: Int { boards.reduce(0) { $0 + $1.broadcast } }
}

let server = ClassroomServer(lessons: ["maths", "physics", "geography", "music"])
let pupils = 600
for step in 0..<(pupils + 20) {
    let now = step * 3
    if step < pupils { server.connect(id: step, name: "pupil\(step)", now: now) }
    for back in 1...9 where step - back >= 0 && step - back < pupils {
        server.draw(id: step - back, code: UInt16(back * 100 + step % 100), now: now)
    }
    let leaver = step - 10
    if leaver >= 0 && leaver < pupils && leaver % 3 != 0 { server.leave(id: leaver) }
    server.tick(now: now)
    if step % 40 == 0 { usleep(5000) }
}
server.tick(now: (pupils + 20) * 3 + 100)
print("pupils: \(pupils), left: \(server.reasons[.leftClass] ?? 0), lost: \(server.reasons[.connectionLost] ?? 0)")
print("strokes broadcast: \(server.broadcast)")
