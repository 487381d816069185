import Foundation

final class FileTally {
    let path: String
    let lines: Int
    let words: Int
    let longest: Int

    init(path: String, lines: Int, words: Int, longest: Int) {
        self.path = path
        self.lines = lines
        self.words = words
        self.longest = longest
    }
}

struct SourceFolder {
    let name: String
    let fileCount: Int

    func path(_ index: Int) -> String { "\(name)/part\(index).txt" }

    func contents(_ index: Int) -> String {
        var text = ""
        for line in 0..<(6 + (index * 7 + name.count) % 15) {
            let words = 2 + (line * 3 + index) % 8
            text += (0..<words).map { "w\(($0 + index) % 90)" }.joined(separator: " ")
            text += "\n"
        }
        return text
    }
}

struct TallyCounter {
    func count(path: String, text: String) -> FileTally {
        var lines = 0
        var words = 0
        var longest = 0
        text.enumerateLines { line, _ in
            lines += 1
            words += line.split(separator: " ").count
            longest = max(longest, line.count)
        }
        return FileTally(path: path, lines: lines, words: words, longest: longest)
    }
}

struct TallyReport {
    let tallies: [FileTally]

    func summary() -> String {
        let ranked = tallies.sorted { ($0.words, $0.path) > ($1.words, $1.path) }
        let words = ranked.reduce(0) { $0 + $1.words }
        let lines = ranked.reduce(0) { $0 + $1.lines }
        let median = ranked[ranked.count / 2].words
        let widest = ranked.map(\.longest).max() ?? 0
        let top = ranked.prefix(3).map(\.path).joined(separator: ",")
        return "\(ranked.count) files \(lines) lines \(words) words median \(median) widest \(widest) top \(top)"
    }
}

final class TallyRun {
    private var tallies: [FileTally] = []
    private let counter = TallyCounter()

    func visit(_ folder: SourceFolder) {
        for index in 0..<folder.fileCount {
            let tally = counter.count(path: folder.path(index), text: folder.contents(index))
            tallies.append(tally)
            if index % 8 == 0 { usleep(5_000) }
        }
    }

    func finish() -> TallyReport {
        TallyReport(tallies: tallies)
    }
}

@main
struct TallyCommand {
    static func main() {
        let run = TallyRun()
        let folders = [
            SourceFolder(name: "letters", fileCount: 160),
            SourceFolder(name: "minutes", fileCount: 140),
            SourceFolder(name: "essays", fileCount: 180),
            SourceFolder(name: "drafts", fileCount: 120),
        ]
        for folder in folders {
            run.visit(folder)
        }
        print("tallyrun: \(run.finish().summary())")
        exit(0)
    }
}
