import Foundation

// A small imperative language: lexer, parser, AST, constant folding, bytecode
// and a stack machine. Several programs are compiled and run.

enum Token: Equatable { case number(Int), identifier(String), symbol(String), end }

struct Lexer {
    private let bytes: [UInt8]
    private var index = 0
    init(_ source: String) { bytes = Array(source.utf8) }

    private func isLetter(_ b: UInt8) -> Bool { (b | 32) >= 97 && (b | 32) <= 122 }
    private func isDigit(_ b: UInt8) -> Bool { b >= 48 && b <= 57 }
    mutating func next() -> Token {
        while index < bytes.count, bytes[index] <= 32 { index += 1 }
        guard index < bytes.count else { return .end }
        let start = index
        index += 1
        if isDigit(bytes[start]) {
            while index < bytes.count, isDigit(bytes[index]) { index += 1 }
            return .number(Int(String(decoding: bytes[start..<index], as: UTF8.self))!)
        }
        if isLetter(bytes[start]) {
            while index < bytes.count, isLetter(bytes[index]) || isDigit(bytes[index]) { index += 1 }
            return .identifier(String(decoding: bytes[start..<index], as: UTF8.self))
        }
        if index < bytes.count, bytes[index] == UInt8(ascii: "="), "<>=!".utf8.contains(bytes[start]) { index += 1 }
        return .symbol(String(decoding: bytes[start..<index], as: UTF8.self))
    }
}

class Expression {
    func folded() -> Expression { self }
    func emit(into code: inout CodeBuilder) {}
}

final class Literal: Expression {
    let value: Int
    init(_ value: Int) { self.value = value }
    override func emit(into code: inout CodeBuilder) { code.add(.push, value) }
}

final class Variable: Expression {
    let name: String
    init(_ name: String) { self.name = name }
    override func emit(into code: inout CodeBuilder) { code.add(.load, code.slot(name)) }
}

final class Binary: Expression {
    let op: String
    let left: Expression, right: Expression
    init(_ op: String, _ left: Expression, _ right: Expression) {
        self.op = op
        self.left = left
        self.right = right
    }

    override func folded() -> Expression {
        let a = left.folded(), b = right.folded()
        if let x = a as? Literal, let y = b as? Literal, let code = Opcode.operators[op] { return Literal(code.evaluate(x.value, y.value)) }
        return Binary(op, a, b)
    }

    override func emit(into code: inout CodeBuilder) {
        left.emit(into: &code)
        right.emit(into: &code)
        code.add(Opcode.operators[op]!, 0)
    }
}

class Statement { func emit(into code: inout CodeBuilder) {} }

final class Assignment: Statement {
    let name: String, value: Expression
    init(name: String, value: Expression) {
        self.name = name
        self.value = value
    }
    override func emit(into code: inout CodeBuilder) {
        value.folded().emit(into: &code)
        code.add(.store, code.slot(name))
    }
}

final class Branch: Statement {
    let condition: Expression, body: [Statement], loops: Bool
    init(condition: Expression, body: [Statement], loops: Bool) {
        self.condition = condition
        self.body = body
        self.loops = loops
    }
    override func emit(into code: inout CodeBuilder) {
        let start = code.position
        condition.folded().emit(into: &code)
        let exit = code.add(.jumpIfZero, 0)
        for statement in body { statement.emit(into: &code) }
        if loops { code.add(.jump, start) }
        code.patch(exit, to: code.position)
    }
}

enum Opcode {
    case push, load, store, add, subtract, multiply, divide, modulo, less, greater, equal, jump, jumpIfZero

    static let operators: [String: Opcode] = [
        "+": .add, "-": .subtract, "*": .multiply, "/": .divide, "%": .modulo, "<": .less, ">": .greater, "==": .equal,
    ]

    func evaluate(_ a: Int, _ b: Int) -> Int {
        switch self {
        case .add: return a &+ b
        case .subtract: return a &- b
        case .multiply: return a &* b
        case .divide: return b == 0 ? 0 : a / b
        case .modulo: return b == 0 ? 0 : a % b
        case .less: return a < b ? 1 : 0
        case .greater: return a > b ? 1 : 0
        case .equal: return a == b ? 1 : 0
        default: return 0
        }
    }
}

