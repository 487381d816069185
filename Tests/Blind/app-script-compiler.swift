import Foundation

indirect enum Expr {
    case number(Int)
    case name(String)
    case binary(Character, Expr, Expr)
    case call(String, [Expr])
}

final class Instruction {
    let op: String
    let argument: Int
    init(_ op: String, _ argument: Int = 0) {
        self.op = op
        self.argument = argument
    }
}

final class FunctionBody {
    let name: String
    let version: Int
    var code: [Instruction] = []
    var callees: Set<String> = []
    init(name: String, version: Int) {
        self.name = name
        self.version = version
    }
}

final class SourceFile {
    let path: String
    var functions: [String: FunctionBody] = [:]
    init(path: String) { self.path = path }
}

struct ParseError: Error { let message: String }

struct Parser {
    private var tokens: [Character]
    private var position = 0
    init(_ text: String) { tokens = text.filter { $0 != " " } .map { $0 } }

    mutating func parse() throws -> Expr {
        var left = try term()
        while let c = peek, c == "+" || c == "-" {
            position += 1
            left = .binary(c, left, try term())
        }
        return left
    }

    private var peek: Character? { position < tokens.count ? tokens[position] : nil }

    private mutating func term() throws -> Expr {
        var left = try atom()
        while let c = peek, c == "*" {
            position += 1
            left = .binary(c, left, try atom())
        }
        return left
    }

    private mutating func atom() throws -> Expr {
        guard let c = peek else { throw ParseError(message: "unexpected end") }
        if c.isNumber {
            var value = 0
            while let d = peek, let digit = d.wholeNumberValue {
                value = value * 10 + digit
                position += 1
            }
            return .number(value)
        }
        if c.isLetter {
            var name = ""
            while let d = peek, d.isLetter || d.isNumber {
                name.append(d)
                position += 1
            }
            guard peek == "(" else { return .name(name) }
            position += 1
            var arguments: [Expr] = []
            while let d = peek, d != ")" {
                arguments.append(try parse())
                if peek == "," { position += 1 }
            }
            position += 1
            return .call(name, arguments)
        }
        throw ParseError(message: "unexpected \(c)")
    }
}

final class CallIndex {
    private var callers: [String: [FunctionBody]] = [:]

    func add(_ body: FunctionBody) {
        for callee in body.callees { callers[callee, default: []].append(body) }
    }

    func drop(_ body: FunctionBody) {
        for callee in body.callees { callers[callee]?.removeAll { $0 === body } }
    }

    func names(calling function: String) -> Set<String> {
        Set((callers[function] ?? []).map(\.name))
    }
}

final class Compiler {
    private var files: [String: SourceFile] = [:]
    private let index = CallIndex()
    private(set) var compiled = 0
    private(set) var errors = 0
    private(set) var renamed = 0

    private func emit(_ expr: Expr, into body: FunctionBody) {
        switch expr {
        case .number(let value): body.code.append(Instruction("push", value))
        case .name(let name): body.code.append(Instruction("load", name.count))
        case .binary(let op, let a, let b):
            emit(a, into: body)
            emit(b, into: body)
            body.code.append(Instruction(String(op)))
        case .call(let name, let arguments):
            arguments.forEach { emit($0, into: body) }
            body.code.append(Instruction("call", arguments.count))
            body.callees.insert(name)
        }
    }

    func define(path: String, function: String, text: String) {
        let file = files[path] ?? SourceFile(path: path)
        files[path] = file
        compiled += 1
        let body = FunctionBody(name: function, version: compiled)
        do {
            var parser = Parser(text)
            emit(try parser.parse(), into: body)
        } catch {
            errors += 1
            return
        }
        if let old = file.functions[function] { index.drop(old) }
        file.functions[function] = body
        index.add(body)
    }

    func rename(path: String, from old: String, to new: String) {
        guard let file = files[path], let body = file.functions.removeValue(forKey: old) else { return }
        let copy = FunctionBody(name: new, version: body.version)
        copy.code = body.code
        copy.callees = body.callees
        file.functions[new] = copy
        index.add(copy)
        renamed += 1
    }

    func delete(path: String, function: String) {
        guard let body = files[path]?.functions.removeValue(forKey: function) else { return }
        index.drop(body)
    }

    func affected(by function: String) -> Int { index.names(calling: function).count }

    var size: Int { files.values.reduce(0) { $0 + $1.functions.values.reduce(0) { $0 + $1.code.count } } }
}

let compiler = Compiler()

func session() {
    var affected = 0
    let helpers = (0..<25).map { "h\($0)" }
    for round in 0..<550 {
        let path = "src/f\(round % 9).scr"
        let function = "fn\(round % 63)"
        let a = helpers[round % 25], b = helpers[(round * 7) % 25]
        let text = round % 14 == 5 ? "1 + ?" : "\(a)(x, \(round)) * 3 + \(b)(y) - \(round * 2)"
        compiler.define(path: path, function: function, text: text)
        if round % 6 == 4 {
            compiler.rename(path: path, from: function, to: "r\(round % 30)")
        } else if round % 11 == 3 {
            compiler.delete(path: path, function: function)
        }
        if round % 6 == 2 {
            compiler.delete(path: "src/f\((round - 10 + 9) % 9).scr", function: "r\(max(0, round - 10) % 30)")
        }
        affected += compiler.affected(by: a)
        usleep(3200)
    }
    print("compiled \(compiler.compiled), errors \(compiler.errors), renamed \(compiler.renamed)")
    print("code size \(compiler.size), affected \(affected)")
}

session()
