import Foundation

struct Row {
    var id: Int
    var fields: [String: String]
}

typealias Stage = (Row) -> Row?

struct ImportSummary {
    var accepted = 0
    var duplicates = 0
    var invalid = 0

    static func += (left: inout ImportSummary, right: ImportSummary) {
        left.accepted += right.accepted
        left.duplicates += right.duplicates
        left.invalid += right.invalid
    }
}

enum Normalizer {
    static func trim(_ row: Row) -> Row? {
        var row = row
        row.fields = row.fields.mapValues { $0.trimmingCharacters(in: .whitespaces) }
        return row
    }

    static func lowercaseEmail(_ row: Row) -> Row? {
        var row = row
        row.fields["email"] = row.fields["email"]?.lowercased()
        return row
    }
}

final class ImportPipeline {
    let source: String
    private var stages: [Stage] = []
    private var seen: Set<String> = []
    private var output: [Row] = []
    private(set) var summary = ImportSummary()

    init(source: String) {
        self.source = source
    }

    func configure(requiredFields: [String]) {
        func dropDuplicate(_ row: Row) -> Row? {
            guard let email = row.fields["email"], seen.insert(email).inserted else {
                summary.duplicates += 1
                return nil
            }
            return row
        }

        func validate(_ row: Row) -> Row? {
            requiredFields.allSatisfy { !(row.fields[$0] ?? "").isEmpty } ? row : nil
        }

        stages.append(Normalizer.trim)
        stages.append(Normalizer.lowercaseEmail)
        stages.append(validate)
        stages.append(dropDuplicate)
    }

    func run(_ rows: [Row]) {
        for row in rows {
            var current: Row? = row
            for stage in stages {
                guard let value = current else { break }
                current = stage(value)
            }
            if let row = current {
                output.append(row)
                summary.accepted += 1
            }
        }
        summary.invalid = rows.count - summary.accepted - summary.duplicates
    }
}

struct CSVFeed {
    let name: String
    let seed: Int

    func rows(_ count: Int) -> [Row] {
        (0..<count).map { n in
            let user = (n * 7 + seed) % (count * 3 / 4)
            let email = n % 29 == 0 ? "" : " User\(user)@Example.org "
            return Row(id: n, fields: ["email": email, "name": "User \(user)", "city": "C\(n % 12)"])
        }
    }
}

final class NightlyImport {
    private(set) var total = ImportSummary()
    private(set) var files = 0

    func process(_ feed: CSVFeed) {
        let pipeline = ImportPipeline(source: feed.name)
        pipeline.configure(requiredFields: ["email", "name"])
        pipeline.run(feed.rows(60))
        total += pipeline.summary
        files += 1
    }
}

func importAll() -> NightlyImport {
    let nightly = NightlyImport()
    for batch in 0..<12 {
        for file in 0..<7 {
            nightly.process(CSVFeed(name: "crm-\(batch)-\(file).csv", seed: batch * 7 + file))
        }
        Thread.sleep(forTimeInterval: 0.05)
    }
    return nightly
}

let nightly = importAll()
print("files \(nightly.files), accepted \(nightly.total.accepted), duplicates \(nightly.total.duplicates), invalid \(nightly.total.invalid)")
