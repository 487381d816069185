import Foundation

struct TileAddress: Hashable {
    let zoom: Int
    let column: Int
    let row: Int
}

protocol ProgressSource: AnyObject {
    var fraction: Double { get }
    var title: String { get }
}

final class StatusBoard {
    private var sources: [ObjectIdentifier: ProgressSource] = [:]
    private(set) var linesShown = 0

    func attach(_ source: ProgressSource) {
        sources[ObjectIdentifier(source)] = source
    }

    func detach(_ source: ProgressSource) {
        sources[ObjectIdentifier(source)] = nil
    }

    func refresh() {
        linesShown += sources.values.reduce(0) { $0 + ($1.fraction < 1 ? 1 : 0) }
    }
}

final class ProgressReporter: ProgressSource {
    let title: String
    private let total: Int
    private var done = 0

    init(title: String, total: Int) {
        self.title = title
        self.total = total
    }

    func step() { done += 1 }
    var fraction: Double { Double(done) / Double(total) }
}

final class TileRenderer {
    private let address: TileAddress
    private let reporter: ProgressReporter
    private let board: StatusBoard
    private var pixels: [UInt8]

    init(address: TileAddress, board: StatusBoard) {
        self.address = address
        self.board = board
        pixels = Array(repeating: 0, count: 16 * 16)
        reporter = ProgressReporter(title: "\(address.zoom)/\(address.column)/\(address.row)", total: 16)
        board.attach(reporter)
    }

    func render() -> UInt64 {
        for y in 0..<16 {
            for x in 0..<16 {
                let height = (address.column * 16 + x) * 3 + (address.row * 16 + y) * 5
                pixels[y * 16 + x] = UInt8(truncatingIfNeeded: height ^ (height >> 3))
            }
            reporter.step()
            if y == 8 { board.refresh() }
        }
        return pixels.reduce(UInt64(1469)) { ($0 &* 1099) &+ UInt64($1) }
    }
}

struct Pyramid {
    let levels: ClosedRange<Int>

    func addresses() -> [TileAddress] {
        levels.flatMap { zoom -> [TileAddress] in
            let side = (zoom - 8) * 4
            return (0..<side).flatMap { column in
                (0..<side).map { TileAddress(zoom: zoom, column: column, row: $0) }
            }
        }
    }
}

let board = StatusBoard()
let pyramid = Pyramid(levels: 9...12)
var digest: [Int: UInt64] = [:]
var tiles: [Int: Int] = [:]

for address in pyramid.addresses() {
    if address.zoom == 12 && (address.column + address.row) % 2 == 1 && address.row < 10 { continue }
    let renderer = TileRenderer(address: address, board: board)
    digest[address.zoom, default: 0] ^= renderer.render()
    tiles[address.zoom, default: 0] += 1
}

for zoom in pyramid.levels {
    print("zoom \(zoom): \(tiles[zoom] ?? 0) tiles, digest \(String(digest[zoom] ?? 0, radix: 16))")
}
print("status lines shown: \(board.linesShown)")
