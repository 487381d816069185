import Foundation

indirect enum Expr {
    case number(Int)
    case name(String)
    case binary(Character, Expr, Expr)
    case call(String, [Expr])
    case function([String], [Stmt])
}

indirect enum Stmt {
    case assign(String, Expr)
    case returns(Expr)
    case ifLess(Expr, Expr, [Stmt])
    case expression(Expr)
}

enum Value {
    case int(Int)
    case function(FunctionValue)
    case none
}

final class FunctionValue {
    let parameters: [String]
    let body: [Stmt]
    let scope: Scope

    init(parameters: [String], body: [Stmt], scope: Scope) {
        self.parameters = parameters
        self.body = body
        self.scope = scope
    }
}

final class Scope {
    private var variables: [String: Value] = [:]
    let outer: Scope?

    init(outer: Scope?) { self.outer = outer }

    func lookup(_ name: String) -> Value {
        var cursor: Scope? = self
        while let scope = cursor {
            if let value = scope.variables[name] { return value }
            cursor = scope.outer
        }
        return .none
    }

    func define(_ name: String, _ value: Value) { variables[name] = value }
}

final class Program {
    let title: String
    let statements: [Stmt]
    init(title: String, statements: [Stmt]) {
        self.title = title
        self.statements = statements
    }
}

final class Interpreter {
    private let globals = Scope(outer: nil)
    private(set) var calls = 0
    private(set) var depth = 0
    private(set) var deepest = 0

    func load(_ program: Program) { _ = run(program.statements, in: globals) }

    func invoke(_ name: String, _ arguments: [Int]) -> Int {
        let result = evaluate(.call(name, arguments.map { .number($0) }), in: globals)
        if case .int(let n) = result { return n }
        return 0
    }

    private func run(_ body: [Stmt], in scope: Scope) -> Value? {
        for statement in body {
            switch statement {
            case .assign(let name, let expr):
                scope.define(name, evaluate(expr, in: scope))
            case .returns(let expr):
                return evaluate(expr, in: scope)
            case .ifLess(let a, let b, let then):
                if int(evaluate(a, in: scope)) < int(evaluate(b, in: scope)),
                   let value = run(then, in: scope) {
                    return value
                }
            case .expression(let expr):
                _ = evaluate(expr, in: scope)
            }
        }
        return nil
    }

    private func int(_ value: Value) -> Int {
        if case .int(let n) = value { return n }
        return 0
    }

    private func evaluate(_ expr: Expr, in scope: Scope) -> Value {
        switch expr {
        case .number(let n):
            return .int(n)
        case .name(let name):
            return scope.lookup(name)
        case .binary(let op, let left, let right):
            let a = int(evaluate(left, in: scope))
            let b = int(evaluate(right, in: scope))
            switch op {
            case "+": return .int(a &+ b)
            case "-": return .int(a &- b)
            case "*": return .int((a &* b) % 1_000_003)
            default: return .int(0)
            }
        case .function(let parameters, let body):
            return .function(FunctionValue(parameters: parameters, body: body, scope: scope))
        case .call(let name, let arguments):
            guard case .function(let function) = scope.lookup(name) else { return .none }
            let frame = Scope(outer: function.scope)
            for (parameter, argument) in zip(function.parameters, arguments) {
                frame.define(parameter, evaluate(argument, in: scope))
            }
            calls += 1
            depth += 1
            deepest = max(deepest, depth)
            defer { depth -= 1 }
            return run(function.body, in: frame) ?? .none
        }
    }
}

func prelude() -> Program {
    let fib: [Stmt] = [
        .ifLess(.name("n"), .number(2), [.returns(.name("n"))]),
        .returns(.binary("+",
                         .call("fib", [.binary("-", .name("n"), .number(1))]),
                         .call("fib", [.binary("-", .name("n"), .number(2))]))),
    ]
    let price: [Stmt] = [
        .assign("discount", .function(["x"], [
            .ifLess(.name("x"), .number(100), [.returns(.name("x"))]),
            .returns(.binary("-", .name("x"), .name("rate"))),
        ])),
        .returns(.call("discount", [.binary("*", .name("units"), .number(7))])),
    ]
    let square: [Stmt] = [.returns(.binary("*", .name("v"), .name("v")))]
    return Program(title: "prelude", statements: [
        .assign("fib", .function(["n"], fib)),
        .assign("price", .function(["units", "rate"], price)),
        .assign("square", .function(["v"], square)),
    ])
}

func session() {
    let interpreter = Interpreter()
    interpreter.load(prelude())
    var checksum = 0
    for round in 1...260 {
        checksum = (checksum + interpreter.invoke("fib", [8 + round % 4])) % 1_000_003
        checksum = (checksum + interpreter.invoke("square", [round])) % 1_000_003
        if round % 2 == 0 {
            checksum = (checksum + interpreter.invoke("price", [round, round % 13])) % 1_000_003
        }
        usleep(6_000)
    }
    print("checksum \(checksum), \(interpreter.calls) calls, depth \(interpreter.deepest)")
}

session()
