import Foundation

final class Symbol {
    let name: String
    let slot: Int
    var uses = 0
    init(name: String, slot: Int) { self.name = name; self.slot = slot }
}

final class SymbolTable {
    private var table: [String: Symbol] = [:]
    private var ordered: [Symbol] = []
    var count: Int { ordered.count }

    func intern(_ name: String) -> Symbol {
        if let s = table[name] { s.uses += 1; return s }
        let s = Symbol(name: name, slot: ordered.count)
        table[name] = s
        ordered.append(s)
        return s
    }

    func mostUsed(_ n: Int) -> [Symbol] {
        Array(ordered.sorted { $0.uses > $1.uses }.prefix(n))
    }
}

class Node {
    func emit(into code: CodeBuffer) {}
}

final class NumberNode: Node {
    let value: Int
    init(_ v: Int) { value = v }
    override func emit(into code: CodeBuffer) { code.add(.push(value)) }
}

final class NameNode: Node {
    let symbol: Symbol
    init(_ s: Symbol) { symbol = s }
    override func emit(into code: CodeBuffer) { code.add(.load(symbol.slot)) }
}

final class BinaryNode: Node {
    let op: Character
    let left: Node
    let right: Node
    init(_ op: Character, _ l: Node, _ r: Node) { self.op = op; left = l; right = r }
    override func emit(into code: CodeBuffer) {
        left.emit(into: code)
        right.emit(into: code)
        code.add(.apply(op))
    }
}

final class CallNode: Node {
    let callee: Symbol
    let argument: Node
    init(_ c: Symbol, _ a: Node) { callee = c; argument = a }
    override func emit(into code: CodeBuffer) {
        argument.emit(into: code)
        code.add(.call(callee.slot))
    }
}

enum Instruction {
    case push(Int), load(Int), apply(Character), call(Int)
}

final class CodeBuffer {
    private(set) var instructions: [Instruction] = []
    func add(_ i: Instruction) { instructions.append(i) }
}

final class Function {
    let symbol: Symbol
    let parameter: Symbol
    let code: [Instruction]
    init(symbol: Symbol, parameter: Symbol, code: [Instruction]) {
        self.symbol = symbol
        self.parameter = parameter
        self.code = code
    }
}

final class Module {
    private var functions: [Int: Function] = [:]
    private(set) var order: [Function] = []
    func define(_ f: Function) {
        functions[f.symbol.slot] = f
        order.append(f)
    }
    func function(slot: Int) -> Function? { functions[slot] }
}

struct SyntaxError: Error { let message: String }

final class Parser {
    private let tokens: [String]
    private var pos = 0
    private let symbols: SymbolTable

    init(_ text: String, symbols: SymbolTable) {
        tokens = text.split(separator: " ").map(String.init)
        self.symbols = symbols
    }

    private var peek: String? { pos < tokens.count ? tokens[pos] : nil }
    private func next() throws -> String {
        guard pos < tokens.count else { throw SyntaxError(message: "unexpected end") }
        pos += 1
        return tokens[pos - 1]
    }

    func definition() throws -> (Symbol, Symbol, Node) {
        guard try next() == "def" else { throw SyntaxError(message: "def expected") }
        let name = symbols.intern(try next())
        let param = symbols.intern(try next())
        guard try next() == "=" else { throw SyntaxError(message: "= expected") }
        return (name, param, try sum())
    }

    private func sum() throws -> Node {
        var left = try product()
        while let t = peek, t == "+" || t == "-" {
            pos += 1
            left = BinaryNode(Character(t), left, try product())
        }
        return left
    }

    private func product() throws -> Node {
        var left = try atom()
        while peek == "*" {
            pos += 1
            left = BinaryNode("*", left, try atom())
        }
        return left
    }

    private func atom() throws -> Node {
        let t = try next()
        if let n = Int(t) { return NumberNode(n) }
        if t == "call" {
            let callee = symbols.intern(try next())
            return CallNode(callee, try atom())
        }
        return NameNode(symbols.intern(t))
    }
}

final class Machine {
    private let module: Module
    init(_ m: Module) { module = m }

    func run(_ f: Function, _ argument: Int, depth: Int = 0) -> Int {
        if depth > 40 { return argument }
        var stack: [Int] = []
        for i in f.code {
            switch i {
            case .push(let v): stack.append(v)
            case .load(let slot): stack.append(slot == f.parameter.slot ? argument : slot)
            case .apply(let op):
                let b = stack.removeLast(), a = stack.removeLast()
                stack.append(op == "+" ? a &+ b : op == "-" ? a &- b : (a &* b) % 100_003)
            case .call(let slot):
                let a = stack.removeLast()
                if let g = module.function(slot: slot) {
                    stack.append(run(g, a, depth: depth + 1))
                } else {
                    stack.append(0)
                }
            }
        }
        return stack.last ?? 0
    }
}

final class Compiler {
    let symbols = SymbolTable()
    let module = Module()
    private(set) var errors = 0

    func compile(_ text: String) {
        do {
            let (name, param, body) = try Parser(text, symbols: symbols).definition()
            let buffer = CodeBuffer()
            body.emit(into: buffer)
            module.define(Function(symbol: name, parameter: param, code: buffer.instructions))
        } catch {
            errors += 1
        }
    }
}

func source(_ i: Int) -> String {
    if i % 97 == 13 { return "def f\(i) x = x +" }
    let callee = i == 0 ? "x" : "call f\(i / 2) x"
    return "def f\(i) x = x * \(i % 7 + 1) + \(callee) - limit\(i % 20)"
}

func main() {
    let compiler = Compiler()
    for i in 0..<1500 {
        compiler.compile(source(i))
        if i % 5 == 0 { usleep(4_500) }
    }
    let machine = Machine(compiler.module)
    var checksum = 0
    for f in compiler.module.order {
        checksum = (checksum &* 31 &+ machine.run(f, 3)) & 0xffffff
    }
    let top = compiler.symbols.mostUsed(3).map { "\($0.name):\($0.uses)" }.joined(separator: " ")
    print("functions \(compiler.module.order.count), symbols \(compiler.symbols.count), errors \(compiler.errors), checksum \(checksum), top \(top)")
}

main()
