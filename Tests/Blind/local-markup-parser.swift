import Foundation

class MarkupNode {
    var parent: Element?
    var text: String { "" }
    func detach() { parent = nil }
}

final class TextRun: MarkupNode {
    private let content: String
    init(_ c: String) { content = c }
    override var text: String { content }
}

final class Element: MarkupNode {
    let tag: String
    var attributes: [String: String] = [:]
    private(set) var children: [MarkupNode] = []
    init(tag: String) { self.tag = tag }

    func append(_ n: MarkupNode) {
        children.append(n)
        n.parent = self
    }
    func drop(_ n: MarkupNode) { children.removeAll { $0 === n } }
    override var text: String { children.map(\.text).joined(separator: " ") }

    override func detach() {
        for c in children { c.detach() }
        children.removeAll()
        super.detach()
    }

    func find(_ t: String, _ body: (Element) -> Void) {
        if tag == t { body(self) }
        for c in children { (c as? Element)?.find(t, body) }
    }

    var path: String { (parent.map { $0.path + "/" } ?? "") + tag }
}

enum MarkupToken {
    case open(String, [String: String])
    case close(String)
    case text(String)
}

final class Lexer {
    private let input: [Substring]
    private var position = 0
    init(_ s: String) { input = s.split(separator: " ") }

    func next() -> MarkupToken? {
        guard position < input.count else { return nil }
        let w = input[position]
        position += 1
        if w.hasPrefix("</") { return .close(String(w.dropFirst(2).dropLast())) }
        if w.hasPrefix("<") {
            let parts = w.dropFirst().dropLast().split(separator: ":")
            return .open(String(parts[0]), parts.count > 1 ? ["class": String(parts[1])] : [:])
        }
        return .text(String(w))
    }
}

final class Document {
    let root = Element(tag: "document")
    private(set) var problems: [String] = []
    func report(_ p: String) {
        if problems.count < 20 { problems.append(p) }
    }
    func close() { root.detach() }
}

final class TreeBuilder {
    private let document: Document
    private var stack: [Element]
    private let discarded = ["b", "i"]

    init(_ d: Document) {
        document = d
        stack = [d.root]
    }

    func build(_ lexer: Lexer) {
        while let t = lexer.next() {
            switch t {
            case .open(let tag, let attributes):
                let e = Element(tag: tag)
                e.attributes = attributes
                stack.last!.append(e)
                stack.append(e)
            case .text(let s):
                stack.last!.append(TextRun(s))
            case .close(let tag):
                close(tag)
            }
        }
        while stack.count > 1 { stack.removeLast() }
    }

    private func close(_ tag: String) {
        guard let depth = stack.lastIndex(where: { $0.tag == tag }), depth > 0 else {
            document.report("stray </\(tag)> in \(stack.last!.path)")
            return
        }
        while stack.count - 1 > depth { recover(stack.removeLast()) }
        stack.removeLast()
    }

    private func recover(_ e: Element) {
        document.report("unclosed \(e.path)")
        if discarded.contains(e.tag) {
            e.parent?.drop(e)
        }
    }
}

final class Outline {
    private(set) var headings = 0
    private(set) var words = 0
    private(set) var links: [String: Int] = [:]
    private(set) var problems = 0

    func add(_ d: Document) {
        d.root.find("h") { _ in headings += 1 }
        d.root.find("a") { links[$0.attributes["class"] ?? "none", default: 0] += 1 }
        words += d.root.text.split(separator: " ").count
        problems += d.problems.count
    }
}

final class Generator {
    private var n = 0
    func page() -> String {
        n += 1
        var s = "<body> <h> Title \(n) </h>"
        for p in 0..<(3 + n % 5) {
            s += " <p> some words here"
            s += " <a:c\((n + p) % 4)> link </a>"
            if (n + p) % 19 == 7 { s += " <b> bold text left open" }
            if (n + p) % 3 == 0 { s += " <i> slanted </i>" }
            if (n * p) % 47 == 11 { s += " </table>" }
            s += " </p>"
        }
        if n % 6 == 2 { s += " <ul> <li> one <li> two </ul>" }
        return s + " </body>"
    }
}

func crawl() {
    let generator = Generator()
    let outline = Outline()
    for _ in 0..<600 {
        let document = Document()
        TreeBuilder(document).build(Lexer(generator.page()))
        outline.add(document)
        document.close()
        usleep(3_200)
    }
    let links = outline.links.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    print("headings \(outline.headings) words \(outline.words) problems \(outline.problems) links \(links)")
}

crawl()
