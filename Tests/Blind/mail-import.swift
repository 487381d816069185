import Foundation

// Imports mailbox exports. Each message goes through decode, scan and store; what could not be
// imported is listed for the operator when the run is over.

enum ImportError: Error, CustomStringConvertible {
    case badHeader(String), blocked(rule: String), tooLarge(Int)

    var description: String {
        switch self {
        case .badHeader(let name): return "bad header \(name)"
        case .blocked(let rule): return "blocked by \(rule)"
        case .tooLarge(let size): return "too large (\(size))"
        }
    }
}

final class ImportTask {
    let id: Int
    let raw: String
    var headers: [String: String] = [:]
    var body: Substring = ""

    init(id: Int, raw: String) {
        self.id = id
        self.raw = raw
    }
}

final class Rejection {
    let message: Int
    let subject: String
    let reason: ImportError

    init(message: Int, subject: String, reason: ImportError) {
        self.message = message
        self.subject = subject
        self.reason = reason
    }
}

final class Importer {
    private var active: [Int: ImportTask] = [:]
    private var rejections: [Rejection] = []
    private(set) var stored = 0
    private(set) var words: [String: Int] = [:]

    func run(id: Int, raw: String) {
        let task = ImportTask(id: id, raw: raw)
        active[id] = task
        defer { active[id] = nil }
        do {
            try decode(task)
            try scan(task)
            store(task)
        } catch let error as ImportError {
            rejections.append(Rejection(message: id, subject: task.headers["Subject"] ?? "-", reason: error))
        } catch {
            fatalError("unexpected \(error)")
        }
    }

    private func decode(_ task: ImportTask) throws {
        let lines = task.raw.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            if line.isEmpty {
                task.body = lines[(index + 1)...].first ?? ""
                break
            }
            guard let colon = line.firstIndex(of: ":") else { throw ImportError.badHeader(String(line.prefix(8))) }
            task.headers[String(line[..<colon])] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
    }

    private func scan(_ task: ImportTask) throws {
        if task.body.contains("lottery") { throw ImportError.blocked(rule: "spam-7") }
        if task.raw.utf8.count > 420 { throw ImportError.tooLarge(task.raw.utf8.count) }
    }

    private func store(_ task: ImportTask) {
        stored += 1
        for word in task.body.split(separator: " ").prefix(12) where word.count > 4 {
            words[String(word), default: 0] += 1
        }
    }

    func operatorReport() -> [String] {
        var groups: [String: [Rejection]] = [:]
        for rejection in rejections { groups["\(rejection.reason)", default: []].append(rejection) }
        return groups.sorted { $0.key < $1.key }.map { reason, list in
            let ids = list.map(\.message)
            return "\(reason): \(list.count) messages, \(ids.min() ?? 0)...\(ids.max() ?? 0), e.g. \"\(list[0].subject)\""
        }
    }
}

func message(_ id: Int) -> String {
    let vocabulary = ["invoice", "meeting", "project", "schedule", "holiday", "contract", "reminder", "budget"]
    let text = (0..<14).map { vocabulary[(id * 5 + $0 * $0) % vocabulary.count] }.joined(separator: " ")
    var lines = ["From: user\(id % 90)@example.org", "Subject: \(vocabulary[id % 8]) no. \(id)", "X-Queue: \(id * 31)"]
    if id % 7 == 3 { lines.insert("Broken header line", at: 1) }
    let tail = id % 5 == 2 ? " lottery" : id % 11 == 4 ? String(repeating: " filler", count: 60) : ""
    return (lines + ["", text + tail]).joined(separator: "\n")
}

let importer = Importer()
for batch in 0..<120 {
    for slot in 0..<20 { importer.run(id: batch * 20 + slot, raw: message(batch * 20 + slot)) }
    usleep(5_000)
}
let top = importer.words.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(3).map { "\($0.key)=\($0.value)" }
print("stored \(importer.stored), frequent: \(top.joined(separator: " "))")
importer.operatorReport().forEach { print($0) }
