import Foundation
import Dispatch

final class StripedLocks {
    private let locks: [NSLock]
    init(count: Int) { locks = (0..<count).map { _ in NSLock() } }

    func with<T>(_ key: String, _ body: () -> T) -> T {
        let lock = locks[Int(UInt(bitPattern: key.hashValue) % UInt(locks.count))]
        lock.lock()
        defer { lock.unlock() }
        return body()
    }
}

final class SearchQuery {
    let field: String
    let text: String
    init(field: String, text: String) {
        self.field = field
        self.text = text
    }
}

final class SearchDebouncer {
    private let queue = DispatchQueue(label: "search.debounce")
    private var pending: [String: DispatchWorkItem] = [:]
    private let locks = StripedLocks(count: 16)
    private let group = DispatchGroup()
    private var searched = 0
    private var replaced = 0

    func type(_ query: SearchQuery) {
        queue.sync {
            if let old = pending.removeValue(forKey: query.field) {
                old.cancel()
                replaced += 1
            }
            let item = DispatchWorkItem { [weak self] in
                self?.fire(query)
            }
            group.enter()
            item.notify(queue: queue) { [group] in group.leave() }
            pending[query.field] = item
            queue.asyncAfter(deadline: .now() + .milliseconds(2), execute: item)
        }
    }

    private func fire(_ query: SearchQuery) {
        pending.removeValue(forKey: query.field)
        searched += locks.with(query.field) { query.text.isEmpty ? 0 : 1 }
    }

    func settle() { group.wait() }

    var report: String {
        queue.sync { "searched \(searched) replaced \(replaced) pending \(pending.count)" }
    }
}

let debouncer = SearchDebouncer()
for user in 0..<12 {
    for letter in 1...6 {
        debouncer.type(SearchQuery(field: "user-\(user)/name", text: String(repeating: "a", count: letter)))
        debouncer.type(SearchQuery(field: "user-\(user)/city", text: String(repeating: "b", count: letter)))
    }
    if user % 3 == 2 { debouncer.settle() }
}
debouncer.settle()
print(debouncer.report.hasSuffix("pending 0") ? "debouncer settled" : "debouncer busy")
