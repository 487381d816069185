import Foundation

typealias DecodeCallback = @convention(c) (UnsafeMutableRawPointer?, Int32, UnsafePointer<UInt8>?, Int) -> Void

final class NativeDecoder {
    private struct Entry {
        let bytes: [UInt8]
        let context: UnsafeMutableRawPointer?
        let callback: DecodeCallback
    }
    private var pending: [Entry] = []

    func submit(_ bytes: [UInt8], context: UnsafeMutableRawPointer?, callback: @escaping DecodeCallback) {
        pending.append(Entry(bytes: bytes, context: context, callback: callback))
    }

    func pump() {
        let batch = pending
        pending.removeAll()
        for entry in batch {
            let expected = entry.bytes.dropLast().reduce(UInt8(0)) { $0 &+ $1 }
            guard expected == entry.bytes.last else {
                entry.callback(entry.context, -2, nil, 0)
                continue
            }
            let expanded = entry.bytes.dropLast().flatMap { [$0, $0] }
            expanded.withUnsafeBufferPointer { buffer in
                entry.callback(entry.context, 0, buffer.baseAddress, buffer.count)
            }
        }
    }
}

final class ImageTile {
    let column: Int
    let row: Int
    private(set) var pixels: [UInt8] = []
    init(column: Int, row: Int) {
        self.column = column
        self.row = row
    }
    func fill(_ source: UnsafeBufferPointer<UInt8>) { pixels = Array(source) }
    var brightness: Int { pixels.reduce(0) { $0 + Int($1) } }
}

final class DecodeRequest {
    let tile: ImageTile
    let completion: (ImageTile?, Int32) -> Void
    init(tile: ImageTile, completion: @escaping (ImageTile?, Int32) -> Void) {
        self.tile = tile
        self.completion = completion
    }
}

private func decodeFinished(_ context: UnsafeMutableRawPointer?, _ status: Int32, _ data: UnsafePointer<UInt8>?, _ count: Int) {
    guard let context else { return }
    let reference = Unmanaged<DecodeRequest>.fromOpaque(context)
    guard status == 0, let data else {
        reference.takeUnretainedValue().completion(nil, status)
        return
    }
    let request = reference.takeRetainedValue()
    request.tile.fill(UnsafeBufferPointer(start: data, count: count))
    request.completion(request.tile, status)
}

final class TileLoader {
    private let decoder = NativeDecoder()
    private var recent: [ImageTile] = []
    private(set) var brightness = 0
    private(set) var failures = 0

    func load(_ bytes: [UInt8], column: Int, row: Int) {
        let request = DecodeRequest(tile: ImageTile(column: column, row: row)) { [unowned self] tile, status in
            guard let tile else {
                self.failures += 1
                return
            }
            self.brightness += tile.brightness
            self.recent.append(tile)
            if self.recent.count > 24 { self.recent.removeFirst() }
        }
        decoder.submit(bytes, context: Unmanaged.passRetained(request).toOpaque(), callback: decodeFinished)
    }

    func pump() { decoder.pump() }
    var visible: Int { recent.count }
}

func encodedTile(_ n: Int) -> [UInt8] {
    var bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* n) }
    let sum = bytes.reduce(UInt8(0)) { $0 &+ $1 }
    bytes.append(n % 16 == 9 ? sum &+ 1 : sum)
    return bytes
}

let loader = TileLoader()
for n in 0..<480 {
    loader.load(encodedTile(n), column: n % 24, row: n / 24)
    if n % 3 == 2 { loader.pump() }
    usleep(2500)
}
loader.pump()
print("brightness \(loader.brightness), failures \(loader.failures)")
print("visible tiles \(loader.visible)")
