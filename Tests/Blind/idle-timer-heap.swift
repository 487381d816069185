final class IdleTimer {
    let session: Int
    var deadline: Int
    var slot = 0

    init(session: Int, deadline: Int) {
        self.session = session
        self.deadline = deadline
    }
}

final class TimerHeap {
    private var slots: [IdleTimer] = []

    func schedule(session: Int, at deadline: Int) -> IdleTimer {
        let timer = IdleTimer(session: session, deadline: deadline)
        timer.slot = slots.count
        slots.append(timer)
        siftUp(timer.slot)
        return timer
    }

    func cancel(_ timer: IdleTimer) {
        timer.deadline = Int.max
        siftDown(timer.slot)
    }

    func popExpired(now: Int) -> IdleTimer? {
        guard let first = slots.first, first.deadline <= now else { return nil }
        let last = slots.removeLast()
        if last !== first {
            slots[0] = last
            last.slot = 0
            siftDown(0)
        }
        return first
    }

    private func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            if slots[parent].deadline <= slots[child].deadline { return }
            exchange(parent, child)
            child = parent
        }
    }

    private func siftDown(_ start: Int) {
        var parent = start
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < slots.count {
                if slots[child].deadline < slots[smallest].deadline { smallest = child }
            }
            if smallest == parent { return }
            exchange(parent, smallest)
            parent = smallest
        }
    }

    private func exchange(_ a: Int, _ b: Int) {
        slots.swapAt(a, b)
        slots[a].slot = a
        slots[b].slot = b
    }
}

final class GameServer {
    private let timers = TimerHeap()
    private var idle: [Int: IdleTimer] = [:]
    private var nextSession = 1
    private(set) var moves = 0
    private(set) var expired = 0

    func connect(now: Int) {
        idle[nextSession] = timers.schedule(session: nextSession, at: now + 12)
        nextSession += 1
    }

    func move(session: Int, now: Int) {
        guard let running = idle[session] else { return }
        timers.cancel(running)
        idle[session] = timers.schedule(session: session, at: now + 12)
        moves += 1
    }

    func tick(now: Int) {
        while let timer = timers.popExpired(now: now) {
            idle[timer.session] = nil
            expired += 1
        }
    }

    var connected: [Int] { idle.keys.sorted() }
}

let server = GameServer()
var seed: UInt64 = 42

func roll(_ sides: UInt64) -> UInt64 {
    seed = seed &* 6364136223846793005 &+ 1442695040888963407
    return (seed >> 33) % sides
}

for now in 0..<500 {
    if now % 3 == 0 { server.connect(now: now) }
    for session in server.connected where roll(7) == 0 {
        server.move(session: session, now: now)
    }
    server.tick(now: now)
}

print("moves: \(server.moves)")
print("expired sessions: \(server.expired)")
print("still connected: \(server.connected.count)")
