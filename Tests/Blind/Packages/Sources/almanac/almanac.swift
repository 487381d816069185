import Dispatch
import Foundation
import GRDB

struct Entry: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var day: Int
    var kind: String
    var note: String

    static let databaseTableName = "entry"
    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

/// A page is the text of one day, kept in the page cache after its first use.
final class Page {
    let day: Int
    let text: String
    let lines: [String]

    init(day: Int, entries: [Entry]) {
        self.day = day
        lines = entries.map { "\($0.kind): \($0.note)" }
        text = lines.joined(separator: "\n")
    }
}

final class PageCache {
    private let capacity: Int
    private var pages: [Int: Page] = [:]
    private var order: [Int] = []
    private(set) var hits = 0

    init(capacity: Int) { self.capacity = capacity }

    func page(_ day: Int, make: () throws -> Page) rethrows -> Page {
        if let page = pages[day] {
            hits += 1
            order.removeAll { $0 == day }
            order.append(day)
            return page
        }
        let page = try make()
        pages[day] = page
        order.append(day)
        if order.count > capacity {
            pages.removeValue(forKey: order.removeFirst())
        }
        return page
    }

    func forget(_ day: Int) {
        pages.removeValue(forKey: day)
        order.removeAll { $0 == day }
    }

    var count: Int { pages.count }
}

/// Tells its owner how many entries there are until it is thrown away.
final class EntryCounter: @unchecked Sendable {
    private var observation: AnyDatabaseCancellable?
    private let lock = NSLock()
    private var value = 0

    func start(in database: DatabaseQueue, kind: String, queue: DispatchQueue) {
        observation = ValueObservation
            .tracking { db in try Entry.filter(Column("kind") == kind).fetchCount(db) }
            .removeDuplicates()
            .start(
                in: database,
                scheduling: .async(onQueue: queue),
                onError: { _ in },
                onChange: { [weak self] count in
                    guard let self else { return }
                    self.lock.withLock { self.value = count }
                }
            )
    }

    func stop() {
        observation?.cancel()
        observation = nil
    }

    var latest: Int { lock.withLock { value } }
}

@main
struct Almanac {
    static let kinds = ["moon", "tide", "feast", "frost"]

    static func main() throws {
        let database = try DatabaseQueue()
        try database.write { db in
            try db.create(table: "entry") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("day", .integer).notNull().indexed()
                table.column("kind", .text).notNull()
                table.column("note", .text).notNull()
            }
            for number in 0..<2200 {
                var entry = Entry(id: nil, day: number % 365, kind: kinds[number % 4], note: "note \(number)")
                try entry.insert(db)
            }
        }

        let queue = DispatchQueue(label: "almanac")
        let total = EntryCounter()
        total.start(in: database, kind: "moon", queue: queue)

        let cache = PageCache(capacity: 150)
        var characters = 0
        for visit in 0..<40 {
            let local = EntryCounter()
            local.start(in: database, kind: kinds[visit % 4], queue: queue)
            for step in 0..<25 {
                let day = (visit * 11 + step * step) % 365
                let page = try cache.page(day) {
                    try database.read { db in
                        Page(day: day, entries: try Entry.filter(Column("day") == day).order(Column("id")).fetchAll(db))
                    }
                }
                characters += page.text.count
            }
            let today = visit * 9 % 365
            try database.write { db in
                var entry = Entry(id: nil, day: today, kind: "moon", note: "seen in visit \(visit)")
                try entry.insert(db)
            }
            cache.forget(today)
            usleep(15_000)
            local.stop()
        }
        usleep(300_000)
        queue.sync {}
        print("\(total.latest) moon entries, \(cache.count) pages warm, \(cache.hits > 0), \(characters) characters")
    }
}
