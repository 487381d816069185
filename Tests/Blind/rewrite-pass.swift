import Foundation

class Expr {
    weak var parent: Expr?
    let line: Int
    init(line: Int) { self.line = line }
    func emit(into code: inout [String]) {}
}

final class LiteralExpr: Expr {
    let value: Int
    var origin: Expr?
    init(value: Int, line: Int) {
        self.value = value
        super.init(line: line)
    }
    override func emit(into code: inout [String]) { code.append("push \(value)") }
}

final class NameExpr: Expr {
    let name: String
    init(name: String, line: Int) {
        self.name = name
        super.init(line: line)
    }
    override func emit(into code: inout [String]) { code.append("load \(name)") }
}

final class BinaryExpr: Expr {
    let op: Character
    private(set) var left: Expr
    private(set) var right: Expr
    var folded: LiteralExpr?

    init(op: Character, left: Expr, right: Expr, line: Int) {
        self.op = op
        self.left = left
        self.right = right
        super.init(line: line)
        left.parent = self
        right.parent = self
    }

    func replace(_ old: Expr, with new: Expr) {
        new.parent = self
        if left === old { left = new } else if right === old { right = new }
    }

    override func emit(into code: inout [String]) {
        left.emit(into: &code)
        right.emit(into: &code)
        code.append("op \(op)")
    }
}

final class FunctionDecl {
    let name: String
    var body: Expr
    init(name: String, body: Expr) {
        self.name = name
        self.body = body
    }
}

final class ConstantFolder {
    private(set) var hits = 0

    func run(on function: FunctionDecl) {
        function.body = simplify(function.body)
    }

    private func simplify(_ expr: Expr) -> Expr {
        guard let binary = expr as? BinaryExpr else { return expr }
        for side in [binary.left, binary.right] {
            let result = simplify(side)
            if result !== side { binary.replace(side, with: result) }
        }
        if let a = binary.left as? LiteralExpr, let b = binary.right as? LiteralExpr {
            let value = binary.op == "+" ? a.value + b.value : a.value * b.value
            let literal = LiteralExpr(value: value, line: binary.line)
            literal.origin = binary
            binary.folded = literal
            hits += 1
            return literal
        }
        return expr
    }
}

final class CodeBuffer {
    private(set) var instructions = 0
    private(set) var digest = 0
    func write(_ code: [String]) {
        instructions += code.count
        for line in code { digest = (digest &* 31 &+ line.utf8.reduce(0) { $0 + Int($1) }) & 0xffff }
    }
}

func parseFunction(_ index: Int) -> FunctionDecl {
    var body: Expr = NameExpr(name: "arg", line: 1)
    for line in 2..<8 {
        let operand: Expr
        if index % 5 == 0 && line == 4 {
            operand = BinaryExpr(op: "*", left: LiteralExpr(value: index, line: line),
                                 right: LiteralExpr(value: 60, line: line), line: line)
        } else if line % 2 == 0 {
            operand = LiteralExpr(value: line, line: line)
        } else {
            operand = NameExpr(name: "v\(line)", line: line)
        }
        body = BinaryExpr(op: "+", left: body, right: operand, line: line)
    }
    return FunctionDecl(name: "f\(index)", body: body)
}

let folder = ConstantFolder()
let output = CodeBuffer()
for index in 0..<300 {
    let function = parseFunction(index)
    folder.run(on: function)
    var code: [String] = []
    function.body.emit(into: &code)
    output.write(code)
    usleep(2500)
}
print("folded \(folder.hits) expressions")
print("instructions \(output.instructions), digest \(output.digest)")
