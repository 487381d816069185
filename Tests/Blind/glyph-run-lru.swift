// Text shaping for a label renderer; shaped runs are reused between frames.
import Foundation

struct Glyph {
    let id: UInt16
    let advance: Float
}

final class ShapedRun {
    let text: String
    let glyphs: [Glyph]
    let width: Float

    init(text: String, glyphs: [Glyph]) {
        self.text = text
        self.glyphs = glyphs
        self.width = glyphs.reduce(0) { $0 + $1.advance }
    }
}

struct Shaper {
    func shape(_ text: String, size: Float) -> ShapedRun {
        var previous: UInt8 = 0
        let glyphs = text.utf8.map { byte -> Glyph in
            let kern: Float = previous == 65 && byte == 86 ? -0.08 : 0
            previous = byte
            return Glyph(id: UInt16(byte) &* 3, advance: size * (0.45 + Float(byte % 7) * 0.03 + kern))
        }
        return ShapedRun(text: text, glyphs: glyphs)
    }
}

final class RunStore {
    private let capacity: Int
    private let shaper = Shaper()
    private var slots: [ShapedRun] = []
    private var slotByText: [String: Int] = [:]
    private var recency: [String] = []
    private(set) var shaped = 0

    init(capacity: Int) { self.capacity = capacity }

    func run(for text: String) -> ShapedRun {
        if let slot = slotByText[text] {
            touch(text)
            return slots[slot]
        }
        if slotByText.count >= capacity { evictOldest() }
        let run = shaper.shape(text, size: 14)
        shaped += 1
        slots.append(run)
        slotByText[text] = slots.count - 1
        recency.append(text)
        return run
    }

    var cachedTexts: Int { slotByText.count }

    private func touch(_ text: String) {
        if let at = recency.lastIndex(of: text) {
            recency.remove(at: at)
            recency.append(text)
        }
    }

    private func evictOldest() {
        let oldest = recency.removeFirst()
        slotByText.removeValue(forKey: oldest)
    }
}

final class LabelLayer {
    private let store: RunStore
    private(set) var drawnWidth: Float = 0

    init(store: RunStore) { self.store = store }

    func draw(_ labels: [String]) {
        for label in labels {
            drawnWidth += store.run(for: label).width
        }
    }
}

let store = RunStore(capacity: 64)
let layer = LabelLayer(store: store)
let furniture = ["Scale", "North", "Legend", "Depth (m)"]
let frames = 199
var vessel = 0
for frame in 0..<frames {
    var labels = furniture
    for _ in 0..<4 {
        labels.append("MV Carrier \(vessel) hdg \(vessel * 7 % 360)")
        vessel += 1
    }
    layer.draw(labels)
    layer.draw(labels)
    if frame % 10 == 0 { usleep(5000) }
}

print("frames: \(frames), runs shaped: \(store.shaped), texts in cache: \(store.cachedTexts)")
print("total drawn width: \(Int(layer.drawnWidth))")
