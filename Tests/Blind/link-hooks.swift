import Foundation

final class HookEntry {
    let id: Int
    let action: () -> Void
    init(id: Int, action: @escaping () -> Void) { self.id = id; self.action = action }
}

final class ShutdownHooks {
    static let shared = ShutdownHooks()
    private var entries: [HookEntry] = []
    private var nextID = 0
    func add(_ action: @escaping () -> Void) -> Int {
        nextID += 1
        entries.append(HookEntry(id: nextID, action: action))
        return nextID
    }
    func remove(_ id: Int) { entries.removeAll { $0.id == id } }
    func runAll() { for e in entries.reversed() { e.action() } }
}

final class Connection {
    let peer: String
    private var inbox: [String] = []
    private var hook = 0
    private(set) var open = false
    init(peer: String) { self.peer = peer }

    func start() {
        open = true
        hook = ShutdownHooks.shared.add { self.flush() }
    }
    func receive(_ s: String) { inbox.append(s) }
    func flush() { if open { inbox.removeAll() } }
    func close() -> Int {
        let n = inbox.count
        open = false
        return n
    }
}

final class Journal {
    private var file: [String] = []
    init() { _ = ShutdownHooks.shared.add { [weak self] in self?.sync() } }
    func write(_ s: String) { file.append(s); if file.count > 100 { file.removeFirst(50) } }
    func sync() { file.removeAll() }
}

@main
enum Gateway {
    static let journal = Journal()
    static func main() {
        var messages = 0
        for round in 0..<8 {
            var active: [Connection] = []
            for i in 0..<40 {
                let c = Connection(peer: "client-\(round)-\(i).example.net")
                c.start()
                active.append(c)
            }
            for step in 0..<5 {
                for c in active { c.receive("message \(step) from the peer \(c.peer)") }
            }
            for c in active { messages += c.close() }
            journal.write("round \(round) served \(active.count)")
        }
        print("gateway handled \(messages) messages")
    }
}
