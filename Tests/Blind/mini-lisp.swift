import Foundation

final class Symbol: Hashable {
    let name: String
    private(set) var lookups = 0
    private init(_ name: String) { self.name = name }

    private static var table: [String: Symbol] = [:]
    static func intern(_ name: String) -> Symbol {
        if let known = table[name] {
            known.lookups += 1
            return known
        }
        let symbol = Symbol(name)
        table[name] = symbol
        return symbol
    }
    static var vocabulary: Int { table.count }
    static var totalLookups: Int { table.values.reduce(0) { $0 + $1.lookups } }

    static func == (a: Symbol, b: Symbol) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

enum Value {
    case number(Int)
    case symbol(Symbol)
    case list([Value])
    case lambda(Lambda)
    case builtin(([Value]) throws -> Value)

    var number: Int {
        if case .number(let n) = self { return n }
        return 0
    }
}

enum LispError: Error {
    case unbound(String)
    case notCallable
    case syntax
}

final class Lambda {
    let parameters: [Symbol]
    let body: [Value]
    let captured: Environment
    init(parameters: [Symbol], body: [Value], captured: Environment) {
        self.parameters = parameters
        self.body = body
        self.captured = captured
    }
}

final class Environment {
    private var bindings: [Symbol: Value] = [:]
    private let outer: Environment?
    weak var region: Region?

    init(outer: Environment?, region: Region?) {
        self.outer = outer
        self.region = region
        region?.adopt(self)
    }

    func define(_ symbol: Symbol, _ value: Value) { bindings[symbol] = value }

    func lookup(_ symbol: Symbol) throws -> Value {
        var scope: Environment? = self
        while let current = scope {
            if let value = current.bindings[symbol] { return value }
            scope = current.outer
        }
        throw LispError.unbound(symbol.name)
    }

    func assign(_ symbol: Symbol, _ value: Value) throws {
        if bindings[symbol] != nil { bindings[symbol] = value }
        else if let outer { try outer.assign(symbol, value) }
        else { throw LispError.unbound(symbol.name) }
    }

    func clear() { bindings.removeAll() }
    var names: [Symbol] { bindings.keys.sorted { $0.name < $1.name } }
}

final class Region {
    private var environments: [Environment] = []
    func adopt(_ environment: Environment) { environments.append(environment) }
    func release() -> Int {
        defer { environments.removeAll() }
        for environment in environments { environment.clear() }
        return environments.count
    }
}

struct Reader {
    private var tokens: ArraySlice<Substring>
    private let spaced: String

    init(_ source: String) {
        spaced = source.replacingOccurrences(of: "(", with: " ( ").replacingOccurrences(of: ")", with: " ) ")
        tokens = spaced.split(separator: " ")[...]
    }

    mutating func read() throws -> Value {
        guard let token = tokens.popFirst() else { throw LispError.syntax }
        if token == "(" {
            var items: [Value] = []
            while let next = tokens.first, next != ")" { items.append(try read()) }
            guard tokens.popFirst() != nil else { throw LispError.syntax }
            return .list(items)
        }
        if let n = Int(token) { return .number(n) }
        return .symbol(Symbol.intern(String(token)))
    }
}

final class Interpreter {
    let prelude = Environment(outer: nil, region: nil)
    private(set) var evaluations = 0
    private var parsed: [String: Value] = [:]

    init() throws {
        let arithmetic: [(String, (Int, Int) -> Int)] = [
            ("+", { $0 &+ $1 }), ("-", { $0 &- $1 }), ("*", { ($0 &* $1) % 1_000_003 }), ("<", { $0 < $1 ? 1 : 0 }),
        ]
        for (name, operation) in arithmetic {
            prelude.define(Symbol.intern(name), .builtin { .number(operation($0[0].number, $0[1].number)) })
        }
        _ = try run("(define square (lambda (x) (* x x)))", in: prelude)
        _ = try run("(define twice (lambda (f x) (f (f x))))", in: prelude)
        _ = try run("(define counter (lambda (n) (lambda (by) (set! n (+ n by)))))", in: prelude)
    }

    func run(_ source: String, in environment: Environment) throws -> Value {
        var reader = Reader(source)
        return try evaluate(reader.read(), environment)
    }

