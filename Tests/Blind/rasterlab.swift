import Foundation

final class PixelBlock {
    let width: Int
    var samples: [UInt8]

    init(width: Int, samples: [UInt8]) {
        self.width = width
        self.samples = samples
    }
}

struct Raster {
    private var block: PixelBlock

    init(width: Int, height: Int, seed: Int) {
        let samples = (0..<(width * height)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ seed) }
        block = PixelBlock(width: width, samples: samples)
    }

    mutating func withSamples(_ body: (inout [UInt8], Int) -> Void) {
        if !isKnownUniquelyReferenced(&block) {
            block = PixelBlock(width: block.width, samples: block.samples)
        }
        body(&block.samples, block.width)
    }

    var mean: Int {
        block.samples.reduce(0) { $0 + Int($1) } / block.samples.count
    }
}

enum Filter: CaseIterable {
    case invert, soften, lift, posterize

    func apply(to raster: inout Raster) {
        raster.withSamples { samples, width in
            switch self {
            case .invert:
                for i in samples.indices { samples[i] = 255 - samples[i] }
            case .soften:
                for i in samples.indices where i % width > 0 {
                    samples[i] = UInt8((Int(samples[i]) + Int(samples[i - 1])) / 2)
                }
            case .lift:
                for i in samples.indices { samples[i] = samples[i] > 235 ? 255 : samples[i] + 20 }
            case .posterize:
                for i in samples.indices { samples[i] &= 0xE0 }
            }
        }
    }
}

final class Lightroom {
    private var filmstrip: [Raster] = []
    private(set) var exported = 0
    private(set) var brightness = 0

    func develop(_ original: Raster, filters: [Filter]) {
        var working = original
        for filter in filters {
            filter.apply(to: &working)
            filmstrip.append(working)
        }
        brightness += working.mean
        exported += 1
    }

    func contactPreview() -> [Int] {
        filmstrip.suffix(4).map(\.mean)
    }
}

let lightroom = Lightroom()
var previewSum = 0

for photo in 0..<90 {
    let original = Raster(width: 40, height: 30, seed: photo * 7)
    let filters = Filter.allCases.filter { _ in true }
    lightroom.develop(original, filters: photo % 2 == 0 ? filters : filters.reversed())
    previewSum += lightroom.contactPreview().reduce(0, +)
    usleep(6_000)
}

print("rasterlab: exported \(lightroom.exported), brightness \(lightroom.brightness), previews \(previewSum)")
