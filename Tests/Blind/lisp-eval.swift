import Foundation

// A Lisp: reader, interned symbols, environments, closures defined at the top
// level, arithmetic and lists. A few programs run in one interpreter.

final class Symbol {
    let name: String
    init(name: String) { self.name = name }
}

final class SymbolTable {
    private var symbols: [String: Symbol] = [:]

    func intern(_ name: String) -> Symbol {
        if let known = symbols[name] { return known }
        let fresh = Symbol(name: name)
        symbols[name] = fresh
        return fresh
    }

    var count: Int { symbols.count }
}

final class Pair {
    let head: Value
    let tail: Value
    init(_ head: Value, _ tail: Value) {
        self.head = head
        self.tail = tail
    }
}

final class Lambda {
    let parameters: [Symbol]
    let body: Value
    let environment: Environment?
    init(parameters: [Symbol], body: Value, environment: Environment?) {
        self.parameters = parameters
        self.body = body
        self.environment = environment
    }
}

enum Value {
    case empty
    case number(Int)
    case symbol(Symbol)
    case pair(Pair)
    case lambda(Lambda)
    case primitive(([Value]) throws -> Value)

    var isTrue: Bool {
        switch self {
        case .empty: return false
        case .number(let n): return n != 0
        default: return true
        }
    }

    var elements: [Value] {
        var result: [Value] = []
        var current = self
        while case .pair(let pair) = current {
            result.append(pair.head)
            current = pair.tail
        }
        return result
    }

    var text: String {
        switch self {
        case .empty: return "()"
        case .number(let n): return String(n)
        case .symbol(let s): return s.name
        case .pair: return "(" + elements.map(\.text).joined(separator: " ") + ")"
        case .lambda, .primitive: return "#procedure"
        }
    }
}

/// Local frames only; globals live in the interpreter itself.
final class Environment {
    private let names: [Symbol]
    private let values: [Value]
    private let outer: Environment?

    init(names: [Symbol], values: [Value], outer: Environment?) {
        self.names = names
        self.values = values
        self.outer = outer
    }

    func lookup(_ symbol: Symbol) -> Value? {
        for (index, name) in names.enumerated() where name === symbol { return values[index] }
        return outer?.lookup(symbol)
    }
}

struct LispError: Error { let message: String }

final class Interpreter {
    private let table = SymbolTable()
    private var globals: [ObjectIdentifier: Value] = [:]
    private(set) var applications = 0
    private lazy var quote = table.intern("quote")
    private lazy var conditional = table.intern("if")
    private lazy var lambda = table.intern("lambda")
    private lazy var define = table.intern("define")

    init() {
        func arithmetic(_ name: String, _ body: @escaping (Int, Int) -> Int) {
            global(name, .primitive { arguments in
                guard arguments.count == 2, case .number(let a) = arguments[0], case .number(let b) = arguments[1] else {
                    throw LispError(message: "\(name): two numbers expected")
                }
                return .number(body(a, b))
            })
        }
        arithmetic("+", &+)
        arithmetic("-", &-)
        arithmetic("*", &*)
        arithmetic("mod") { $1 == 0 ? 0 : $0 % $1 }
        arithmetic("<") { $0 < $1 ? 1 : 0 }
        arithmetic("=") { $0 == $1 ? 1 : 0 }
        global("cons", .primitive { .pair(Pair($0[0], $0[1])) })
        global("head", .primitive { if case .pair(let p) = $0[0] { return p.head } else { throw LispError(message: "head of non-list") } })
        global("tail", .primitive { if case .pair(let p) = $0[0] { return p.tail } else { throw LispError(message: "tail of non-list") } })
        global("null", .primitive { if case .empty = $0[0] { return .number(1) } else { return .number(0) } })
    }

    private func global(_ name: String, _ value: Value) { globals[ObjectIdentifier(table.intern(name))] = value }

    func read(_ source: String) throws -> [Value] {
        let spaced = source.replacingOccurrences(of: "(", with: " ( ").replacingOccurrences(of: ")", with: " ) ")
        var tokens = spaced.split(whereSeparator: \.isWhitespace)[...]
        var forms: [Value] = []
        while !tokens.isEmpty { forms.append(try readForm(&tokens)) }
        return forms
    }

