import Foundation

final class Token {
    let text: String
    let column: Int
    init(text: String, column: Int) {
        self.text = text
        self.column = column
    }
}

final class Clause {
    let verb: String
    let arguments: [String]
    init(verb: String, arguments: [String]) {
        self.verb = verb
        self.arguments = arguments
    }
}

final class Definition {
    let name: String
    let clauses: [Clause]
    weak var extends: Definition?
    init(name: String, clauses: [Clause], extends: Definition?) {
        self.name = name
        self.clauses = clauses
        self.extends = extends
    }
    var size: Int { clauses.count + (extends?.size ?? 0) }
}

final class Attempt {
    let start: Int
    let result: Clause?
    let next: Int
    init(start: Int, result: Clause?, next: Int) {
        self.start = start
        self.result = result
        self.next = next
    }
}

enum GrammarFault: Error {
    case unexpected(String)
}

final class RuleParser {
    private var tokens: [Token] = []
    private var memo: [Int: Attempt] = [:]
    private(set) var definitions: [String: Definition] = [:]
    private(set) var backtracks = 0

    func parse(_ line: String) throws {
        tokens = line.split(separator: " ").enumerated().map { Token(text: String($1), column: $0) }
        defer {
            memo.removeAll(keepingCapacity: true)
            tokens.removeAll(keepingCapacity: true)
        }
        guard tokens.count > 3, tokens[0].text == "rule" else { throw GrammarFault.unexpected(line) }
        let name = tokens[1].text
        var parent: Definition?
        var position = 2
        if tokens[2].text == "extends" {
            parent = definitions[tokens[3].text]
            position = 4
        }
        definitions[name] = Definition(name: name, clauses: try clauses(from: position), extends: parent)
    }

    private func clauses(from start: Int) throws -> [Clause] {
        var position = start
        var found: [Clause] = []
        while position < tokens.count {
            var accepted: Attempt?
            for arity in [3, 2, 1] {
                let attempt = clause(at: position, arity: arity)
                if attempt.result != nil, attempt.next == tokens.count || tokens[attempt.next].text == "and" {
                    accepted = attempt
                    break
                }
                backtracks += 1
            }
            guard let attempt = accepted, let clause = attempt.result else {
                throw GrammarFault.unexpected(tokens[position].text)
            }
            found.append(clause)
            position = attempt.next + 1
        }
        return found
    }

    private func clause(at position: Int, arity: Int) -> Attempt {
        let key = position * 4 + arity
        if let known = memo[key] { return known }
        let end = position + 1 + arity
        var result: Clause?
        if end <= tokens.count, ["match", "drop", "tag"].contains(tokens[position].text) {
            result = Clause(verb: tokens[position].text, arguments: tokens[(position + 1)..<end].map(\.text))
        }
        let attempt = Attempt(start: position, result: result, next: min(end, tokens.count))
        memo[key] = attempt
        return attempt
    }
}

let parser = RuleParser()
var faults = 0
for n in 0..<500 {
    let parent = n > 40 && n % 3 == 0 ? "extends r\(n % 40) " : ""
    let tail = n % 15 == 8 ? "and jump x" : "and tag t\(n % 9) high"
    do {
        try parser.parse("rule r\(n % 320) \(parent)match host h\(n) port and drop udp \(tail)")
    } catch {
        faults += 1
    }
    usleep(2000)
}
let largest = parser.definitions.values.max { ($0.size, $0.name) < ($1.size, $1.name) }
print("definitions \(parser.definitions.count), faults \(faults), backtracks \(parser.backtracks)")
print("largest \(largest?.name ?? "-") with \(largest?.size ?? 0) clauses")
