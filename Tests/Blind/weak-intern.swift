import Foundation

final class Symbol {
    let text: String
    let hash: Int
    init(text: String) {
        self.text = text
        self.hash = text.utf8.reduce(5_381) { ($0 &* 33) &+ Int($1) }
    }
}

final class WeakSymbol {
    weak var symbol: Symbol?
    init(_ symbol: Symbol) { self.symbol = symbol }
}

final class SymbolTable {
    private var table: [String: WeakSymbol] = [:]
    private var insertions = 0
    private var keywords: [Symbol] = []

    func reserve(_ words: [String]) { keywords = words.map(intern) }

    func intern(_ text: String) -> Symbol {
        if let known = table[text]?.symbol { return known }
        let symbol = Symbol(text: text)
        table[text] = WeakSymbol(symbol)
        insertions += 1
        if insertions % 256 == 0 { prune() }
        return symbol
    }

    private func prune() {
        table = table.filter { $0.value.symbol != nil }
    }

    var size: Int { table.count }
    var keywordHash: Int { keywords.reduce(0) { $0 ^ $1.hash } }
}

final class SyntaxNode {
    let symbol: Symbol
    let children: [SyntaxNode]
    init(symbol: Symbol, children: [SyntaxNode]) {
        self.symbol = symbol
        self.children = children
    }

    var count: Int { 1 + children.reduce(0) { $0 + $1.count } }
}

final class Module {
    let name: String
    let exported: [Symbol]
    init(name: String, exported: [Symbol]) {
        self.name = name
        self.exported = exported
    }
}

struct Parser {
    let symbols: SymbolTable

    func parse(file: Int) -> (SyntaxNode, Module) {
        let functions = (0..<12).map { f -> SyntaxNode in
            let locals = (0..<4).map { SyntaxNode(symbol: symbols.intern("local\(file)_\(f)_\($0)"), children: []) }
            return SyntaxNode(symbol: symbols.intern("func\(file)_\(f)"), children: locals)
        }
        let root = SyntaxNode(symbol: symbols.intern("module"), children: functions)
        return (root, Module(name: "m\(file)", exported: functions.prefix(3).map { $0.symbol }))
    }
}

let symbols = SymbolTable()
symbols.reserve(["func", "let", "var", "return", "module", "import", "struct", "class"])
var modules: [Module] = []
var nodes = 0
for file in 0..<70 {
    let (tree, module) = Parser(symbols: symbols).parse(file: file)
    nodes += tree.count
    modules.append(module)
    Thread.sleep(forTimeInterval: 0.014)
}
let exports = modules.reduce(0) { $0 + $1.exported.count }
print("nodes \(nodes), modules \(modules.count), exports \(exports), table bounded \(symbols.size < 700), keywords \(symbols.keywordHash != 0)")
