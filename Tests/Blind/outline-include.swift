import Foundation

protocol OutlineHandler: AnyObject {
    func heading(level: Int, title: String)
    func text(_ line: Substring)
    func include(_ name: String)
}

final class Heading {
    let level: Int
    let title: String
    private(set) var children: [Heading] = []
    private(set) weak var parent: Heading?
    var words = 0

    init(level: Int, title: String) {
        self.level = level
        self.title = title
    }

    func add(_ child: Heading) {
        child.parent = self
        children.append(child)
    }

    var totalWords: Int {
        children.reduce(words) { $0 + $1.totalWords }
    }

    var depth: Int {
        1 + (children.map(\.depth).max() ?? 0)
    }
}

final class OutlineParser {
    var handler: OutlineHandler?
    private var lines: [Substring] = []
    private(set) var lineNumber = 0

    func push(_ source: String) {
        // Reversed, so that the next line is popped from the end.
        lines.append(contentsOf: source.split(separator: "\n").reversed())
    }

    func run() {
        while let line = lines.popLast() {
            lineNumber += 1
            if line.hasPrefix("@include ") {
                handler?.include(String(line.dropFirst(9)))
            } else if line.hasPrefix("#") {
                let level = line.prefix { $0 == "#" }.count
                handler?.heading(level: level, title: line.dropFirst(level).trimmingCharacters(in: .whitespaces))
            } else {
                handler?.text(line)
            }
        }
    }
}

final class OutlineBuilder: OutlineHandler {
    private var root: Heading? = Heading(level: 0, title: "")
    private var current: Heading?
    private let library: [String: String]
    /// Set when the document may include others.
    var parser: OutlineParser?

    init(library: [String: String]) {
        self.library = library
        current = root
    }

    func heading(level: Int, title: String) {
        let node = Heading(level: level, title: title)
        var owner = current
        while let candidate = owner, candidate.level >= level { owner = candidate.parent }
        (owner ?? root)?.add(node)
        current = node
    }

    func text(_ line: Substring) {
        current?.words += line.split(separator: " ").count
    }

    func include(_ name: String) {
        if let source = library[name] { parser?.push(source) }
    }

    func takeRoot() -> Heading? {
        defer {
            root = nil
            current = nil
        }
        return root
    }
}

let library = [
    "legal": "## Legal\nall rights reserved by the office\nno warranty is given",
    "contact": "## Contact\nwrite to the front desk\n### Hours\nnine to five",
]

func makeDocument(_ number: Int) -> String {
    var lines = ["# Report \(number)"]
    for section in 0..<(2 + number % 3) {
        lines.append("## Section \(section)")
        for paragraph in 0..<4 {
            lines.append("line \(paragraph) of section \(section) has a few plain words in it")
        }
    }
    if number % 3 == 1 { lines.append("@include legal") }
    if number % 6 == 1 { lines.append("@include contact") }
    return lines.joined(separator: "\n")
}

func outline(_ source: String) -> Heading? {
    let parser = OutlineParser()
    let builder = OutlineBuilder(library: library)
    parser.handler = builder
    if source.contains("@include") {
        builder.parser = parser
    }
    parser.push(source)
    parser.run()
    return builder.takeRoot()
}

var words = 0
var deepest = 0
for batch in 0..<50 {
    for i in 0..<6 {
        guard let root = outline(makeDocument(batch * 6 + i)) else { continue }
        words += root.totalWords
        deepest = max(deepest, root.depth)
    }
    usleep(10_000)
}
print("300 documents, \(words) words, depth \(deepest)")
