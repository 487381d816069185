import Foundation

// Reads outline files (an OPML like XML), validates them, merges duplicate
// feeds and prints statistics per category.

final class Outline {
    let text: String
    var attributes: [String: String]
    private(set) var children: [Outline] = []
    private(set) var parent: Outline?

    init(text: String, attributes: [String: String]) {
        self.text = text
        self.attributes = attributes
    }

    func append(_ child: Outline) {
        child.parent = self
        children.append(child)
    }

    var path: String {
        var names = [text]
        var current = parent
        while let outline = current {
            names.append(outline.text)
            current = outline.parent
        }
        return names.reversed().joined(separator: "/")
    }

    var depth: Int { (parent?.depth ?? -1) + 1 }

    func forEach(_ body: (Outline) -> Void) {
        body(self)
        for child in children { child.forEach(body) }
    }
}

enum OutlineError: Error { case unexpectedEnd, badTag(Int), mismatch }

struct Scanner8 {
    private let bytes: [UInt8]
    private(set) var position = 0
    init(_ text: String) { bytes = Array(text.utf8) }

    var atEnd: Bool { position >= bytes.count }

    mutating func skip(until byte: UInt8) {
        while position < bytes.count, bytes[position] != byte { position += 1 }
    }

    mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    mutating func skipSpace() { while position < bytes.count, bytes[position] <= 32 { position += 1 } }

    mutating func word() -> String {
        let start = position
        while position < bytes.count, bytes[position] != 32, bytes[position] != UInt8(ascii: "="), bytes[position] != UInt8(ascii: ">"), bytes[position] != UInt8(ascii: "/") { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    mutating func quoted() throws -> String {
        guard take(UInt8(ascii: "\"")) else { throw OutlineError.badTag(position) }
        let start = position
        skip(until: UInt8(ascii: "\""))
        let value = String(decoding: bytes[start..<position], as: UTF8.self)
        guard take(UInt8(ascii: "\"")) else { throw OutlineError.unexpectedEnd }
        return value.contains("&") ? value.replacingOccurrences(of: "&amp;", with: "&").replacingOccurrences(of: "&quot;", with: "\"") : value
    }
}

struct OutlineParser {
    private var scanner: Scanner8

    init(_ source: String) { scanner = Scanner8(source) }

    mutating func parse() throws -> Outline {
        let root = Outline(text: "root", attributes: [:])
        var open = [root]
        while true {
            scanner.skip(until: UInt8(ascii: "<"))
            guard !scanner.atEnd else { break }
            _ = scanner.take(UInt8(ascii: "<"))
            if scanner.take(UInt8(ascii: "/")) {
                _ = scanner.word()
                guard open.count > 1 else { throw OutlineError.mismatch }
                open.removeLast()
                continue
            }
            _ = scanner.word()
            var attributes: [String: String] = [:]
            scanner.skipSpace()
            while !scanner.take(UInt8(ascii: ">")) {
                if scanner.take(UInt8(ascii: "/")) {
                    attributes["_leaf"] = "1"
                    continue
                }
                guard !scanner.atEnd else { throw OutlineError.unexpectedEnd }
                let name = scanner.word()
                guard scanner.take(UInt8(ascii: "=")) else { throw OutlineError.badTag(scanner.position) }
                attributes[name] = try scanner.quoted()
                scanner.skipSpace()
            }
            let isLeaf = attributes.removeValue(forKey: "_leaf") != nil
            let outline = Outline(text: attributes["text"] ?? "untitled", attributes: attributes)
            open[open.count - 1].append(outline)
            if !isLeaf { open.append(outline) }
        }
        guard open.count == 1 else { throw OutlineError.unexpectedEnd }
        return root
    }
}

struct FeedStatistics {
    private(set) var feeds = 0
    private(set) var categories = 0
    private(set) var deepest = 0
    private(set) var longestPath = ""
    private(set) var duplicates = 0
    private var urls: Set<String> = []

    mutating func add(_ root: Outline) {
        urls.removeAll(keepingCapacity: true)
        root.forEach { outline in
            deepest = max(deepest, outline.depth)
            guard let url = outline.attributes["xmlUrl"] else {
                categories += 1
                return
            }
            feeds += 1
            if !urls.insert(url.lowercased()).inserted { duplicates += 1 }
            let path = outline.path
            if path.utf8.count > longestPath.utf8.count { longestPath = path }
        }
    }
}

/// Every file has 4 areas with 4 topics of 5 feeds each.
func makeFile(_ number: Int) -> String {
    var xml = ""
    for area in 0..<4 {
        xml += "<outline text=\"Area \(area) &amp; more\">\n"
        for topic in 0..<4 {
            xml += " <outline text=\"Topic \(number).\(topic)\" created=\"2024-0\(1 + topic)-11\">\n"
            for feed in 0..<5 {
                let id = (number * 7 + area * 5 + topic * 3 + feed * 11) % 90
                xml += "  <outline text=\"Feed \(id)\" type=\"rss\" xmlUrl=\"https://Feeds.example.org/\(id).xml\" description=\"\(String(repeating: "news and views, ", count: 30))\"/>\n"
            }
            xml += " </outline>\n"
        }
        xml += "</outline>\n"
    }
    return xml
}

var statistics = FeedStatistics()
var files: [String] = []
var bytes = 0
for number in 0..<18 {
    files.append(makeFile(number))
    bytes += files[number].utf8.count
}
var rejected = 0
for (number, file) in files.enumerated() {
    var parser = OutlineParser(file)
    let root = try parser.parse()
    for _ in 0..<310 { statistics.add(root) }
    // A file with its last closing tag missing has to be refused.
    if Checks.isBroken(String(file.dropLast(11)), sample: number) { rejected += 1 }
}

enum Checks {
    static func isBroken(_ text: String, sample: Int) -> Bool {
        var balance = 0
        for line in text.split(separator: "\n") {
            let trimmed = line.drop { $0 == " " }
            if trimmed.hasPrefix("</") { balance -= 1 } else if !trimmed.hasSuffix("/>") { balance += 1 }
        }
        return balance != 0
    }
}

print("files \(files.count), \(bytes) bytes, broken variants found \(rejected)")
print("feeds \(statistics.feeds), categories \(statistics.categories), deepest \(statistics.deepest), duplicates \(statistics.duplicates)")
print("longest path \(statistics.longestPath)")
