import Foundation

enum Token: Equatable {
    case open(name: String, attributes: [String: String])
    case close(name: String)
    case text(String)
}

struct Tokenizer {
    private let bytes: [UInt8]
    private var position = 0

    init(_ source: String) { bytes = Array(source.utf8) }

    private mutating func take(until stop: UInt8) -> String {
        let start = position
        while position < bytes.count && bytes[position] != stop { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    mutating func next() -> Token? {
        guard position < bytes.count else { return nil }
        guard bytes[position] == UInt8(ascii: "<") else {
            return .text(take(until: UInt8(ascii: "<")))
        }
        position += 1
        let inside = take(until: UInt8(ascii: ">"))
        position += 1
        if inside.hasPrefix("/") { return .close(name: String(inside.dropFirst())) }
        var parts = inside.split(separator: " ").map(String.init)
        let name = parts.removeFirst()
        var attributes: [String: String] = [:]
        for part in parts {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            attributes[pair[0]] = pair.count > 1 ? pair[1] : ""
        }
        return .open(name: name, attributes: attributes)
    }
}

final class Element {
    let name: String
    let attributes: [String: String]
    private(set) var children: [Element] = []
    private(set) var text = ""
    private(set) weak var parent: Element?
    var implicitlyClosedBy: Element?

    init(name: String, attributes: [String: String] = [:]) {
        self.name = name
        self.attributes = attributes
    }

    func append(_ child: Element) {
        child.parent = self
        children.append(child)
    }

    func append(text more: String) { text += more }

    var depth: Int {
        var count = 0
        var ancestor = parent
        while let current = ancestor {
            count += 1
            ancestor = current.parent
        }
        return count
    }

    var path: String {
        guard let parent else { return name }
        return parent.path + "/" + name
    }

    func walk(_ visit: (Element) -> Void) {
        visit(self)
        for child in children { child.walk(visit) }
    }
}

struct Diagnostic {
    let page: String
    let path: String
    let closedBy: String
}

final class Page {
    let address: String
    let root: Element
    private(set) var anchors: [String: Element] = [:]
    var diagnostics: [Diagnostic] = []

    init(address: String, root: Element) {
        self.address = address
        self.root = root
        root.walk { element in
            if let id = element.attributes["id"] { self.anchors[id] = element }
        }
    }

    func elements(named name: String) -> [Element] {
        var found: [Element] = []
        root.walk { if $0.name == name { found.append($0) } }
        return found
    }

    func render() -> String {
        var out = ""
        func emit(_ element: Element) {
            out += String(repeating: " ", count: element.depth) + element.name
            if !element.text.isEmpty { out += ": " + element.text }
            out += "\n"
            for child in element.children { emit(child) }
        }
        emit(root)
        return out
    }
}

struct PageBuilder {
    let address: String
    private var stack: [Element]
    private let root = Element(name: "page")
    private var diagnostics: [Diagnostic] = []

    init(address: String) {
        self.address = address
        stack = [root]
    }

    mutating func build(from source: String) -> Page {
        var tokenizer = Tokenizer(source)
        while let token = tokenizer.next() {
            switch token {
            case .text(let text):
                stack[stack.count - 1].append(text: text)
            case .open(let name, let attributes):
                let element = Element(name: name, attributes: attributes)
                stack[stack.count - 1].append(element)
                stack.append(element)
            case .close(let name):
                close(name)
            }
        }
        let page = Page(address: address, root: root)
        page.diagnostics = diagnostics
        return page
    }

    private mutating func close(_ name: String) {
        guard let position = stack.lastIndex(where: { $0.name == name }), position > 0 else { return }
        while stack.count - 1 > position {
            let unclosed = stack.removeLast()
            unclosed.implicitlyClosedBy = stack.last
            diagnostics.append(Diagnostic(page: address, path: unclosed.path, closedBy: name))
        }
        stack.removeLast()
    }
}

final class SiteStatistics {
    private var byTag: [String: Int] = [:]
    private var deepest = 0
    private var renderedBytes = 0
    private var repairs: [String: Int] = [:]
    private var pages = 0

    func absorb(_ page: Page) {
        pages += 1
        page.root.walk { element in
            byTag[element.name, default: 0] += 1
            deepest = max(deepest, element.depth)
            if let outer = element.implicitlyClosedBy {
                repairs[element.name + " in " + outer.name, default: 0] += 1
            }
        }
        renderedBytes += page.render().utf8.count
        if let summary = page.anchors["summary"] { renderedBytes += summary.path.utf8.count }
    }

    func report() -> String {
        let tags = byTag.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        let fixes = repairs.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        return "pages=\(pages) depth=\(deepest) bytes=\(renderedBytes) \(tags)\nrepairs [\(fixes)]"
    }
}

func manuscript(_ number: Int) -> String {
    var source = "<title>Entry \(number)</title><section id=summary>"
    for paragraph in 0..<6 {
        if number % 8 == 3 && paragraph == 2 {
            source += "<p>see <b>note <i>\(number)</p>"
        } else {
            source += "<p>part \(paragraph) <b>of \(number)</b> and <a href=/\(paragraph)>more</a></p>"
        }
    }
    source += "</section><footer><p>end</p></footer>"
    return source
}

let statistics = SiteStatistics()
var recent: [Page] = []
for round in 0..<64 {
    for entry in 0..<5 {
        let number = round * 5 + entry
        var builder = PageBuilder(address: "/entries/\(number)")
        let page = builder.build(from: manuscript(number))
        statistics.absorb(page)
        recent.append(page)
        if recent.count > 10 { recent.removeFirst() }
    }
    usleep(12_000)
}
let lastLinks = recent.reduce(0) { $0 + $1.elements(named: "a").count }
recent.removeAll()
print(statistics.report())
print("links in recent pages: \(lastLinks)")
