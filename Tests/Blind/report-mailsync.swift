import Foundation
import Dispatch

struct Message: Sendable {
    let number: Int
    let subject: String
}

final class MailService: Sendable {
    let account: String

    init(account: String) { self.account = account }

    func messages(in folder: String, page: Int) -> [Message] {
        (0..<10).map { Message(number: page * 10 + $0, subject: "\(account) \(folder) \($0)") }
    }
}

final class MailRepository: @unchecked Sendable {
    private let account: String
    private let queue = DispatchQueue(label: "mail.fetch")
    private let lock = NSLock()
    private var cached: [String: [Message]] = [:]

    init(account: String) { self.account = account }

    private var service: MailService { MailService(account: account) }

    func warm(_ folder: String) {
        let page = service.messages(in: folder, page: 0)
        lock.withLock { cached[folder] = page }
    }

    func fetch(folder: String) async -> [Message] {
        if let hit = lock.withLock({ cached[folder] }) { return hit }
        let queue = self.queue
        return await withCheckedContinuation { continuation in
            queue.async { [weak service = self.service] in
                guard let service else { return }
                continuation.resume(returning: service.messages(in: folder, page: 0))
            }
        }
    }

    func drain() { queue.sync {} }
}

final class FolderSync: @unchecked Sendable {
    let folder: String
    private var inbox: [Message] = []

    init(folder: String) { self.folder = folder }

    func apply(_ messages: [Message]) { inbox.append(contentsOf: messages) }
    var isComplete: Bool { !inbox.isEmpty }
}

func synchronise(_ count: Int) async -> Int {
    let repository = MailRepository(account: "me@example.org")
    for index in 0..<count where index % 5 != 0 { repository.warm("label-\(index)") }
    var complete = 0
    for index in 0..<count {
        let sync = FolderSync(folder: "label-\(index)")
        let task = Task {
            let messages = await repository.fetch(folder: sync.folder)
            sync.apply(messages)
        }
        if index % 5 != 0 { await task.value }
        try? await Task.sleep(nanoseconds: 2_000_000)
        repository.drain()
        if sync.isComplete { complete += 1 }
    }
    return complete
}

let complete = await synchronise(200)
print("synchronised \(complete) of 200 folders")
