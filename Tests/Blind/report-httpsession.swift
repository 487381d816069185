import Foundation
import Dispatch

protocol TransferDelegate: AnyObject, Sendable {
    func transfer(_ id: Int, received data: [UInt8])
    func transferDidFinish(_ id: Int)
}

final class TransferTask: Sendable {
    let id: Int
    let path: String

    init(id: Int, path: String) {
        self.id = id
        self.path = path
    }
}

/// Keeps its delegate until the session is invalidated and its tasks are done.
final class TransferSession: @unchecked Sendable {
    private let queue: DispatchQueue
    private var delegate: (any TransferDelegate)?
    private var running: [Int: TransferTask] = [:]
    private var isInvalid = false
    private var serial = 0

    init(queue: DispatchQueue, delegate: any TransferDelegate) {
        self.queue = queue
        self.delegate = delegate
    }

    func start(path: String) -> Int {
        queue.sync {
            serial += 1
            running[serial] = TransferTask(id: serial, path: path)
            queue.async { [serial] in self.perform(serial) }
            return serial
        }
    }

    private func perform(_ id: Int) {
        guard let task = running[id] else { return }
        delegate?.transfer(id, received: Array(task.path.utf8))
        running[id] = nil
        delegate?.transferDidFinish(id)
        if isInvalid, running.isEmpty { delegate = nil }
    }

    func finishTasksAndInvalidate() {
        queue.async {
            self.isInvalid = true
            if self.running.isEmpty { self.delegate = nil }
        }
    }
}

final class DelegateWrapper: TransferDelegate, @unchecked Sendable {
    weak var client: ApiClient?

    func transfer(_ id: Int, received data: [UInt8]) { client?.append(data, to: id) }
    func transferDidFinish(_ id: Int) { client?.complete(id) }
}

final class ApiClient: @unchecked Sendable {
    private let session: TransferSession
    private let lock = NSLock()
    private var bodies: [Int: [UInt8]] = [:]
    private let finished = DispatchSemaphore(value: 0)

    init(queue: DispatchQueue) {
        let wrapper = DelegateWrapper()
        session = TransferSession(queue: queue, delegate: wrapper)
        wrapper.client = self
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    func fetch(_ path: String) -> Int {
        let id = session.start(path: path)
        finished.wait()
        return lock.withLock { bodies.removeValue(forKey: id)?.count ?? 0 }
    }

    func append(_ data: [UInt8], to id: Int) {
        lock.withLock { bodies[id, default: []] += data }
    }

    func complete(_ id: Int) { finished.signal() }
}

func chat(sessions: Int) -> Int {
    let queue = DispatchQueue(label: "api.session")
    var bytes = 0
    for number in 0..<sessions {
        let client = ApiClient(queue: queue)
        for step in 0..<3 { bytes += client.fetch("/eliza/\(number)/say/\(step)") }
        usleep(3_000)
    }
    queue.sync {}
    return bytes
}

print("120 chats, \(chat(sessions: 120)) bytes")
