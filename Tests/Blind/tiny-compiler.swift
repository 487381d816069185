// A tiny compiler: parses function definitions, fills a symbol table, emits stack code and links it.

enum Token: Equatable {
    case name(String), number(Int), symbol(Character)
}

struct Lexer {
    static func tokens(_ source: String) -> [Token] {
        var result: [Token] = []
        var word = ""
        func flush(_ word: inout String) {
            if word.isEmpty { return }
            result.append(Int(word).map(Token.number) ?? .name(word))
            word = ""
        }
        for character in source {
            if character.isLetter || character.isNumber {
                word.append(character)
            } else {
                flush(&word)
                if !character.isWhitespace { result.append(.symbol(character)) }
            }
        }
        flush(&word)
        return result
    }
}

class Symbol {
    let name: String
    var uses = 0

    init(name: String) {
        self.name = name
    }
}

final class FunctionSymbol: Symbol {
    let parameters: [ParameterSymbol]
    var code: [Instruction] = []
    var address = -1

    init(name: String, parameters: [ParameterSymbol]) {
        self.parameters = parameters
        super.init(name: name)
    }
}

final class ParameterSymbol: Symbol {
    let slot: Int

    init(name: String, slot: Int) {
        self.slot = slot
        super.init(name: name)
    }
}

enum Instruction {
    case push(Int), load(Int), add, multiply, call(FunctionSymbol)
}

enum CompileError: Error {
    case unexpected(Token?), unknown(String)
}

final class SymbolTable {
    private var functions: [String: FunctionSymbol] = [:]
    private(set) var order: [FunctionSymbol] = []

    func define(_ function: FunctionSymbol) {
        functions[function.name] = function
        order.append(function)
    }

    func function(_ name: String) -> FunctionSymbol? { functions[name] }
}

struct Parser {
    let table: SymbolTable
    private var tokens: [Token]
    private var position = 0
    private var scope: [String: ParameterSymbol] = [:]

    init(_ source: String, table: SymbolTable) {
        tokens = Lexer.tokens(source)
        self.table = table
    }

    private var peek: Token? { position < tokens.count ? tokens[position] : nil }

    private mutating func expect(_ symbol: Character) throws {
        guard peek == .symbol(symbol) else { throw CompileError.unexpected(peek) }
        position += 1
    }

    private mutating func name() throws -> String {
        guard case .name(let text)? = peek else { throw CompileError.unexpected(peek) }
        position += 1
        return text
    }

    mutating func definition() throws {
        let title = try name()
        try expect("(")
        var parameters: [ParameterSymbol] = []
        while peek != .symbol(")") {
            if !parameters.isEmpty { try expect(",") }
            parameters.append(ParameterSymbol(name: try name(), slot: parameters.count))
        }
        try expect(")")
        try expect("=")
        scope = Dictionary(uniqueKeysWithValues: parameters.map { ($0.name, $0) })
        let function = FunctionSymbol(name: title, parameters: parameters)
        try sum(into: function)
        table.define(function)
    }

    private mutating func sum(into function: FunctionSymbol) throws {
        try product(into: function)
        while peek == .symbol("+") {
            position += 1
            try product(into: function)
            function.code.append(.add)
        }
    }

    private mutating func product(into function: FunctionSymbol) throws {
        try atom(into: function)
        while peek == .symbol("*") {
            position += 1
            try atom(into: function)
            function.code.append(.multiply)
        }
    }

    private mutating func atom(into function: FunctionSymbol) throws {
        if case .number(let value)? = peek {
            position += 1
            function.code.append(.push(value))
            return
        }
        let text = try name()
        if let parameter = scope[text] {
            parameter.uses += 1
            function.code.append(.load(parameter.slot))
            return
        }
        guard let callee = table.function(text) else { throw CompileError.unknown(text) }
        callee.uses += 1
        try expect("(")
        for index in callee.parameters.indices {
            if index > 0 { try expect(",") }
            try sum(into: function)
        }
        try expect(")")
        function.code.append(.call(callee))
    }
}

let table = SymbolTable()
var failures = 0
for number in 0..<600 {
    var body = "a * \(number % 9 + 2) + b * b"
    if number > 0 { body += " + f\(number / 2)(b, \(number % 5))" }
    if number % 50 == 49 { body += " + missing(a)" }
    var parser = Parser("f\(number)(a, b) = \(body)", table: table)
    do { try parser.definition() } catch { failures += 1 }
}

var address = 0
for function in table.order {
    function.address = address
    address += function.code.count
}
var checksum = 0
for function in table.order {
    for instruction in function.code {
        switch instruction {
        case .push(let value): checksum = (checksum * 7 + value) % 1_000_003
        case .load(let slot): checksum = (checksum * 7 + slot + 11) % 1_000_003
        case .add: checksum = (checksum * 7 + 23) % 1_000_003
        case .multiply: checksum = (checksum * 7 + 29) % 1_000_003
        case .call(let callee): checksum = (checksum * 7 + callee.address) % 1_000_003
        }
    }
}
let unused = table.order.filter { $0.uses == 0 }.count
let parameterUses = table.order.reduce(0) { $0 + $1.parameters.reduce(0) { $0 + $1.uses } }
print("functions \(table.order.count), failed \(failures), instructions \(address)")
print("unused functions \(unused), parameter uses \(parameterUses), image checksum \(checksum)")
