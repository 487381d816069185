import Foundation

struct Document: Sendable {
    let title: String
    let pages: Int
}

actor PrintQueue {
    private var documents: [Document] = []
    private var idle: CheckedContinuation<Document?, Never>?
    private var closed = false

    func submit(_ document: Document) {
        if let printer = idle {
            idle = nil
            printer.resume(returning: document)
        } else {
            documents.append(document)
        }
    }

    func next() async -> Document? {
        guard documents.isEmpty else { return documents.removeFirst() }
        guard !closed else { return nil }
        return await withCheckedContinuation { idle = $0 }
    }

    func close() {
        closed = true
        idle?.resume(returning: nil)
        idle = nil
    }
}

actor Ledger {
    static let shared = Ledger()
    private(set) var pages: [String: Int] = [:]
    private(set) var documents = 0

    func book(_ document: Document, on printer: String) {
        pages[printer, default: 0] += document.pages
        documents += 1
    }
}

final class PrinterLink: Sendable {
    let name: String
    let firmware: Int
    let queue: PrintQueue

    init(name: String, firmware: Int) {
        self.name = name
        self.firmware = firmware
        queue = PrintQueue()
    }

    func work() async {
        while let document = await queue.next() {
            await Ledger.shared.book(document, on: name)
        }
    }
}

actor PrintServer {
    static let shared = PrintServer()

    private var links: [String: PrinterLink] = [:]
    private var workers: [String: Task<Void, Never>] = [:]
    private(set) var reconnects = 0

    func online(_ name: String, firmware: Int) async {
        if links[name] != nil {
            reconnects += 1
            await offline(name)
        }
        let link = PrinterLink(name: name, firmware: firmware)
        links[name] = link
        workers[name] = Task(priority: .userInitiated) { await link.work() }
    }

    func offline(_ name: String) async {
        let worker = workers.removeValue(forKey: name)
        await links.removeValue(forKey: name)?.queue.close()
        await worker?.value
    }

    func submit(_ document: Document, to name: String) async -> Bool {
        guard let link = links[name] else { return false }
        await link.queue.submit(document)
        return true
    }

    var status: String {
        links.values.map { "\($0.name)@v\($0.firmware)" }.sorted().joined(separator: " ")
    }
}

@main
struct PrintRoom {
    static func main() async {
        let server = PrintServer.shared
        let names = ["laser", "plotter", "label", "photo", "receipt"]
        var accepted = 0
        var refused = 0
        for firmware in 1...4 {
            for (index, name) in names.enumerated() {
                await server.online(name, firmware: firmware)
                for copy in 1...3 {
                    let document = Document(title: "\(name)-\(firmware)-\(copy)", pages: index + copy)
                    if await server.submit(document, to: name) { accepted += 1 }
                }
            }
        }
        await server.offline("photo")
        await server.offline("receipt")
        if await !server.submit(Document(title: "late", pages: 1), to: "photo") { refused += 1 }
        while await Ledger.shared.documents < accepted {
            try? await Task.sleep(for: .milliseconds(1))
        }
        let pages = await Ledger.shared.pages.values.reduce(0, +)
        print("documents \(accepted), refused \(refused), pages \(pages), reconnects \(await server.reconnects)")
        print(await server.status)
    }
}
