import Foundation

// mdrender: Markdown subset to HTML. Blocks: headings, paragraphs, bullet
// lists (nested by indentation), block quotes, fenced code. Inlines: emphasis,
// strong, code spans, links. Also prints a table of contents.

class Node {
    weak var parent: Node?
    private(set) var children: [Node] = []

    func append(_ child: Node) {
        child.parent = self
        children.append(child)
    }

    var depth: Int {
        var count = 0
        var current = parent
        while let node = current {
            count += 1
            current = node.parent
        }
        return count
    }

    func render(into out: inout String) {
        for child in children { child.render(into: &out) }
    }
}

final class Document: Node {}

final class Text: Node {
    let value: String
    init(_ value: String) { self.value = value }

    override func render(into out: inout String) {
        for character in value {
            switch character {
            case "<": out += "&lt;"
            case ">": out += "&gt;"
            case "&": out += "&amp;"
            default: out.append(character)
            }
        }
    }
}

class Element: Node {
    let tag: String
    let attributes: [(String, String)]
    init(_ tag: String, attributes: [(String, String)] = []) {
        self.tag = tag
        self.attributes = attributes
    }

    override func render(into out: inout String) {
        out += "<\(tag)"
        for (name, value) in attributes { out += " \(name)=\"\(value)\"" }
        out += ">"
        super.render(into: &out)
        out += "</\(tag)>"
        if depth <= 1 { out += "\n" }
    }
}

final class Heading: Element {
    let level: Int
    let title: String
    init(level: Int, title: String) {
        self.level = level
        self.title = title
        let anchor = title.lowercased().map { $0.isLetter || $0.isNumber ? String($0) : "-" }.joined()
        super.init("h\(level)", attributes: [("id", anchor)])
    }
}

struct InlineParser {
    private let characters: [Character]
    private var index = 0

    init(_ text: String) { characters = Array(text) }

    mutating func parse(into parent: Node, until stop: String? = nil) {
        var pending = ""
        func flush() {
            if !pending.isEmpty { parent.append(Text(pending)) }
            pending = ""
        }
        while index < characters.count {
            if let stop, starts(with: stop) { break }
            if starts(with: "**") {
                flush()
                nested("strong", delimiter: "**", in: parent)
            } else if starts(with: "*") {
                flush()
                nested("em", delimiter: "*", in: parent)
            } else if starts(with: "`"), let end = characters[(index + 1)...].firstIndex(of: "`") {
                flush()
                let code = Element("code")
                code.append(Text(String(characters[(index + 1)..<end])))
                parent.append(code)
                index = end + 1
            } else if starts(with: "["), let close = characters[index...].firstIndex(of: "]"),
                      close + 1 < characters.count, characters[close + 1] == "(",
                      let end = characters[close...].firstIndex(of: ")") {
                flush()
                let link = Element("a", attributes: [("href", String(characters[(close + 2)..<end]))])
                link.append(Text(String(characters[(index + 1)..<close])))
                parent.append(link)
                index = end + 1
            } else {
                pending.append(characters[index])
                index += 1
            }
        }
        flush()
    }

    private mutating func nested(_ tag: String, delimiter: String, in parent: Node) {
        index += delimiter.count
        let element = Element(tag)
        parse(into: element, until: delimiter)
        index = min(index + delimiter.count, characters.count)
        parent.append(element)
    }

    private func starts(with text: String) -> Bool {
        var cursor = index
        for character in text {
            guard cursor < characters.count, characters[cursor] == character else { return false }
            cursor += 1
        }
        return true
    }
}

struct BlockParser {
    private var lines: ArraySlice<Substring>
    init(_ source: String) { lines = source.split(separator: "\n", omittingEmptySubsequences: false)[...] }

    mutating func parse() -> Document {
        let document = Document()
        while let line = lines.first {
            if line.allSatisfy(\.isWhitespace) { lines.removeFirst(); continue }
            if line.hasPrefix("#") {
                lines.removeFirst()
                let level = line.prefix { $0 == "#" }.count
                let heading = Heading(level: level, title: line.dropFirst(level).trimmingCharacters(in: .whitespaces))
                inline(heading.title, into: heading)
                document.append(heading)
            } else if line.hasPrefix("```") {
                lines.removeFirst()
                let code = Element("pre")
                while let body = lines.popFirst(), !body.hasPrefix("```") { code.append(Text(body + "\n")) }
                document.append(code)
            } else if line.hasPrefix("> ") {
                let quote = Element("blockquote")
                while let body = lines.first, body.hasPrefix("> ") {
                    lines.removeFirst()
                    inline(String(body.dropFirst(2)), into: quote)
                }
                document.append(quote)
            } else if indentation(of: line) != nil {
                document.append(list(indent: 0))
            } else {
                let paragraph = Element("p")
                while let body = lines.first, !body.isEmpty, !body.hasPrefix("#") {
                    lines.removeFirst()
                    inline(String(body) + " ", into: paragraph)
                }
                document.append(paragraph)
            }
        }
        return document
    }

    private func indentation(of line: Substring) -> Int? {
        let spaces = line.prefix { $0 == " " }.count
        return line.dropFirst(spaces).hasPrefix("- ") ? spaces : nil
    }

    private mutating func list(indent: Int) -> Element {
        let list = Element("ul")
        while let line = lines.first, let spaces = indentation(of: line), spaces >= indent {
            if spaces > indent {
                (list.children.last ?? list).append(self.list(indent: spaces))
                continue
            }
            lines.removeFirst()
            let item = Element("li")
            inline(String(line.dropFirst(spaces + 2)), into: item)
            list.append(item)
        }
        return list
    }

    private func inline(_ text: String, into node: Node) {
        var parser = InlineParser(text)
        parser.parse(into: node)
    }
}

func chapter(_ number: Int) -> String {
    var text = "# Chapter \(number)\n\nAn *overview* of **part \(number)** with `code <\(number)>` and [a link](https://example.org/\(number)).\n\n"
    for section in 1...6 {
        text += "## Section \(number).\(section)\n\n> Remember: *always* measure & compare.\n\n"
        for item in 1...5 { text += "- item \(item) with **bold *and nested* text**\n  - detail `x\(item)`\n  - more [docs](/d/\(item))\n" }
        text += "\n```\nlet value = \(section) < \(number)\n```\n\nClosing words, *line one*\nand line **two**.\n\n"
    }
    return text
}

var characters = 0, headings = 0
var digest: UInt64 = 0xcbf2_9ce4_8422_2325
for number in 1...520 {
    var parser = BlockParser(chapter(number))
    let document = parser.parse()
    var html = ""
    document.render(into: &html)
    let contents = document.children.compactMap { $0 as? Heading }.map { "\(String(repeating: "  ", count: $0.level - 1))\($0.title)" }
    headings += contents.count
    characters += html.utf8.count
    for byte in html.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
}
print("headings \(headings), html \(characters) bytes, digest \(String(digest, radix: 16))")
