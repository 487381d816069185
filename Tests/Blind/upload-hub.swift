// Photo uploads: a queue sends photos in pieces and a hub tells observers about the progress.
import Foundation
import Dispatch

struct Progress {
    let uploadId: Int
    let sentBytes: Int
    let totalBytes: Int

    var isComplete: Bool { sentBytes >= totalBytes }
}

final class ProgressHub: @unchecked Sendable {
    typealias Observer = (Progress) -> Void

    private let lock = NSLock()
    private var observers: [Int: Observer] = [:]
    private var nextToken = 0

    func addObserver(_ observer: @escaping Observer) -> Int {
        lock.lock()
        defer { lock.unlock() }
        nextToken += 1
        observers[nextToken] = observer
        return nextToken
    }

    func removeObserver(_ token: Int) {
        lock.lock()
        defer { lock.unlock() }
        observers[token] = nil
    }

    func publish(_ progress: Progress, token: Int) {
        lock.lock()
        let observer = observers[token]
        lock.unlock()
        observer?(progress)
    }
}

class Transfer {
    let id: Int
    let totalBytes: Int
    private(set) var sentBytes = 0

    init(id: Int, totalBytes: Int) {
        self.id = id
        self.totalBytes = totalBytes
    }

    func advance(_ bytes: Int) -> Progress {
        sentBytes = min(totalBytes, sentBytes + bytes)
        return Progress(uploadId: id, sentBytes: sentBytes, totalBytes: totalBytes)
    }
}

final class Upload: Transfer {
    let album: String
    private let hub: ProgressHub
    private(set) var token = 0
    private(set) var percent = 0

    init(id: Int, album: String, totalBytes: Int, hub: ProgressHub) {
        self.album = album
        self.hub = hub
        super.init(id: id, totalBytes: totalBytes)
    }

    func begin() {
        token = hub.addObserver { progress in
            self.percent = progress.sentBytes * 100 / progress.totalBytes
        }
    }

    func sendPiece(_ bytes: Int) -> Bool {
        let progress = advance(bytes)
        hub.publish(progress, token: token)
        return progress.isComplete
    }
}

final class UploadQueue: @unchecked Sendable {
    private let queue: DispatchQueue
    private let hub: ProgressHub
    private var running: [Int: Upload] = [:]
    private var perAlbum: [String: Int] = [:]
    private(set) var pieces = 0

    init(label: String, hub: ProgressHub) {
        queue = DispatchQueue(label: label)
        self.hub = hub
    }

    func submit(id: Int, album: String, bytes: Int, group: DispatchGroup) {
        queue.async(group: group) {
            let upload = Upload(id: id, album: album, totalBytes: bytes, hub: self.hub)
            self.running[id] = upload
            upload.begin()
            while !upload.sendPiece(64_000) {
                self.pieces += 1
            }
            self.finish(upload)
        }
    }

    private func finish(_ upload: Upload) {
        running.removeValue(forKey: upload.id)
        if upload.percent == 100 {
            perAlbum[upload.album, default: 0] += upload.totalBytes
        }
    }

    func report() -> [(String, Int)] {
        queue.sync { perAlbum.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }
}

let hub = ProgressHub()
let queues = [UploadQueue(label: "fast", hub: hub), UploadQueue(label: "slow", hub: hub)]
let albums = ["holiday", "garden", "cats", "work"]
let everything = DispatchGroup()

for id in 0..<400 {
    let bytes = 300_000 + (id * 7_919) % 2_500_000
    queues[id % 2].submit(id: id, album: albums[id % 7 % albums.count], bytes: bytes, group: everything)
    if id % 10 == 9 {
        usleep(2500)
    }
}
everything.wait()

for (index, queue) in queues.enumerated() {
    print("queue \(index): \(queue.pieces) pieces")
    for (album, bytes) in queue.report() {
        print("  \(album): \(bytes / 1000) kB")
    }
}
