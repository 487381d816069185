import Foundation

struct LedgerLine {
    let account: Int
    let cents: Int
    let memo: String
}

struct Column {
    let title: String
    let width: Int
}

final class ReportSection {
    let title: String
    let columns: [Column]
    private let currency: String
    private var lines: [LedgerLine] = []

    lazy var formatLine: (LedgerLine) -> String = { line in
        let cells = [
            "\(line.account)",
            "\(line.cents / 100).\(line.cents % 100) \(self.currency)",
            line.memo,
        ]
        return zip(cells, self.columns)
            .map { cell, column in String(cell.prefix(column.width)).padding(toLength: column.width, withPad: " ", startingAt: 0) }
            .joined(separator: "|")
    }

    lazy var heading: String = {
        columns.map { $0.title.uppercased() }.joined(separator: " | ")
    }()

    init(title: String, columns: [Column], currency: String) {
        self.title = title
        self.columns = columns
        self.currency = currency
    }

    func add(_ line: LedgerLine) {
        lines.append(line)
    }

    func render() -> String {
        guard !lines.isEmpty else { return "\(title): no movements\n" }
        var text = "\(title)\n\(heading)\n"
        for line in lines {
            text += formatLine(line) + "\n"
        }
        return text
    }
}

struct Report {
    let period: Int
    let sections: [ReportSection]

    func write() -> (characters: Int, empty: Int) {
        var characters = 0
        var empty = 0
        for section in sections {
            let text = section.render()
            characters += text.count
            if text.hasSuffix("no movements\n") { empty += 1 }
        }
        return (characters, empty)
    }
}

struct ReportBuilder {
    static let layout = [
        Column(title: "account", width: 8),
        Column(title: "amount", width: 14),
        Column(title: "memo", width: 24),
    ]

    func build(period: Int, departments: Int) -> Report {
        let sections = (0..<departments).map { department -> ReportSection in
            let section = ReportSection(title: "Department \(department)", columns: Self.layout, currency: "EUR")
            if department % 4 != 3 {
                for n in 0..<25 {
                    section.add(LedgerLine(account: 4_000 + n, cents: (n * 7_919 + period * 131) % 90_000, memo: "posting \(n) of period \(period)"))
                }
            }
            return section
        }
        return Report(period: period, sections: sections)
    }
}

func yearEnd() -> String {
    let builder = ReportBuilder()
    var characters = 0
    var empty = 0
    for period in 0..<10 {
        let report = builder.build(period: period, departments: 20)
        let written = report.write()
        characters += written.characters
        empty += written.empty
        Thread.sleep(forTimeInterval: 0.06)
    }
    return "periods 10, characters \(characters), empty sections \(empty)"
}

print(yearEnd())