    private func readForm(_ tokens: inout ArraySlice<Substring>) throws -> Value {
        guard let token = tokens.popFirst() else { throw LispError(message: "unexpected end") }
        if token == "(" {
            var items: [Value] = []
            while let next = tokens.first, next != ")" { items.append(try readForm(&tokens)) }
            guard tokens.popFirst() != nil else { throw LispError(message: "missing )") }
            return items.reversed().reduce(Value.empty) { .pair(Pair($1, $0)) }
        }
        if let number = Int(token) { return .number(number) }
        return .symbol(table.intern(String(token)))
    }

    func evaluate(_ form: Value, _ environment: Environment? = nil) throws -> Value {
        switch form {
        case .symbol(let symbol):
            if let local = environment?.lookup(symbol) { return local }
            guard let value = globals[ObjectIdentifier(symbol)] else { throw LispError(message: "unbound \(symbol.name)") }
            return value
        case .pair(let pair):
            let rest = pair.tail.elements
            if case .symbol(let keyword) = pair.head {
                if keyword === quote { return rest[0] }
                if keyword === conditional {
                    return try evaluate(try evaluate(rest[0], environment).isTrue ? rest[1] : rest[2], environment)
                }
                if keyword === lambda { return .lambda(makeLambda(parameters: rest[0], body: rest[1], environment)) }
                if keyword === define, case .symbol(let name) = rest[0] {
                    globals[ObjectIdentifier(name)] = try evaluate(rest[1], environment)
                    return .empty
                }
            }
            return try apply(try evaluate(pair.head, environment), try rest.map { try evaluate($0, environment) })
        default: return form
        }
    }

    private func makeLambda(parameters: Value, body: Value, _ environment: Environment?) -> Lambda {
        let names = parameters.elements.compactMap { value -> Symbol? in
            if case .symbol(let symbol) = value { return symbol } else { return nil }
        }
        return Lambda(parameters: names, body: body, environment: environment)
    }

    private func apply(_ function: Value, _ arguments: [Value]) throws -> Value {
        applications += 1
        switch function {
        case .primitive(let body): return try body(arguments)
        case .lambda(let lambda):
            guard lambda.parameters.count == arguments.count else { throw LispError(message: "wrong number of arguments") }
            return try evaluate(lambda.body, Environment(names: lambda.parameters, values: arguments, outer: lambda.environment))
        default: throw LispError(message: "not a procedure: \(function.text)")
        }
    }

    func run(_ source: String) throws -> Value {
        var last = Value.empty
        for form in try read(source) { last = try evaluate(form) }
        return last
    }

    var symbolCount: Int { table.count }
}

let prelude = """
(define fib (lambda (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))))
(define range (lambda (a b) (if (< a b) (cons a (range (+ a 1) b)) (quote ()))))
(define map (lambda (f l) (if (null l) l (cons (f (head l)) (map f (tail l))))))
(define filter (lambda (f l) (if (null l) l (if (f (head l)) (cons (head l) (filter f (tail l))) (filter f (tail l))))))
(define fold (lambda (f a l) (if (null l) a (fold f (f a (head l)) (tail l)))))
(define compose (lambda (f g) (lambda (x) (f (g x)))))
(define adder (lambda (n) (lambda (x) (+ x n))))
"""

let interpreter = Interpreter()
_ = try interpreter.run(prelude)
print("fib:", try interpreter.run("(fib 20)").text)
var checksum = 0
for n in 1...480 {
    let program = """
    (fold + 0 (map (compose (adder \(n)) (lambda (x) (* x x)))
                   (filter (lambda (x) (= 0 (mod x \(2 + n % 5)))) (range 0 \(60 + n % 60)))))
    """
    if case .number(let value) = try interpreter.run(program) { checksum = (checksum &* 31 &+ value) % 1_000_000_007 }
}
print("list:", try interpreter.run("(map (adder 100) (range 1 9))").text)
var failures = 0
for broken in ["(undefined 1)", "(head 5)", "(+ 1)", "((lambda (x) x) 1 2)"] {
    do { _ = try interpreter.run(broken) } catch is LispError { failures += 1 }
}
print("checksum \(checksum), errors reported \(failures), applications \(interpreter.applications), symbols \(interpreter.symbolCount)")
