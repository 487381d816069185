import Foundation

/// Runs timers on a virtual clock.
final class TimerLoop {
    private var now = 0
    private var armed: [ObjectIdentifier: (LoopTimer, Int)] = [:]

    func arm(_ timer: LoopTimer) {
        armed[ObjectIdentifier(timer)] = (timer, now + timer.delay)
    }

    func disarm(_ timer: LoopTimer) {
        armed[ObjectIdentifier(timer)] = nil
    }

    func advance(by ticks: Int) {
        now += ticks
        for (key, (timer, due)) in armed where due <= now {
            armed[key] = (timer, now + timer.delay)
            timer.action()
        }
    }

    var armedCount: Int { armed.count }
}

final class LoopTimer {
    let delay: Int
    let action: () -> Void

    init(delay: Int, action: @escaping () -> Void) {
        self.delay = delay
        self.action = action
    }
}

final class ConnectionHandler {
    private let loop: TimerLoop
    private var keepaliveTimer: LoopTimer?
    private var payload = [UInt8](repeating: 0, count: 256)
    private(set) var pings = 0

    init(loop: TimerLoop) {
        self.loop = loop
    }

    func channelActive() {
        let timer = LoopTimer(delay: 2) {
            self.sendPing()
        }
        keepaliveTimer = timer
        loop.arm(timer)
    }

    func channelInactive() {
        if let timer = keepaliveTimer {
            loop.disarm(timer)
        }
        payload.removeAll()
    }

    private func sendPing() {
        pings += 1
        payload[pings % payload.count] = 1
    }
}

final class Listener {
    private let loop = TimerLoop()
    private(set) var accepted = 0
    private(set) var pings = 0

    func handleConnection() {
        let handler = ConnectionHandler(loop: loop)
        handler.channelActive()
        for _ in 0..<6 { loop.advance(by: 1) }
        pings += handler.pings
        handler.channelInactive()
        accepted += 1
    }

    var pendingTimers: Int { loop.armedCount }
}

func main() {
    let listener = Listener()
    for _ in 0..<96 {
        listener.handleConnection()
        usleep(4_000)
    }
    print("accepted \(listener.accepted) connections, \(listener.pings) pings, \(listener.pendingTimers) timers armed")
}

main()
