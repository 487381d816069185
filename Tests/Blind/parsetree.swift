import Foundation

class SyntaxNode {
    func evaluate(_ scope: [String: Int]) -> Int { 0 }
}

final class NumberNode: SyntaxNode {
    let value: Int
    init(_ value: Int) { self.value = value }
    override func evaluate(_ scope: [String: Int]) -> Int { value }
}

final class NameNode: SyntaxNode {
    let name: String
    init(_ name: String) { self.name = name }
    override func evaluate(_ scope: [String: Int]) -> Int { scope[name] ?? 0 }
}

final class BinaryNode: SyntaxNode {
    let symbol: Character
    let left: SyntaxNode
    let right: SyntaxNode

    init(_ symbol: Character, _ left: SyntaxNode, _ right: SyntaxNode) {
        self.symbol = symbol
        self.left = left
        self.right = right
    }

    override func evaluate(_ scope: [String: Int]) -> Int {
        let l = left.evaluate(scope)
        let r = right.evaluate(scope)
        switch symbol {
        case "+": return l &+ r
        case "-": return l &- r
        default: return (l &* r) % 1_000_003
        }
    }
}

struct ExpressionParser {
    private var tokens: ArraySlice<Substring>

    init(_ text: String) {
        tokens = text.split(separator: " ")[...]
    }

    mutating func expression() -> SyntaxNode {
        var node = term()
        while let token = tokens.first, token == "+" || token == "-" {
            tokens.removeFirst()
            node = BinaryNode(token.first!, node, term())
        }
        return node
    }

    private mutating func term() -> SyntaxNode {
        var node = factor()
        while tokens.first == "*" {
            tokens.removeFirst()
            node = BinaryNode("*", node, factor())
        }
        return node
    }

    private mutating func factor() -> SyntaxNode {
        guard let token = tokens.popFirst() else { return NumberNode(0) }
        if let value = Int(token) { return NumberNode(value) }
        return NameNode(String(token))
    }
}

final class RuleProgram {
    private var rules: [(target: String, body: SyntaxNode)] = []

    func load(_ source: [String]) {
        for line in source {
            let halves = line.components(separatedBy: " = ")
            var parser = ExpressionParser(halves[1])
            rules.append((halves[0], parser.expression()))
        }
    }

    func run(seed: Int) -> Int {
        var scope = ["seed": seed]
        for rule in rules {
            scope[rule.target] = rule.body.evaluate(scope)
        }
        return scope["r\(rules.count - 1)"] ?? 0
    }

    var count: Int { rules.count }
}

func ruleSource(_ count: Int) -> [String] {
    (0..<count).map { index in
        let prior = index == 0 ? "seed" : "r\(index - 1)"
        return "r\(index) = \(prior) * \(3 + index % 7) + seed - \(index) * \(prior)"
    }
}

let program = RuleProgram()
program.load(ruleSource(180))
var checksum = 0
for seed in 1...120 {
    checksum = (checksum + program.run(seed: seed)) % 1_000_003
    if seed % 2 == 0 { usleep(7_000) }
}
print("parsetree: \(program.count) rules, checksum \(checksum)")
