import Foundation

class Expr {
    func evaluate(_ scope: [String: Int]) -> Int { 0 }
}

final class NameExpr: Expr {
    let name: String
    init(_ name: String) { self.name = name }
    override func evaluate(_ scope: [String: Int]) -> Int { scope[name] ?? 0 }
}

final class BinaryExpr: Expr {
    let op: Character
    let left: Expr
    let right: Expr
    init(_ op: Character, _ left: Expr, _ right: Expr) {
        self.op = op
        self.left = left
        self.right = right
    }
    override func evaluate(_ scope: [String: Int]) -> Int {
        let (l, r) = (left.evaluate(scope), right.evaluate(scope))
        return op == "+" ? l &+ r : l &* r
    }
}

final class Source {
    let id: Int
    let text: [Character]
    init(id: Int, text: String) {
        self.id = id
        self.text = Array(text)
    }
}

final class MemoEntry {
    let node: Expr?
    let end: Int
    init(node: Expr?, end: Int) {
        self.node = node
        self.end = end
    }
}

struct SyntaxError: Error {
    let source: Int
    let position: Int
}

enum Rule: Hashable {
    case expression, term, factor
}

struct MemoKey: Hashable {
    let rule: Rule
    let position: Int
}

final class ExpressionParser {
    private var memo: [Int: [MemoKey: MemoEntry]] = [:]
    private(set) var lookups = 0

    func parse(_ source: Source) throws -> Expr {
        let entry = apply(.expression, source, 0)
        guard let node = entry.node, entry.end == source.text.count else {
            throw SyntaxError(source: source.id, position: entry.end)
        }
        memo[source.id] = nil
        return node
    }

    private func apply(_ rule: Rule, _ source: Source, _ position: Int) -> MemoEntry {
        let key = MemoKey(rule: rule, position: position)
        if let known = memo[source.id]?[key] {
            lookups += 1
            return known
        }
        let entry: MemoEntry
        switch rule {
        case .expression: entry = chain(source, position, operand: .term, rest: .expression, symbol: "+")
        case .term: entry = chain(source, position, operand: .factor, rest: .term, symbol: "*")
        case .factor: entry = factor(source, position)
        }
        memo[source.id, default: [:]][key] = entry
        return entry
    }

    private func chain(_ source: Source, _ position: Int, operand: Rule, rest: Rule, symbol: Character) -> MemoEntry {
        let left = apply(operand, source, position)
        if let l = left.node, left.end < source.text.count, source.text[left.end] == symbol {
            let right = apply(rest, source, left.end + 1)
            if let r = right.node { return MemoEntry(node: BinaryExpr(symbol, l, r), end: right.end) }
        }
        let single = apply(operand, source, position)
        return MemoEntry(node: single.node, end: single.end)
    }

    private func factor(_ source: Source, _ position: Int) -> MemoEntry {
        guard position < source.text.count else { return MemoEntry(node: nil, end: position) }
        let symbol = source.text[position]
        if symbol == "(" {
            let inner = apply(.expression, source, position + 1)
            if inner.node != nil, inner.end < source.text.count, source.text[inner.end] == ")" {
                return MemoEntry(node: inner.node, end: inner.end + 1)
            }
        }
        if symbol.isLetter { return MemoEntry(node: NameExpr(String(symbol)), end: position + 1) }
        return MemoEntry(node: nil, end: position)
    }
}

let parser = ExpressionParser()
let scope = ["a": 3, "b": 5, "c": 7, "d": 11]
var total = 0
var errors: [Int: Int] = [:]
for id in 0..<300 {
    let text = id % 12 == 5 ? "a+b*(c+d" : ["a+b*(c+d)", "(a+b)*c*d", "a*(b+c*(d+a))+b", "d"][id % 4]
    do {
        total &+= try parser.parse(Source(id: id, text: text)).evaluate(scope)
    } catch let error as SyntaxError {
        errors[error.position, default: 0] += 1
    }
    usleep(3000)
}
print("total \(total), memo lookups \(parser.lookups)")
print("errors by position: \(errors.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", "))")
