import Foundation

final class Symbol {
    let name: String
    let index: Int
    var uses = 0
    init(name: String, index: Int) { self.name = name; self.index = index }
}

final class Interner {
    private var table: [String: Symbol] = [:]
    func intern(_ s: String) -> Symbol {
        if let known = table[s] { known.uses += 1; return known }
        let fresh = Symbol(name: s, index: table.count)
        table[s] = fresh
        return fresh
    }
    var count: Int { table.count }
    var hottest: Int { table.values.map(\.uses).max() ?? 0 }
}

final class Syntax {
    var symbol: Symbol?
    var left: Syntax?
    var right: Syntax?
    func depth() -> Int { 1 + max(left?.depth() ?? 0, right?.depth() ?? 0) }
}

final class Arena {
    private var nodes: [Syntax] = []
    private var used = 0
    func node(_ s: Symbol, _ l: Syntax?, _ r: Syntax?) -> Syntax {
        if used == nodes.count { nodes.append(Syntax()) }
        let n = nodes[used]
        used += 1
        n.symbol = s; n.left = l; n.right = r
        return n
    }
    func reset() {
        for n in nodes[..<used] { n.symbol = nil; n.left = nil; n.right = nil }
        used = 0
    }
    var capacity: Int { nodes.count }
}

final class Unit {
    let words: [String]
    init(number: Int) {
        words = (0..<120 + number % 40).map { i in
            // common identifiers, and some which appear only in later units
            let n = (i * i + number * 3) % (200 + min(number, 60) * 4)
            return "identifier_number_\(n)"
        }
    }
}

final class Compiler {
    private let symbols: Interner
    private let arena: Arena
    private(set) var deepest = 0
    init(symbols: Interner, arena: Arena) { self.symbols = symbols; self.arena = arena }
    func compile(_ u: Unit) {
        var root: Syntax?
        for (i, w) in u.words.enumerated() {
            let leaf = arena.node(symbols.intern(w), nil, nil)
            root = i % 3 == 0 ? arena.node(symbols.intern("operator\(i % 9)"), root, leaf)
                              : arena.node(symbols.intern("call"), leaf, root)
        }
        deepest = max(deepest, root?.depth() ?? 0)
        arena.reset()
    }
}

@main
enum Build {
    static let symbols = Interner()
    static let arena = Arena()
    static func main() {
        let compiler = Compiler(symbols: symbols, arena: arena)
        for n in 0..<100 { compiler.compile(Unit(number: n)) }
        print("symbols \(symbols.count) hottest \(symbols.hottest) arena \(arena.capacity) depth \(compiler.deepest)")
    }
}
