import Foundation

enum TransportState {
    case idle
    case active
    case closed
}

final class CallTransport {
    private let path: String
    private var state = TransportState.idle
    private var onStart: (() -> Void)?
    private var written: [Int] = []

    init(path: String) {
        self.path = path
    }

    func prepare(onStart: @escaping () -> Void) {
        self.onStart = onStart
    }

    func streamReady() {
        guard state == .idle else { return }
        state = .active
        onStart?()
    }

    func write(_ size: Int) {
        guard state == .active else { return }
        written.append(size)
    }

    func finish() -> Int {
        state = .closed
        defer { written.removeAll() }
        return written.reduce(0, +)
    }
}

final class WritabilityGate {
    private(set) var isOpen = false
    private var queued: [Int] = []

    func enqueue(_ size: Int) { queued.append(size) }

    func open() -> [Int] {
        isOpen = true
        defer { queued.removeAll() }
        return queued
    }
}

final class StreamingCall {
    private let transport: CallTransport
    private let gate = WritabilityGate()

    init(path: String) {
        transport = CallTransport(path: path)
    }

    func start() {
        transport.prepare {
            for size in self.gate.open() { self.transport.write(size) }
        }
    }

    func send(_ size: Int) {
        gate.isOpen ? transport.write(size) : gate.enqueue(size)
    }

    func connected() { transport.streamReady() }

    func complete() -> Int { transport.finish() }
}

func invoke(_ number: Int) -> Int {
    let call = StreamingCall(path: "/routeguide/RecordRoute")
    call.start()
    call.send(number % 17)
    call.connected()
    call.send(8)
    return call.complete()
}

var bytes = 0
for number in 0..<180 {
    bytes += invoke(number)
    usleep(2_000)
}
print("180 calls wrote \(bytes) bytes")
