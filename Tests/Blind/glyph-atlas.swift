import Foundation

struct GlyphKey: Hashable {
    let scalar: UInt32
    let size: Int
}

final class Glyph {
    let key: GlyphKey
    let width: Int
    let coverage: [UInt8]

    init(key: GlyphKey) {
        self.key = key
        self.width = Int(key.scalar % 7) + key.size / 2
        self.coverage = (0..<32).map { UInt8(truncatingIfNeeded: Int(key.scalar) &* $0) }
    }
}

final class GlyphAtlas {
    private var glyphs: [GlyphKey: Glyph] = [:]
    private(set) var misses = 0

    func glyph(for scalar: UInt32, size: Int) -> Glyph {
        let key = GlyphKey(scalar: scalar, size: size)
        if let glyph = glyphs[key] { return glyph }
        misses += 1
        let glyph = Glyph(key: key)
        glyphs[key] = glyph
        return glyph
    }

    var count: Int { glyphs.count }
}

final class TextLine {
    let glyphs: [Glyph]
    init(glyphs: [Glyph]) { self.glyphs = glyphs }
    var width: Int { glyphs.reduce(0) { $0 + $1.width } }
}

final class TextRenderer {
    let atlas = GlyphAtlas()

    func layout(_ text: [UInt32], size: Int) -> TextLine {
        TextLine(glyphs: text.map { atlas.glyph(for: $0, size: size) })
    }
}

let renderer = TextRenderer()
var state: UInt32 = 12345
var totalWidth = 0

func nextScalar(limit: UInt32) -> UInt32 {
    state = state &* 1664525 &+ 1013904223
    return 33 + (state >> 16) % limit
}

for frame in 0..<120 {
    // the vocabulary becomes richer while the document is scrolled
    let limit = UInt32(min(94, 10 + frame))
    for line in 0..<8 {
        let text = (0..<30).map { _ in nextScalar(limit: limit) }
        totalWidth += renderer.layout(text, size: line == 0 ? 24 : 12).width
    }
}
print("glyphs \(renderer.atlas.count) misses \(renderer.atlas.misses) width \(totalWidth)")
