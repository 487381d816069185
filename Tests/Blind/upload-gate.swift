import Foundation
import Dispatch

final class Upload: @unchecked Sendable {
    let id: Int
    private let lock = NSLock()
    private var chunks: [[UInt8]] = []
    private var received = 0

    init(id: Int) {
        self.id = id
    }

    func append(_ chunk: [UInt8]) {
        lock.withLock {
            chunks.append(chunk)
            received += chunk.count
            if chunks.count > 4 { chunks.removeFirst() }
        }
    }

    func commit() -> Int {
        lock.withLock {
            chunks.removeAll()
            return received
        }
    }
}

/// Knows the uploads under way but does not own them.
final class UploadRegistry {
    private struct Entry { weak var upload: Upload? }
    private var entries: [Int: Entry] = [:]

    func note(_ upload: Upload) {
        entries[upload.id] = Entry(upload: upload)
    }

    func feed(_ round: Int) -> Int {
        entries = entries.filter { $0.value.upload != nil }
        for (id, entry) in entries {
            entry.upload?.append(Array(repeating: UInt8(round), count: 16 + id % 5))
        }
        return entries.count
    }
}

actor QuotaGate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func pass() async {
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting.removeAll()
    }
}

actor Tally {
    private(set) var committed = 0
    private(set) var bytes = 0

    func add(_ count: Int) {
        committed += 1
        bytes += count
    }
}

final class Receiver: @unchecked Sendable {
    let registry = UploadRegistry()
    let gate = QuotaGate()
    let tally = Tally()
    private let disk = DispatchQueue(label: "disk")
    private let window = ContinuousClock.now + .milliseconds(1400)
    private var nextID = 0

    init() {
        // Nothing goes to the disk until the volume has been checked.
        disk.suspend()
    }

    /// Waits for the account's quota.
    func acceptMetered() {
        let upload = makeUpload()
        Task { [gate, tally] in
            await gate.pass()
            await tally.add(upload.commit())
        }
    }

    /// Waits for the nightly window.
    func acceptDeferred() {
        let upload = makeUpload()
        Task { [window, tally] in
            try? await Task.sleep(until: window, clock: .continuous)
            await tally.add(upload.commit())
        }
    }

    /// Waits for the disk.
    func acceptSpooled() {
        let upload = makeUpload()
        disk.async { [tally] in
            let count = upload.commit()
            Task { await tally.add(count) }
        }
    }

    func acceptSmall() async {
        let upload = makeUpload()
        upload.append(Array(repeating: 7, count: 40))
        await tally.add(upload.commit())
    }

    private func makeUpload() -> Upload {
        let upload = Upload(id: nextID)
        nextID += 1
        registry.note(upload)
        return upload
    }

    func finish() async {
        while await tally.committed < nextID / 2 { try? await Task.sleep(for: .milliseconds(10)) }
        disk.resume()
        await gate.open()
        while await tally.committed < nextID { try? await Task.sleep(for: .milliseconds(10)) }
    }
}

@main
struct Server {
    static func main() async throws {
        let receiver = Receiver()
        var fed = 0
        for round in 0..<40 {
            receiver.acceptMetered()
            receiver.acceptDeferred()
            receiver.acceptSpooled()
            await receiver.acceptSmall()
            if round % 10 == 9 { fed = max(fed, receiver.registry.feed(round)) }
            try await Task.sleep(for: .milliseconds(12))
        }
        await receiver.finish()
        let committed = await receiver.tally.committed
        print("\(committed) uploads committed, registry fed: \(fed > 0)")
    }
}
