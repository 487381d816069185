import Foundation

struct SwatchSpec {
    let glaze: String
    let width: Int
}

/// Pixels of a fired glaze sample, ready to be put on a page.
final class Swatch {
    let glaze: String
    let pixels: [UInt32]

    init(glaze: String, pixels: [UInt32]) {
        self.glaze = glaze
        self.pixels = pixels
    }

    var averageTone: UInt32 {
        let sum = pixels.reduce(UInt64(0)) { $0 + UInt64($1 & 0xff) }
        return UInt32(sum / UInt64(max(pixels.count, 1)))
    }
}

final class AddressSigner {
    private var ticks = 1_700_000_000

    func sign(_ spec: SwatchSpec) -> String {
        ticks += 1
        let expires = ticks + 300
        return "/swatch/\(spec.glaze)?w=\(spec.width)&expires=\(expires)"
    }
}

final class SwatchCache {
    static let shared = SwatchCache()
    private var swatches: [String: Swatch] = [:]
    private(set) var hits = 0

    func swatch(at address: String, otherwise render: () -> Swatch) -> Swatch {
        if let found = swatches[address] {
            hits += 1
            return found
        }
        let fresh = render()
        swatches[address] = fresh
        return fresh
    }
}

struct Kiln {
    func fire(_ spec: SwatchSpec) -> Swatch {
        var state = UInt32(truncatingIfNeeded: spec.glaze.utf8.reduce(7) { $0 &* 33 &+ Int($1) })
        var pixels: [UInt32] = []
        pixels.reserveCapacity(spec.width)
        for _ in 0..<spec.width {
            state = state &* 1_664_525 &+ 1_013_904_223
            pixels.append(state >> 8)
        }
        return Swatch(glaze: spec.glaze, pixels: pixels)
    }
}

final class CatalogPage {
    private let signer: AddressSigner
    private let kiln = Kiln()

    init(signer: AddressSigner) { self.signer = signer }

    func render(_ specs: [SwatchSpec]) -> UInt32 {
        var tone: UInt32 = 0
        for spec in specs {
            let address = signer.sign(spec)
            let swatch = SwatchCache.shared.swatch(at: address) { kiln.fire(spec) }
            tone &+= swatch.averageTone
        }
        return tone
    }
}

let signer = AddressSigner()
let specs = ["celadon", "tenmoku", "shino", "oribe", "raku", "cobalt"].map {
    SwatchSpec(glaze: $0, width: 160)
}
var tones: UInt32 = 0
for visit in 0..<100 {
    let page = CatalogPage(signer: signer)
    tones &+= page.render(specs)
    if visit % 3 == 0 { usleep(12_000) }
}
print("rendered 100 pages, tone \(tones), served from memory \(SwatchCache.shared.hits)")