struct CodeBuilder {
    private(set) var code: [(op: Opcode, argument: Int)] = []
    private(set) var slots: [String: Int] = [:]
    var position: Int { code.count }
    mutating func slot(_ name: String) -> Int {
        if let known = slots[name] { return known }
        slots[name] = slots.count
        return slots.count - 1
    }
    @discardableResult mutating func add(_ op: Opcode, _ argument: Int) -> Int {
        code.append((op, argument))
        return code.count - 1
    }
    mutating func patch(_ index: Int, to target: Int) { code[index].argument = target }
}
struct SyntaxError: Error { let found: Token }

struct Parser {
    private var lexer: Lexer
    private var current: Token
    private static let levels = [["<", ">", "=="], ["+", "-"], ["*", "/", "%"]]

    init(_ source: String) {
        lexer = Lexer(source)
        current = lexer.next()
    }

    private mutating func take(_ symbol: String) throws {
        guard current == .symbol(symbol) else { throw SyntaxError(found: current) }
        current = lexer.next()
    }

    mutating func program(until end: Token = .end) throws -> [Statement] {
        var result: [Statement] = []
        while current != end {
            guard case .identifier(let word) = current else { throw SyntaxError(found: current) }
            current = lexer.next()
            if word == "while" || word == "if" {
                let condition = try expression(0)
                try take("{")
                let body = try program(until: .symbol("}"))
                try take("}")
                result.append(Branch(condition: condition, body: body, loops: word == "while"))
            } else {
                try take("=")
                result.append(Assignment(name: word, value: try expression(0)))
                try take(";")
            }
        }
        return result
    }

    private mutating func expression(_ level: Int) throws -> Expression {
        guard level < Self.levels.count else { return try primary() }
        var left = try expression(level + 1)
        while case .symbol(let op) = current, Self.levels[level].contains(op) {
            current = lexer.next()
            left = Binary(op, left, try expression(level + 1))
        }
        return left
    }

    private mutating func primary() throws -> Expression {
        let token = current
        current = lexer.next()
        switch token {
        case .number(let value): return Literal(value)
        case .identifier(let name): return Variable(name)
        case .symbol("("):
            let inner = try expression(0)
            try take(")")
            return inner
        default: throw SyntaxError(found: token)
        }
    }
}

final class Machine {
    private var stack: [Int] = []
    private(set) var executed = 0

    func run(_ program: CodeBuilder) -> [String: Int] {
        var memory = [Int](repeating: 0, count: program.slots.count)
        var pc = 0
        while pc < program.code.count {
            let (op, argument) = program.code[pc]
            pc += 1
            executed += 1
            switch op {
            case .push: stack.append(argument)
            case .load: stack.append(memory[argument])
            case .store: memory[argument] = stack.removeLast()
            case .jump: pc = argument
            case .jumpIfZero: if stack.removeLast() == 0 { pc = argument }
            default:
                let right = stack.removeLast()
                stack[stack.count - 1] = op.evaluate(stack[stack.count - 1], right)
            }
        }
        return program.slots.mapValues { memory[$0] }
    }
}

func source(_ n: Int) -> String {
    """
    limit = \(4 + n % 8) * (2 + 1); sum = 0; i = 1; primes = 0;
    while i < limit { sum = sum + i * i % (7 + \(n % 5)); i = i + 1; }
    i = 2;
    while i < limit { d = 2; prime = 1;
      while d * d < i + 1 { if i % d == 0 { prime = 0; d = i; } d = d + 1; }
      primes = primes + prime; i = i + 1; }
    result = sum * 1000 + primes - (4 * 5 - 20);
    """
}

let machine = Machine()
var total = 0, instructions = 0
for n in 0..<7_600 {
    var parser = Parser(source(n))
    var builder = CodeBuilder()
    for statement in try parser.program() { statement.emit(into: &builder) }
    instructions += builder.position
    total = total &+ (machine.run(builder)["result"] ?? 0)
}
print("compiled \(instructions) instructions, executed \(machine.executed), total \(total)")
