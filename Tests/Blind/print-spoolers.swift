import Foundation

struct Document: Sendable {
    let title: String
    let pages: Int
}

final class DocumentChannel: @unchecked Sendable {
    private let lock = NSLock()
    private var buffer: [Document] = []
    private var receivers: [(owner: String, continuation: CheckedContinuation<Document?, Never>)] = []
    private var detached: Set<String> = []

    func receive(for owner: String) async -> Document? {
        await withCheckedContinuation { continuation in
            lock.lock()
            if detached.remove(owner) != nil {
                lock.unlock()
                continuation.resume(returning: nil)
            } else if !buffer.isEmpty {
                let document = buffer.removeFirst()
                lock.unlock()
                continuation.resume(returning: document)
            } else {
                receivers.append((owner, continuation))
                lock.unlock()
            }
        }
    }

    func send(_ document: Document) {
        lock.lock()
        if receivers.isEmpty {
            buffer.append(document)
            lock.unlock()
        } else {
            let receiver = receivers.removeFirst()
            lock.unlock()
            receiver.continuation.resume(returning: document)
        }
    }

    func detach(_ owner: String) {
        lock.lock()
        let index = receivers.firstIndex { $0.owner == owner }
        if index == nil { detached.insert(owner) }
        let receiver = index.map { receivers.remove(at: $0) }
        lock.unlock()
        receiver?.continuation.resume(returning: nil)
    }
}

actor Meter {
    private(set) var pages = 0
    private(set) var documents = 0

    func count(_ document: Document) {
        pages += document.pages
        documents += 1
    }
}

final class Spooler: Sendable {
    let name: String
    private let meter: Meter

    init(name: String, meter: Meter) {
        self.name = name
        self.meter = meter
    }

    func spool(from channel: DocumentChannel) {
        Task(priority: .utility) {
            while let document = await channel.receive(for: name) {
                await meter.count(document)
            }
        }
    }
}

final class PrintShop {
    let meter = Meter()
    private let channel = DocumentChannel()
    private var spoolers: [Spooler] = []
    private var serial = 0
    private(set) var submitted = 0

    func resize(to size: Int) {
        while spoolers.count < size {
            serial += 1
            let spooler = Spooler(name: "spool\(serial)", meter: meter)
            spooler.spool(from: channel)
            spoolers.append(spooler)
        }
        while spoolers.count > size {
            let spooler = spoolers.removeLast()
            channel.detach(spooler.name)
        }
    }

    func submit(_ count: Int) {
        for n in 0..<count {
            channel.send(Document(title: "doc\(submitted)", pages: 1 + n % 6))
            submitted += 1
        }
    }

    func drain() async throws {
        while await meter.documents < submitted { try await Task.sleep(for: .milliseconds(2)) }
    }

    var names: [String] { spoolers.map(\.name) }
}

let shop = PrintShop()
for size in [6, 12, 5, 9, 14, 4] {
    shop.resize(to: size)
    shop.submit(60)
    try await shop.drain()
    try await Task.sleep(for: .milliseconds(20))
}
for _ in 1...25 {
    shop.submit(8)
    try await shop.drain()
    try await Task.sleep(for: .milliseconds(15))
}
print("\(await shop.meter.documents) documents, \(await shop.meter.pages) pages, on duty \(shop.names)")