    func runCached(_ source: String, in environment: Environment) throws -> Value {
        if let tree = parsed[source] { return try evaluate(tree, environment) }
        var reader = Reader(source)
        let tree = try reader.read()
        parsed[source] = tree
        return try evaluate(tree, environment)
    }

    func evaluate(_ value: Value, _ environment: Environment) throws -> Value {
        evaluations += 1
        switch value {
        case .number, .lambda, .builtin: return value
        case .symbol(let symbol): return try environment.lookup(symbol)
        case .list(let items):
            if case .symbol(let head)? = items.first, let result = try special(head.name, items, environment) {
                return result
            }
            guard let first = items.first else { throw LispError.syntax }
            let callee = try evaluate(first, environment)
            return try call(callee, items.dropFirst().map { try evaluate($0, environment) }, region: environment.region)
        }
    }

    private func special(_ form: String, _ items: [Value], _ environment: Environment) throws -> Value? {
        switch form {
        case "define", "set!":
            guard case .symbol(let name) = items[1] else { throw LispError.syntax }
            let value = try evaluate(items[2], environment)
            if form == "define" { environment.define(name, value) } else { try environment.assign(name, value) }
            return value
        case "if":
            return try evaluate(evaluate(items[1], environment).number != 0 ? items[2] : items[3], environment)
        case "begin":
            return try items.dropFirst().reduce(.number(0)) { try evaluate($1, environment) }
        case "lambda":
            guard case .list(let names) = items[1] else { throw LispError.syntax }
            let parameters = names.compactMap { name -> Symbol? in
                if case .symbol(let symbol) = name { return symbol }
                return nil
            }
            return .lambda(Lambda(parameters: parameters, body: Array(items.dropFirst(2)), captured: environment))
        default: return nil
        }
    }

    func call(_ callee: Value, _ arguments: [Value], region: Region?) throws -> Value {
        switch callee {
        case .builtin(let function): return try function(arguments)
        case .lambda(let lambda):
            let frame = Environment(outer: lambda.captured, region: region)
            for (parameter, argument) in zip(lambda.parameters, arguments) { frame.define(parameter, argument) }
            return try lambda.body.reduce(.number(0)) { try evaluate($1, frame) }
        default: throw LispError.notCallable
        }
    }
}

let scripts = [
    "(begin (define fact (lambda (n) (if (< n 2) 1 (* n (fact (- n 1)))))) (fact seed))",
    "(begin (define loop (lambda (i acc) (if (< i 1) acc (loop (- i 1) (+ acc (square i)))))) (loop seed 0))",
    "(begin (define tick (counter seed)) (tick 3) (tick 4) (tick (twice square 3)))",
    "(begin (define outer (lambda (n) (begin (define inner (lambda (m) (+ n m))) (twice inner n)))) (outer seed))",
    "(begin (define broken (lambda (n) (if (< n 4) missing (broken (- n 1))))) (broken seed))",
]
let interpreter = try Interpreter()
let sessions = (0..<4).map { _ in Environment(outer: interpreter.prelude, region: nil) }
var checksum = 0, failures = 0, frames = 0

for round in 0..<60 {
    for (index, script) in scripts.enumerated() {
        let region = Region()
        let scope = Environment(outer: interpreter.prelude, region: region)
        scope.define(Symbol.intern("seed"), .number(6 + (round + index) % 9))
        do {
            checksum = (checksum &* 31 &+ (try interpreter.runCached(script, in: scope)).number) % 1_000_003
        } catch LispError.unbound { failures += 1 }
        frames += region.release()
    }
    let session = sessions[round % sessions.count]
    _ = try interpreter.run("(define total\(round) (counter \(round * 10)))", in: session)
    _ = try interpreter.run("(total\(round) 5)", in: session)
    usleep(9_000)
}

var balance = 0, counters = 0
for session in sessions {
    for name in session.names {
        balance += try interpreter.call(session.lookup(name), [.number(1)], region: nil).number
        counters += 1
    }
    session.clear()
}
print("checksum=\(checksum) failures=\(failures) frames=\(frames) evaluations=\(interpreter.evaluations)")
print("counters=\(counters) balance=\(balance) symbols=\(Symbol.vocabulary) lookups=\(Symbol.totalLookups)")
