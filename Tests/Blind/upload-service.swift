import Foundation

enum UploadError: Error {
    case tooLarge(Int)
    case virusFound
}

final class UploadRequest {
    let id: Int
    let filename: String
    let size: Int
    var progress = 0

    init(id: Int, filename: String, size: Int) {
        self.id = id
        self.filename = filename
        self.size = size
    }
}

actor BlobStorage {
    private var used = 0
    private var checksums: [String: Int] = [:]

    func store(name: String, size: Int) throws -> Int {
        if size > 900 { throw UploadError.tooLarge(size) }
        if name.hasSuffix(".exe") { throw UploadError.virusFound }
        used += size
        checksums[String(name.prefix(4))] = size
        return used
    }
}

actor UploadService {
    static let shared = UploadService()

    private let storage = BlobStorage()
    private var active: [Int: UploadRequest] = [:]
    private var nextID = 0
    private(set) var completed = 0

    func upload(filename: String, size: Int) async throws {
        nextID += 1
        let request = UploadRequest(id: nextID, filename: filename, size: size)
        active[request.id] = request
        request.progress = 10
        _ = try await storage.store(name: request.filename, size: request.size)
        request.progress = 100
        completed += 1
        active[request.id] = nil
    }

    func status() -> (active: Int, completed: Int) {
        (active.count, completed)
    }
}

@main
struct Main {
    static func main() async {
        let service = UploadService.shared
        var failed = 0
        for batch in 0..<6 {
            let results = await withTaskGroup(of: Bool.self) { group in
                for n in 0..<8 {
                    group.addTask {
                        // two of eight uploads of each batch are rejected
                        let size = n == 5 ? 1000 + batch : 100 + n
                        let name = n == 2 ? "tool\(batch).exe" : "doc-\(batch)-\(n).pdf"
                        do {
                            try await service.upload(filename: name, size: size)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            failed += results.filter { !$0 }.count
        }
        let status = await service.status()
        print("completed \(status.completed) failed \(failed) active \(status.active)")
    }
}
