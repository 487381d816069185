// Text rendering with a bounded cache of rasterised glyphs.
import Foundation

struct GlyphKey: Hashable {
    let character: Character
    let size: Int
    let bold: Bool
}

final class Glyph {
    let width: Int
    let coverage: [UInt8]

    init(key: GlyphKey) {
        let code = Int(key.character.unicodeScalars.first!.value)
        width = key.size / 2 + code % 4 + (key.bold ? 1 : 0)
        var pixels = [UInt8](repeating: 0, count: width * key.size)
        for index in pixels.indices {
            pixels[index] = UInt8(truncatingIfNeeded: index &* code &+ key.size)
        }
        coverage = pixels
    }

    var ink: Int { coverage.reduce(0) { $0 + Int($1) } }
}

final class LruCache<Key: Hashable, Value> {
    private final class Node {
        let key: Key
        let value: Value
        var next: Node?
        unowned(unsafe) var previous: Node?

        init(key: Key, value: Value) {
            self.key = key
            self.value = value
        }
    }

    private var nodes: [Key: Node] = [:]
    private var head: Node?
    private var tail: Node?
    private let capacity: Int
    private(set) var hits = 0
    private(set) var misses = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    var count: Int { nodes.count }

    func value(for key: Key, make: (Key) -> Value) -> Value {
        if let node = nodes[key] {
            hits += 1
            unlink(node)
            pushFront(node)
            return node.value
        }
        misses += 1
        let node = Node(key: key, value: make(key))
        nodes[key] = node
        pushFront(node)
        if nodes.count > capacity, let oldest = tail {
            unlink(oldest)
            nodes[oldest.key] = nil
        }
        return node.value
    }

    private func pushFront(_ node: Node) {
        node.previous = nil
        node.next = head
        head?.previous = node
        head = node
        if tail == nil { tail = node }
    }

    private func unlink(_ node: Node) {
        let following = node.next
        let preceding = node.previous
        if let preceding { preceding.next = following } else { head = following }
        if let following { following.previous = preceding } else { tail = preceding }
        node.next = nil
        node.previous = nil
    }
}

struct Style {
    let size: Int
    let bold: Bool
}

final class Renderer {
    private let cache = LruCache<GlyphKey, Glyph>(capacity: 300)
    private(set) var glyphsDrawn = 0
    private(set) var ink = 0

    func draw(_ text: String, style: Style) -> Int {
        var x = 0
        for character in text where !character.isWhitespace {
            let key = GlyphKey(character: character, size: style.size, bold: style.bold)
            let glyph = cache.value(for: key, make: Glyph.init(key:))
            x += glyph.width + 1
            glyphsDrawn += 1
            if glyphsDrawn % 16 == 0 {
                ink = (ink + glyph.ink) % 1_000_000_007
            }
        }
        return x
    }

    var summary: String {
        "cached \(cache.count), hits \(cache.hits), misses \(cache.misses)"
    }
}

let paragraphs = [
    "The quick brown fox jumps over the lazy dog, twice a day; three times on Sundays!",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "Voix ambiguë d'un cœur qui, au zéphyr, préfère les jattes de kiwis?",
    "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío.",
    "0123456789 + 9876543210 = 9999999999 (mod 2^64) #hash @home 50%",
]

let renderer = Renderer()
var widest = 0
for page in 0..<120 {
    let style = Style(size: 9 + (page / 6) % 14, bold: page % 3 == 0)
    for line in 0..<6 {
        let text = paragraphs[(page * 2 + line * 3) % paragraphs.count]
        widest = max(widest, renderer.draw(text, style: style))
    }
    if page % 20 == 19 {
        print("page \(page + 1): \(renderer.summary)")
        usleep(10_000)
    }
}
print("drawn \(renderer.glyphsDrawn), widest line \(widest) px, ink \(renderer.ink)")
