import Foundation
import Synchronization

final class Revision: Sendable {
    let document: String
    let number: Int
    let text: [UInt8]
    init(document: String, number: Int) {
        self.document = document
        self.number = number
        text = [UInt8](repeating: 0x20, count: 500 + number)
    }
}

final class Disk: Sendable {
    static let shared = Disk()
    private let queue = DispatchQueue(label: "disk")
    let written = Atomic<Int>(0)

    func write(_ revision: Revision, completion: @escaping @Sendable () -> Void) {
        queue.async {
            if revision.document.hasPrefix("readonly/") {
                return
            }
            self.written.add(1, ordering: .relaxed)
            completion()
        }
    }

    func write(_ revision: Revision) async {
        await withUnsafeContinuation { continuation in
            write(revision) { continuation.resume() }
        }
    }
}

/// Writes the revisions of one document in order.
final class SaveQueue {
    let document: String
    private var tail: Task<Void, Never>?
    private var number = 0

    init(document: String) { self.document = document }

    func enqueue() {
        number += 1
        let revision = Revision(document: document, number: number)
        let previous = tail
        tail = Task {
            await previous?.value
            await Disk.shared.write(revision)
        }
    }
}

final class Workspace {
    private var queues: [SaveQueue]

    init(documents: [String]) {
        queues = documents.map { SaveQueue(document: $0) }
    }

    func typeAndSave(_ times: Int) {
        for _ in 0..<times {
            for queue in queues { queue.enqueue() }
        }
    }

    func close() { queues.removeAll() }
}

@main
struct EditorMain {
    static func main() async throws {
        var expected = 0
        for round in 0..<4 {
            var documents = (0..<3).map { "home/chapter\(round)-\($0).txt" }
            if round == 2 { documents.append("readonly/licence.txt") }
            let workspace = Workspace(documents: documents)
            workspace.typeAndSave(20)
            expected += 60
            while Disk.shared.written.load(ordering: .relaxed) < expected {
                try await Task.sleep(for: .milliseconds(5))
            }
            workspace.close()
            try await Task.sleep(for: .milliseconds(30))
        }
        try await Task.sleep(for: .milliseconds(150))
        print("revisions written:", Disk.shared.written.load(ordering: .relaxed))
    }
}
