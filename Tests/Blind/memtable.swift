import Foundation

final class Row: Sendable {
    let key: Int
    let payload: String
    let deleted: Bool
    init(key: Int, payload: String, deleted: Bool) {
        self.key = key
        self.payload = payload
        self.deleted = deleted
    }
}

final class SortedRun: Sendable {
    let level: Int
    let rows: [Row]
    init(level: Int, rows: [Row]) {
        self.level = level
        self.rows = rows
    }

    func find(_ key: Int) -> Row? {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && rows[low].key == key ? rows[low] : nil
    }
}

actor LogTree {
    private var table: [Int: Row] = [:]
    private var runs: [SortedRun] = []
    private let flushSize: Int
    private(set) var merges = 0

    init(flushSize: Int) { self.flushSize = flushSize }

    func write(_ row: Row) {
        table[row.key] = row
        if table.count >= flushSize { flush() }
    }

    private func flush() {
        runs.append(SortedRun(level: 0, rows: table.values.sorted { $0.key < $1.key }))
        table.removeAll(keepingCapacity: true)
        while runs.count >= 2, runs[runs.count - 2].level == runs[runs.count - 1].level {
            let newer = runs.removeLast()
            let older = runs.removeLast()
            runs.append(merge(older, newer, isBottom: runs.isEmpty))
        }
    }

    private func merge(_ older: SortedRun, _ newer: SortedRun, isBottom: Bool) -> SortedRun {
        merges += 1
        var combined: [Row] = []
        combined.reserveCapacity(older.rows.count + newer.rows.count)
        var left = older.rows[...]
        var right = newer.rows[...]
        while let a = left.first, let b = right.first {
            if a.key < b.key {
                combined.append(left.removeFirst())
            } else {
                if a.key == b.key { left.removeFirst() }
                combined.append(right.removeFirst())
            }
        }
        combined.append(contentsOf: left)
        combined.append(contentsOf: right)
        if isBottom { combined.removeAll { $0.deleted } }
        return SortedRun(level: older.level + 1, rows: combined)
    }

    func read(_ key: Int) -> String? {
        if let row = table[key] { return row.deleted ? nil : row.payload }
        for run in runs.reversed() {
            if let row = run.find(key) { return row.deleted ? nil : row.payload }
        }
        return nil
    }

    func layout() -> [String] { runs.map { "L\($0.level):\($0.rows.count)" } }
}

struct Feed: Sendable {
    let number: Int
    let tree: LogTree

    func run() async {
        for n in 0..<650 {
            let key = number * 100_000 + (n % 3 == 2 ? n / 2 : n)
            await tree.write(Row(key: key, payload: "measurement \(n)", deleted: false))
            if n % 10 == 9 { await tree.write(Row(key: key - 5, payload: "", deleted: true)) }
            if n % 4 == 0 { try? await Task.sleep(nanoseconds: 4_000_000) }
        }
    }
}

let tree = LogTree(flushSize: 60)

@main
struct TreeApp {
    static func main() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<3 { group.addTask { await Feed(number: number, tree: tree).run() } }
        }
        var readable = 0
        for number in 0..<3 {
            for n in 0..<650 where await tree.read(number * 100_000 + n) != nil { readable += 1 }
        }
        print("readable \(readable), merges \(await tree.merges)")
        print("levels present: \(await tree.layout().isEmpty == false)")
    }
}
