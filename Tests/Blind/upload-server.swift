import Foundation

// Upload endpoint: clients send multipart style chunks over simulated sockets.
// Each upload has its own parser, is hashed while it arrives, and ends in the
// object store.

struct Digest {
    private var state: (UInt32, UInt32) = (1, 0)
    mutating func update(_ bytes: ArraySlice<UInt8>) {
        var (a, b) = state
        for byte in bytes {
            a = (a &+ UInt32(byte)) % 65_521
            b = (b &+ a) % 65_521
        }
        state = (a, b)
    }
    var value: UInt32 { state.1 << 16 | state.0 }
}

enum ParserError: Error { case badHeader, overflow }

/// Splits the byte stream into frames: two length bytes, then the payload. A
/// frame of length zero ends the upload.
final class FrameParser {
    var onFrame: ((ArraySlice<UInt8>) -> Void)?
    var onEnd: (() -> Void)?
    private var pending: [UInt8] = []
    private let limit: Int
    private(set) var frames = 0

    init(limit: Int) { self.limit = limit }

    func feed(_ bytes: [UInt8]) throws {
        pending += bytes
        var offset = 0
        while pending.count - offset >= 2 {
            let length = Int(pending[offset]) << 8 | Int(pending[offset + 1])
            if length > limit { throw ParserError.overflow }
            if length == 0 {
                onEnd?()
                pending.removeAll()
                return
            }
            guard pending.count - offset - 2 >= length else { break }
            onFrame?(pending[(offset + 2)..<(offset + 2 + length)])
            frames += 1
            offset += 2 + length
        }
        pending.removeFirst(offset)
    }
}

struct StoredObject {
    let name: String
    let size: Int
    let digest: UInt32
}

final class ObjectStore {
    private var objects: [String: StoredObject] = [:]
    private var order: [String] = []
    private let capacity: Int
    private(set) var replaced = 0

    init(capacity: Int) { self.capacity = capacity }

    func put(_ object: StoredObject) {
        if objects.updateValue(object, forKey: object.name) == nil {
            order.append(object.name)
        } else {
            replaced += 1
        }
        if order.count > capacity { objects[order.removeFirst()] = nil }
    }

    var summary: (count: Int, bytes: Int) { (objects.count, objects.values.reduce(0) { $0 + $1.size }) }
}

final class Upload {
    let name: String
    private let parser: FrameParser
    private var digest = Digest()
    private(set) var received = 0
    private(set) var isComplete = false

    init(name: String, frameLimit: Int) {
        self.name = name
        parser = FrameParser(limit: frameLimit)
    }

    func begin(completion: @escaping (StoredObject) -> Void) {
        parser.onFrame = { frame in
            self.digest.update(frame)
            self.received += frame.count
        }
        parser.onEnd = { [weak self] in
            guard let self else { return }
            isComplete = true
            completion(StoredObject(name: name, size: received, digest: digest.value))
        }
    }

    func receive(_ bytes: [UInt8]) throws { try parser.feed(bytes) }
    var frames: Int { parser.frames }
}

final class UploadServer {
    private var active: [Int: Upload] = [:]
    private let store: ObjectStore
    private var nextHandle = 0
    private(set) var completed = 0
    private(set) var aborted = 0
    private(set) var frames = 0

    init(store: ObjectStore) { self.store = store }

    func open(name: String) -> Int {
        nextHandle += 1
        let upload = Upload(name: name, frameLimit: 8_192)
        upload.begin { [store] object in store.put(object) }
        active[nextHandle] = upload
        return nextHandle
    }

    func receive(_ bytes: [UInt8], handle: Int) {
        guard let upload = active[handle] else { return }
        do {
            try upload.receive(bytes)
            if upload.isComplete {
                completed += 1
                finish(handle)
            }
        } catch {
            aborted += 1
            finish(handle)
        }
    }

    private func finish(_ handle: Int) {
        guard let upload = active.removeValue(forKey: handle) else { return }
        frames += upload.frames
    }

    var openUploads: Int { active.count }
}

final class UploadClient {
    let handle: Int
    private var remaining: [UInt8]
    init(handle: Int, payload: [UInt8]) {
        self.handle = handle
        remaining = payload
    }

    func nextPacket(size: Int) -> [UInt8] {
        let packet = Array(remaining.prefix(size))
        remaining.removeFirst(packet.count)
        return packet
    }

    var isDone: Bool { remaining.isEmpty }
}

func payload(for number: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var value = UInt32(number) &* 2_246_822_519 | 1
    for _ in 0..<(12 + number % 14) {
        let length = 700 + Int(value >> 20) % 1_200
        bytes.append(UInt8(length >> 8))
        bytes.append(UInt8(length & 255))
        for _ in 0..<length {
            value = value &* 1_664_525 &+ 1_013_904_223
            bytes.append(UInt8(truncatingIfNeeded: value >> 24))
        }
    }
    // One client in sixty sends a frame that is too long.
    return bytes + (number % 60 == 59 ? [0xff, 0xff] : [0, 0])
}

let store = ObjectStore(capacity: 150)
let server = UploadServer(store: store)
var clients: [UploadClient] = []
var started = 0
// Poll loop: at most twelve clients are connected at the same time.
while started < 480 || !clients.isEmpty {
    while clients.count < 12, started < 480 {
        let handle = server.open(name: "file-\(started % 110)")
        clients.append(UploadClient(handle: handle, payload: payload(for: started)))
        started += 1
    }
    for client in clients { server.receive(client.nextPacket(size: 3_000), handle: client.handle) }
    clients.removeAll { $0.isDone }
    usleep(800)
}
let summary = store.summary
print("uploads \(started), completed \(server.completed), aborted \(server.aborted), open \(server.openUploads)")
print("frames \(server.frames), stored \(summary.count) objects with \(summary.bytes) bytes, replaced \(store.replaced)")
