import Foundation

// linegrep: a small recursive grep. Patterns support literals, '.', '*', '+',
// '?', character classes and alternation. A corpus is written to a
// temporary directory first so the tool has something to search.

indirect enum Pattern {
    case empty
    case literal(UInt8)
    case any
    case set(Set<UInt8>, negated: Bool)
    case concat(Pattern, Pattern)
    case alternate(Pattern, Pattern)
    case star(Pattern)
    case plus(Pattern)
    case optional(Pattern)
}

struct PatternError: Error { let message: String }

struct PatternParser {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func parse() throws -> Pattern {
        let result = try alternation()
        guard position == bytes.count else { throw PatternError(message: "unbalanced ')'") }
        return result
    }

    private mutating func alternation() throws -> Pattern {
        var left = try sequence()
        while position < bytes.count, bytes[position] == UInt8(ascii: "|") {
            position += 1
            left = .alternate(left, try sequence())
        }
        return left
    }

    private mutating func sequence() throws -> Pattern {
        var result = Pattern.empty
        while position < bytes.count, bytes[position] != UInt8(ascii: "|"), bytes[position] != UInt8(ascii: ")") {
            var atom = try self.atom()
            while position < bytes.count {
                if bytes[position] == UInt8(ascii: "*") { atom = .star(atom) }
                else if bytes[position] == UInt8(ascii: "+") { atom = .plus(atom) }
                else if bytes[position] == UInt8(ascii: "?") { atom = .optional(atom) }
                else { break }
                position += 1
            }
            if case .empty = result { result = atom } else { result = .concat(result, atom) }
        }
        return result
    }

    private mutating func atom() throws -> Pattern {
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "."): return .any
        case UInt8(ascii: "("):
            let inner = try alternation()
            guard position < bytes.count, bytes[position] == UInt8(ascii: ")") else { throw PatternError(message: "missing ')'") }
            position += 1
            return inner
        case UInt8(ascii: "["):
            var members = Set<UInt8>()
            var negated = false
            if position < bytes.count, bytes[position] == UInt8(ascii: "^") { negated = true; position += 1 }
            while position < bytes.count, bytes[position] != UInt8(ascii: "]") {
                if position + 2 < bytes.count, bytes[position + 1] == UInt8(ascii: "-") {
                    for member in bytes[position]...bytes[position + 2] { members.insert(member) }
                    position += 3
                } else {
                    members.insert(bytes[position])
                    position += 1
                }
            }
            position += 1
            return .set(members, negated: negated)
        default: return .literal(byte)
        }
    }
}

/// States live in one arena and refer to each other by index.
final class Automaton {
    private enum State {
        case match
        case split(Int, Int)
        case byte(UInt8, Int)
        case any(Int)
        case table([Bool], Int)
    }
    private var states: [State] = [.match]
    private var start = 0
    private var marks: [Int] = []
    private var generation = 0

    init(_ pattern: Pattern) {
        start = emit(pattern, next: 0)
        marks = Array(repeating: 0, count: states.count)
    }

    private func add(_ state: State) -> Int {
        states.append(state)
        return states.count - 1
    }

    private func emit(_ pattern: Pattern, next: Int) -> Int {
        switch pattern {
        case .empty: return next
        case .literal(let byte): return add(.byte(byte, next))
        case .any: return add(.any(next))
        case .set(let members, let negated):
            return add(.table((0..<256).map { members.contains(UInt8($0)) != negated }, next))
        case .concat(let a, let b): return emit(a, next: emit(b, next: next))
        case .alternate(let a, let b): return add(.split(emit(a, next: next), emit(b, next: next)))
        case .optional(let a): return add(.split(emit(a, next: next), next))
        case .star(let a):
            let loop = add(.match)
            states[loop] = .split(emit(a, next: loop), next)
            return loop
        case .plus(let a):
            let loop = add(.match)
            let body = emit(a, next: loop)
            states[loop] = .split(body, next)
            return body
        }
    }

    private func follow(_ index: Int, into list: inout [Int]) {
        guard marks[index] != generation else { return }
        marks[index] = generation
        if case .split(let a, let b) = states[index] {
            follow(a, into: &list)
            follow(b, into: &list)
        } else {
            list.append(index)
        }
    }

    func firstMatch(in line: ArraySlice<UInt8>) -> Bool {
        var current: [Int] = [], next: [Int] = []
        generation += 1
        follow(start, into: &current)
        for byte in line {
            generation += 1
            next.removeAll(keepingCapacity: true)
            for index in current {
                switch states[index] {
                case .match: return true
                case .byte(let expected, let target): if byte == expected { follow(target, into: &next) }
                case .any(let target): follow(target, into: &next)
                case .table(let table, let target): if table[Int(byte)] { follow(target, into: &next) }
                case .split: break
                }
            }
            follow(start, into: &next)
            swap(&current, &next)
        }
        return current.contains { if case .match = states[$0] { return true } else { return false } }
    }
}

final class Match {
    let file: String
    let lineNumber: Int
    let text: String
    init(file: String, lineNumber: Int, text: String) {
        self.file = file
        self.lineNumber = lineNumber
        self.text = text
    }
}

final class Searcher {
    private let automaton: Automaton
    private(set) var matches: [Match] = []
    private(set) var linesScanned = 0

    init(pattern: String) throws {
        var parser = PatternParser(pattern)
        automaton = Automaton(try parser.parse())
    }

    func search(_ url: URL) throws {
        let bytes = [UInt8](try Data(contentsOf: url))
        var number = 0
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
            number += 1
            linesScanned += 1
            if automaton.firstMatch(in: line) {
                matches.append(Match(file: url.lastPathComponent, lineNumber: number, text: String(decoding: line, as: UTF8.self)))
            }
        }
    }
}

func writeCorpus(to directory: URL, files: Int) throws {
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let words = ["import", "func", "return", "guard", "error", "warning", "result", "value", "index", "retry", "timeout", "cache"]
    var seed: UInt32 = 2024
    for file in 0..<files {
        var text = ""
        for _ in 0..<520 {
            for _ in 0..<6 {
                seed = seed &* 1_664_525 &+ 1_013_904_223
                text += words[Int(seed >> 16) % words.count]
                text += (seed >> 8) & 7 == 0 ? "=\(seed & 0xfff) " : " "
            }
            text += "\n"
        }
        try text.write(to: directory.appendingPathComponent("unit\(file).txt"), atomically: false, encoding: .utf8)
    }
}

let root = FileManager.default.temporaryDirectory.appendingPathComponent("linegrep-\(ProcessInfo.processInfo.processIdentifier)")
defer { try? FileManager.default.removeItem(at: root) }
try writeCorpus(to: root, files: 38)

let files = try FileManager.default.contentsOfDirectory(at: root, includingPropertiesForKeys: nil).sorted { $0.path < $1.path }
let patterns = ["error=[0-9]+ ", "(retry|timeout) cache", "import import", "result(=1[0-9]*)? index", "guard .*error.*return"]
for pattern in patterns {
    let searcher = try Searcher(pattern: pattern)
    for file in files { try searcher.search(file) }
    let perFile = Dictionary(grouping: searcher.matches, by: \.file).mapValues(\.count)
    let busiest = perFile.max { ($0.value, $1.key) < ($1.value, $0.key) }
    let longest = searcher.matches.map(\.text.utf8.count).max() ?? 0
    let lastLine = searcher.matches.map(\.lineNumber).max() ?? 0
    print("/\(pattern)/: \(searcher.matches.count) of \(searcher.linesScanned) lines, most in \(busiest?.key ?? "-"), longest \(longest), last line \(lastLine)")
}
