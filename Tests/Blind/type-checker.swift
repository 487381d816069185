import Foundation

// Type checking for a record language: declarations, nested scopes with
// parents, resolved references and diagnostics. Units are checked one by one
// against a shared prelude.

final class TypeInfo {
    enum Shape { case primitive, record([(name: String, type: TypeInfo)]), function([TypeInfo], TypeInfo) }
    let name: String
    let shape: Shape
    init(name: String, shape: Shape) {
        self.name = name
        self.shape = shape
    }
}

final class Declaration {
    let name: String
    let type: TypeInfo
    let line: Int
    private(set) var uses: [Reference] = []
    unowned let scope: Scope

    init(name: String, type: TypeInfo, line: Int, scope: Scope) {
        self.name = name
        self.type = type
        self.line = line
        self.scope = scope
    }

    func use(at line: Int) -> Reference {
        let reference = Reference(to: self, line: line)
        uses.append(reference)
        return reference
    }
}

final class Reference {
    unowned let declaration: Declaration
    let line: Int
    init(to declaration: Declaration, line: Int) {
        self.declaration = declaration
        self.line = line
    }
}

final class Scope {
    let label: String
    private(set) var children: [Scope] = []
    private var names: [String: Declaration] = [:]
    private(set) weak var parent: Scope?

    init(label: String, parent: Scope?) {
        self.label = label
        self.parent = parent
    }

    func nested(_ label: String) -> Scope {
        let child = Scope(label: label, parent: self)
        children.append(child)
        return child
    }

    func declare(_ name: String, _ type: TypeInfo, line: Int) -> Bool {
        guard names[name] == nil else { return false }
        names[name] = Declaration(name: name, type: type, line: line, scope: self)
        return true
    }

    func lookup(_ name: String) -> Declaration? { names[name] ?? parent?.lookup(name) }

    var unused: [Declaration] {
        names.values.filter { $0.uses.isEmpty }.sorted { $0.name < $1.name } + children.flatMap(\.unused)
    }
}

indirect enum Term {
    case int(Int)
    case text(String)
    case name(String)
    case field(Term, String)
    case call(String, [Term])
}

enum Item {
    case binding(String, Term)
    case block(String, [Item])
    case check(Term, expected: String)
}

final class Diagnostic {
    let line: Int
    let message: String
    init(line: Int, message: String) {
        self.line = line
        self.message = message
    }
}

final class Prelude {
    let int = TypeInfo(name: "Int", shape: .primitive)
    let text = TypeInfo(name: "Text", shape: .primitive)
    let invalid = TypeInfo(name: "<invalid>", shape: .primitive)
    private(set) var types: [String: TypeInfo] = [:]
    private(set) var functions: [String: TypeInfo] = [:]

    init() {
        let point = TypeInfo(name: "Point", shape: .record([("x", int), ("y", int)]))
        let shape = TypeInfo(name: "Shape", shape: .record([("origin", point), ("corner", point), ("label", text)]))
        for type in [int, text, point, shape] { types[type.name] = type }
        functions["point"] = TypeInfo(name: "point", shape: .function([int, int], point))
        functions["shape"] = TypeInfo(name: "shape", shape: .function([point, point, text], shape))
        functions["area"] = TypeInfo(name: "area", shape: .function([shape], int))
        functions["add"] = TypeInfo(name: "add", shape: .function([int, int], int))
    }
}

final class Checker {
    private let prelude: Prelude
    private let root = Scope(label: "unit", parent: nil)
    private(set) var diagnostics: [Diagnostic] = []
    private(set) var resolved = 0
    private var line = 0

    init(prelude: Prelude) { self.prelude = prelude }

    func check(_ items: [Item]) {
        visit(items, in: root)
        for declaration in root.unused {
            diagnostics.append(Diagnostic(line: declaration.line, message: "'\(declaration.name)' in \(declaration.scope.label) is never used"))
        }
    }

    private func visit(_ items: [Item], in scope: Scope) {
        for item in items {
            line += 1
            switch item {
            case .binding(let name, let term):
                if !scope.declare(name, type(of: term, in: scope), line: line) { report("'\(name)' is already declared") }
            case .block(let label, let body):
                visit(body, in: scope.nested(label))
            case .check(let term, let expected):
                let actual = type(of: term, in: scope)
                if actual.name != expected { report("expected \(expected), found \(actual.name)") }
            }
        }
    }

    private func type(of term: Term, in scope: Scope) -> TypeInfo {
        switch term {
        case .int: return prelude.int
        case .text: return prelude.text
        case .name(let name):
            guard let declaration = scope.lookup(name) else { return report("unknown name '\(name)'") }
            resolved += 1
            return declaration.use(at: line).declaration.type
        case .field(let base, let name):
            let type = type(of: base, in: scope)
            guard case .record(let fields) = type.shape, let field = fields.first(where: { $0.name == name }) else {
                return report("\(type.name) has no field '\(name)'")
            }
            return field.type
        case .call(let name, let arguments):
            guard case .function(let parameters, let result)? = prelude.functions[name]?.shape else { return report("unknown function '\(name)'") }
            let actual = arguments.map { type(of: $0, in: scope) }
            if actual.map(\.name) != parameters.map(\.name) { return report("\(name) expects \(parameters.map(\.name).joined(separator: ", "))") }
            return result
        }
    }

    @discardableResult private func report(_ message: String) -> TypeInfo {
        diagnostics.append(Diagnostic(line: line, message: message))
        return prelude.invalid
    }
}

struct UnitGenerator {
    private var seed: UInt64
    init(seed: UInt64) { self.seed = seed }

    private mutating func pick(_ n: Int) -> Int {
        seed = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493
        return Int((seed >> 34) % UInt64(n))
    }

    mutating func items(depth: Int, prefix: String) -> [Item] {
        var result: [Item] = []
        for n in 0..<10 {
            let a = "\(prefix)p\(n)", s = "\(prefix)s\(n)"
            result.append(.binding(a, .call("point", [.int(n), pick(20) == 0 ? .text("wrong") : .int(pick(50))])))
            result.append(.binding(s, .call("shape", [.name(a), .name("\(prefix)p\(pick(n + 1))"), .text("s\(n)")])))
            result.append(.check(.field(.field(.name(s), pick(2) == 0 ? "origin" : "corner"), pick(15) == 0 ? "z" : "x"), expected: "Int"))
            result.append(.check(.call("add", [.call("area", [.name(s)]), .field(.name(a), "y")]), expected: pick(25) == 0 ? "Text" : "Int"))
        }
        if depth > 0 {
            for n in 0..<2 { result.append(.block("block \(prefix)\(n)", items(depth: depth - 1, prefix: "\(prefix)\(n)_"))) }
        }
        return result
    }
}

let prelude = Prelude()
var resolved = 0
var messages: [String: Int] = [:]
for unit in 1...600 {
    var generator = UnitGenerator(seed: UInt64(unit) &* 7_919)
    let checker = Checker(prelude: prelude)
    checker.check(generator.items(depth: 3, prefix: "v"))
    resolved += checker.resolved
    for diagnostic in checker.diagnostics {
        let kind = diagnostic.message.split(separator: "'").count > 1 ? String(diagnostic.message.split(separator: "'")[0]) : diagnostic.message
        messages[kind, default: 0] += 1
    }
}
print("types \(prelude.types.count), resolved \(resolved)")
for (message, count) in messages.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }).prefix(5) { print("\(count)x \(message)") }
