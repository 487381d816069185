import Foundation
import Dispatch

enum CloseCode: Int {
    case normal = 1000
    case goingAway = 1001
}

enum LinkState: Equatable {
    case waiting
    case ready
    case closed(CloseCode)
}

final class SocketClient: @unchecked Sendable {
    private let queue: DispatchQueue
    private let lock = NSLock()
    private var state = LinkState.waiting
    private var outbox: [String] = []
    private var disconnectionWorkItem: DispatchWorkItem?
    private let onClose: @Sendable (CloseCode) -> Void

    init(queue: DispatchQueue, onClose: @escaping @Sendable (CloseCode) -> Void) {
        self.queue = queue
        self.onClose = onClose
    }

    func connect() {
        lock.withLock { state = .ready }
    }

    func send(_ text: String) {
        lock.withLock {
            guard state == .ready else { return }
            outbox.append(text)
        }
    }

    func disconnect(code: CloseCode) {
        let item = DispatchWorkItem {
            self.shutDown(code)
        }
        disconnectionWorkItem = item
        queue.asyncAfter(deadline: .now() + .milliseconds(1), execute: item)
    }

    func reconnect() {
        disconnectionWorkItem?.cancel()
        disconnectionWorkItem = nil
        connect()
    }

    private func shutDown(_ code: CloseCode) {
        lock.withLock {
            state = .closed(code)
            outbox.removeAll()
        }
        onClose(code)
    }
}

final class CloseTally: @unchecked Sendable {
    private let lock = NSLock()
    private var counts: [Int: Int] = [:]

    func record(_ code: CloseCode) {
        lock.withLock { counts[code.rawValue, default: 0] += 1 }
    }

    var text: String {
        lock.withLock { counts.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: " ") }
    }
}

func loginCycles(_ total: Int) -> String {
    let queue = DispatchQueue(label: "socket.events")
    let tally = CloseTally()
    for cycle in 0..<total {
        let done = DispatchSemaphore(value: 0)
        let client = SocketClient(queue: queue) { code in
            tally.record(code)
            done.signal()
        }
        client.connect()
        client.send("login user-\(cycle)")
        if cycle % 10 == 0 { client.reconnect() }
        client.disconnect(code: cycle % 3 == 0 ? .goingAway : .normal)
        done.wait()
        usleep(2_500)
    }
    queue.sync {}
    return tally.text
}

print("90 sessions closed,", loginCycles(90))
