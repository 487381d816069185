import Foundation

class Expr { func eval(_ s: Sheet) -> Double { 0 } }
final class Num: Expr {
    let v: Double
    init(_ v: Double) { self.v = v }
    override func eval(_ s: Sheet) -> Double { v }
}
final class Ref: Expr {
    let key: Int
    init(_ key: Int) { self.key = key }
    override func eval(_ s: Sheet) -> Double { s.value(key) }
}
final class Sum: Expr {
    let parts: [Expr]
    init(_ parts: [Expr]) { self.parts = parts }
    override func eval(_ s: Sheet) -> Double { parts.reduce(0) { $0 + $1.eval(s) } }
}

final class CellBox {
    let key: Int
    let expr: Expr
    private var cached: Double?
    init(key: Int, expr: Expr) { self.key = key; self.expr = expr }
    func value(_ s: Sheet) -> Double {
        if let c = cached { return c }
        let v = expr.eval(s)
        cached = v
        return v
    }
    func invalidate() { cached = nil }
}

final class Sheet {
    private var cells: [Int: CellBox] = [:]
    private(set) var replaced = 0
    let columns: Int
    init(columns: Int) { self.columns = columns }
    func key(_ r: Int, _ c: Int) -> Int { r * columns + c }
    func set(_ key: Int, _ e: Expr) {
        if cells.updateValue(CellBox(key: key, expr: e), forKey: key) != nil { replaced += 1 }
    }
    func clear(_ key: Int) { cells[key] = nil }
    func value(_ key: Int) -> Double { cells[key]?.value(self) ?? 0 }
    func recalc() { cells.values.forEach { $0.invalidate() } }
    var count: Int { cells.count }
}

@main
enum SheetApp {
    static let sheet = Sheet(columns: 10)
    static func main() {
        var seed = 5
        func next(_ n: Int) -> Int { seed = (seed &* 1103515245 &+ 12345) & 0x7fffffff; return (seed >> 8) % n }
        // one batch of rows per round, edits in all rows so far
        for round in 1...10 {
            for r in (round - 1) * 20..<round * 20 {
                for c in 0..<10 {
                    let k = sheet.key(r, c)
                    if r == 0 || c < 4 { sheet.set(k, Num(Double(next(100)))) }
                    else { sheet.set(k, Sum([Ref(sheet.key(r, c - 1)), Ref(sheet.key(r - 1, c % 4)), Num(1)])) }
                }
            }
            for _ in 0..<150 {
                let r = next(round * 20), c = next(4)
                sheet.set(sheet.key(r, c), Num(Double(next(500))))
            }
            for _ in 0..<10 { sheet.clear(sheet.key(next(round * 20), 3)) }
            sheet.recalc()
        }
        let total = (0..<200).reduce(0.0) { $0 + sheet.value(sheet.key($1, 9)) }
        print("cells \(sheet.count) replaced \(sheet.replaced) total \(Int(total))")
    }
}
