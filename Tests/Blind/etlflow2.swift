import Foundation

struct Entry {
    var id: Int
    var fields: [String: String]
}

typealias Filter = (Entry) -> Entry?

final class Tally {
    var seen: Set<String> = []
    var duplicates = 0
    var masked = 0
}

final class ExportPipeline {
    let target: String
    private var filters: [Filter] = []
    private let tally = Tally()
    private var lines: [String] = []

    init(target: String) {
        self.target = target
    }

    func configure(maskPhones: Bool) {
        let tally = self.tally
        filters.append { entry in
            guard tally.seen.insert(entry.fields["email"] ?? "").inserted else {
                tally.duplicates += 1
                return nil
            }
            return entry
        }
        if maskPhones {
            filters.append { entry in
                var entry = entry
                entry.fields["phone"] = String((entry.fields["phone"] ?? "").suffix(2))
                tally.masked += 1
                return entry
            }
        }
        filters.append { [target] entry in
            var entry = entry
            entry.fields["target"] = target
            return entry
        }
    }

    func run(_ entries: [Entry]) {
        func write(_ entry: Entry) {
            let cells = entry.fields.keys.sorted().map { entry.fields[$0]! }
            lines.append(cells.joined(separator: ";"))
        }

        for entry in entries {
            var current: Entry? = entry
            for filter in filters {
                guard let value = current else { break }
                current = filter(value)
            }
            if let current { write(current) }
        }
    }

    var result: (lines: Int, duplicates: Int, masked: Int) {
        (lines.count, tally.duplicates, tally.masked)
    }
}

struct CustomerTable {
    let region: Int

    func entries(_ count: Int) -> [Entry] {
        (0..<count).map { n in
            let user = (n * 11 + region) % (count * 4 / 5)
            return Entry(id: n, fields: [
                "email": "user\(user)@example.org",
                "phone": "+49 30 \(100_000 + n * 37)",
                "city": "C\(n % 9)",
            ])
        }
    }
}

func exportAll() -> String {
    var files = 0
    var lines = 0
    var duplicates = 0
    var masked = 0
    for batch in 0..<12 {
        for region in 0..<7 {
            let pipeline = ExportPipeline(target: "region-\(region).csv")
            pipeline.configure(maskPhones: region % 2 == 0)
            pipeline.run(CustomerTable(region: batch * 7 + region).entries(60))
            let result = pipeline.result
            files += 1
            lines += result.lines
            duplicates += result.duplicates
            masked += result.masked
        }
        Thread.sleep(forTimeInterval: 0.05)
    }
    return "files \(files), lines \(lines), duplicates \(duplicates), masked \(masked)"
}

print(exportAll())
