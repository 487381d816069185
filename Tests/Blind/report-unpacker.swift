import Foundation

typealias UnpackCallback = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, Int) -> Int32

struct EntryHeader {
    let path: String
    let unpackedSize: Int
    let seed: UInt8
}

/// Feeds an entry to the callback block by block, like the C library.
func unpackEntry(_ header: EntryHeader, _ context: UnsafeMutableRawPointer?, _ callback: UnpackCallback) -> Int32 {
    var remaining = header.unpackedSize
    var block = [UInt8](repeating: header.seed, count: 512)
    while remaining > 0 {
        let size = min(remaining, block.count)
        block[0] = UInt8(truncatingIfNeeded: remaining)
        let status = block.withUnsafeBufferPointer { callback(context, $0.baseAddress, size) }
        if status < 0 { return status }
        remaining -= size
    }
    return 0
}

final class ProgressBox {
    let total: Int
    private(set) var received = 0
    private let report: (Double) -> Void

    init(total: Int, report: @escaping (Double) -> Void) {
        self.total = total
        self.report = report
    }

    func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        received += bytes.count
        report(Double(received) / Double(total))
    }
}

enum ArchiveError: Error {
    case damaged(Int32)
}

final class Archive {
    private let entries: [EntryHeader]
    private var isOpen = true

    init(entries: [EntryHeader]) { self.entries = entries }

    func extract(_ index: Int, progress: @escaping (Double) -> Void) throws -> Int {
        let entry = entries[index]
        let box = ProgressBox(total: entry.unpackedSize, report: progress)
        let context = Unmanaged.passRetained(box).toOpaque()
        defer { isOpen = index + 1 < entries.count }

        let status = unpackEntry(entry, context) { pointer, bytes, size in
            guard let pointer, let bytes else { return -1 }
            let box = Unmanaged<ProgressBox>.fromOpaque(pointer).takeUnretainedValue()
            box.add(UnsafeBufferPointer(start: bytes, count: size))
            return 0
        }
        guard status == 0 else { throw ArchiveError.damaged(status) }
        return box.received
    }
}

func main() throws {
    let entries = (0..<150).map {
        EntryHeader(path: "photos/\($0).jpg", unpackedSize: 700 + $0 * 13, seed: UInt8($0))
    }
    let archive = Archive(entries: entries)
    var bytes = 0
    var halfway = 0
    for index in entries.indices {
        bytes += try archive.extract(index) { if $0 > 0.5 { halfway += 1 } }
        usleep(2_500)
    }
    print("unpacked \(entries.count) entries, \(bytes) bytes, \(halfway) late callbacks")
}

try main()
