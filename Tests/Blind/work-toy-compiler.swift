import Foundation

final class Symbol {
    let name: String
    let id: Int
    private(set) var uses = 0
    init(name: String, id: Int) {
        self.name = name
        self.id = id
    }
    func touch() { uses += 1 }
}

final class Interner {
    private var table: [String: Symbol] = [:]
    private var all: [Symbol] = []

    func intern(_ name: String) -> Symbol {
        if let symbol = table[name] {
            symbol.touch()
            return symbol
        }
        let symbol = Symbol(name: name, id: all.count)
        table[name] = symbol
        all.append(symbol)
        return symbol
    }

    func symbol(_ id: Int) -> Symbol { all[id] }
    var count: Int { all.count }
}

class Node {
    func emit(into code: CodeBuffer) {}
}

final class Literal: Node {
    let value: Int
    init(_ value: Int) { self.value = value }
    override func emit(into code: CodeBuffer) { code.append(.push, value) }
}

final class Reference: Node {
    let symbol: Symbol
    init(_ symbol: Symbol) { self.symbol = symbol }
    override func emit(into code: CodeBuffer) { code.append(.load, symbol.id) }
}

final class Binary: Node {
    let op: OpCode
    let left: Node
    let right: Node
    init(_ op: OpCode, _ left: Node, _ right: Node) {
        self.op = op
        self.left = left
        self.right = right
    }
    override func emit(into code: CodeBuffer) {
        left.emit(into: code)
        right.emit(into: code)
        code.append(op, 0)
    }
}

final class Assignment: Node {
    let target: Symbol
    let value: Node
    init(_ target: Symbol, _ value: Node) {
        self.target = target
        self.value = value
    }
    override func emit(into code: CodeBuffer) {
        value.emit(into: code)
        code.append(.store, target.id)
    }
}

enum OpCode { case push, load, store, add, multiply }

final class CodeBuffer {
    private(set) var code: [(op: OpCode, operand: Int)] = []
    func append(_ op: OpCode, _ operand: Int) { code.append((op, operand)) }
}

final class CompiledUnit {
    let name: String
    let buffer: CodeBuffer
    let line: Int
    init(name: String, buffer: CodeBuffer, line: Int) {
        self.name = name
        self.buffer = buffer
        self.line = line
    }
}

final class Compiler {
    let interner = Interner()
    private(set) var units: [CompiledUnit] = []

    func compile(name: String, source: [String], line: Int) {
        let buffer = CodeBuffer()
        for statement in source { parse(statement).emit(into: buffer) }
        units.append(CompiledUnit(name: name, buffer: buffer, line: line))
    }

    private func parse(_ statement: String) -> Node {
        let parts = statement.split(separator: " ").map(String.init)
        var node = operand(parts[2])
        var i = 3
        while i + 1 < parts.count {
            node = Binary(parts[i] == "+" ? .add : .multiply, node, operand(parts[i + 1]))
            i += 2
        }
        return Assignment(interner.intern(parts[0]), node)
    }

    private func operand(_ text: String) -> Node {
        if let number = Int(text) { return Literal(number) }
        return Reference(interner.intern(text))
    }
}

final class Linker {
    func link(_ units: [CompiledUnit]) -> [(OpCode, Int)] {
        units.sorted { $0.line < $1.line }.flatMap { $0.buffer.code.map { ($0.op, $0.operand) } }
    }
}

final class Machine {
    private var memory: [Int: Int] = [:]
    private var stack: [Int] = []

    func run(_ image: [(OpCode, Int)]) {
        for (op, operand) in image {
            switch op {
            case .push: stack.append(operand)
            case .load: stack.append(memory[operand] ?? 1)
            case .store: memory[operand] = stack.removeLast()
            case .add, .multiply:
                let b = stack.removeLast()
                let a = stack.removeLast()
                stack.append(op == .add ? (a &+ b) % 65_521 : (a &* b) % 65_521)
            }
        }
    }

    func value(of symbol: Symbol) -> Int { memory[symbol.id] ?? 0 }
}

func sources(_ file: Int) -> [String] {
    (0..<12).map { i in
        let target = i % 4 == 0 ? "shared\(i)" : "f\(file)_v\(i)"
        let left = i == 0 ? "\(file + 2)" : "f\(file)_v\(max(1, i - 1))"
        return "\(target) = \(left) + shared\((i * 4) % 12) * \(1 + (file + i) % 9) + \(i)"
    }
}

func buildProject(files: Int) {
    let compiler = Compiler()
    for file in 0..<files {
        compiler.compile(name: "file\(file).toy", source: sources(file), line: (file * 37) % files)
        usleep(6_000)
    }
    let image = Linker().link(compiler.units)
    let machine = Machine()
    machine.run(image)
    var hottest = compiler.interner.symbol(0)
    var checksum = 0
    for id in 0..<compiler.interner.count {
        let symbol = compiler.interner.symbol(id)
        checksum = (checksum &* 31 &+ machine.value(of: symbol)) % 1_000_003
        if symbol.uses > hottest.uses { hottest = symbol }
    }
    print("\(compiler.units.count) units, \(image.count) instructions, \(compiler.interner.count) symbols")
    print("checksum \(checksum), hottest \(hottest.name) used \(hottest.uses) times")
}

buildProject(files: 300)
