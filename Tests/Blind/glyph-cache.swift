import Foundation

final class Bitmap {
    let width: Int
    let height: Int
    let bits: [UInt8]
    init(width: Int, height: Int, fill: UInt8) {
        self.width = width; self.height = height
        bits = Array(repeating: fill, count: width * height / 8)
    }
}

final class Glyph {
    let code: Int
    let advance: Int
    let bitmap: Bitmap
    init(code: Int, size: Int) {
        self.code = code
        advance = size / 2 + code % 3
        bitmap = Bitmap(width: size, height: size, fill: UInt8(code & 0xff))
    }
}

final class GlyphCache {
    private struct Key: Hashable { let code: Int; let size: Int }
    private var store: [Key: Glyph] = [:]
    private(set) var hits = 0
    private(set) var misses = 0
    func glyph(_ code: Int, _ size: Int) -> Glyph {
        let k = Key(code: code, size: size)
        if let g = store[k] { hits += 1; return g }
        misses += 1
        let g = Glyph(code: code, size: size)
        store[k] = g
        return g
    }
    var count: Int { store.count }
}

final class LineLayout {
    private var glyphs: [Glyph] = []
    private(set) var width = 0
    func append(_ g: Glyph) { glyphs.append(g); width += g.advance }
    func ink() -> Int { glyphs.reduce(0) { $0 + $1.bitmap.bits.count } }
}

final class TextRenderer {
    private let cache: GlyphCache
    private(set) var pixels = 0
    init(cache: GlyphCache) { self.cache = cache }
    func draw(_ codes: [Int], size: Int) {
        let line = LineLayout()
        for c in codes { line.append(cache.glyph(c, size)) }
        pixels += line.width + line.ink()
    }
}

@main
enum Viewer {
    static let cache = GlyphCache()
    static func main() {
        let renderer = TextRenderer(cache: cache)
        var seed = 31
        func next(_ n: Int) -> Int { seed = (seed &* 1103515245 &+ 12345) & 0x7fffffff; return (seed >> 8) % n }
        for page in 0..<60 {
            for _ in 0..<25 {
                // frequent codes are small, rare ones reach up to 1000
                let codes = (0..<40).map { _ in next(next(next(1000) + 1) + 1) }
                renderer.draw(codes, size: [12, 16, 24][page % 3])
            }
        }
        print("glyphs \(cache.count) hits \(cache.hits) misses \(cache.misses) pixels \(renderer.pixels)")
    }
}
