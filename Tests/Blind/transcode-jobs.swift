import Foundation
import Dispatch

struct Segment {
    let number: Int
    let bytes: [UInt8]
    let checksum: UInt32

    static func sum(_ bytes: [UInt8]) -> UInt32 {
        bytes.reduce(2166136261) { ($0 ^ UInt32($1)) &* 16777619 }
    }
}

struct Clip {
    let title: String
    let segments: [Segment]
}

enum MediaError: Error {
    case corruptSegment(Int)
}

final class ProgressBoard {
    private let lock = NSLock()
    private var percent: [String: Int] = [:]

    func update(_ title: String, _ value: Int) {
        lock.lock()
        percent[title] = value
        lock.unlock()
    }

    func clear(_ title: String) {
        lock.lock()
        percent[title] = nil
        lock.unlock()
    }
}

final class TranscodeJob {
    private let clip: Clip
    private let board: ProgressBoard
    private let lock = NSLock()
    private var finishedSegments = 0
    private var output: [UInt8] = []
    private var timer: DispatchSourceTimer?

    init(clip: Clip, board: ProgressBoard) {
        self.clip = clip
        self.board = board
    }

    func run() throws -> Int {
        startProgress()
        for segment in clip.segments {
            let encoded = try encode(segment)
            lock.lock()
            output.append(contentsOf: encoded)
            finishedSegments += 1
            lock.unlock()
        }
        stopProgress()
        return output.count
    }

    private func startProgress() {
        let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        timer.schedule(deadline: .now() + .milliseconds(4), repeating: .milliseconds(10))
        timer.setEventHandler { self.publish() }
        timer.resume()
        self.timer = timer
    }

    private func publish() {
        lock.lock()
        let done = finishedSegments
        lock.unlock()
        board.update(clip.title, done * 100 / clip.segments.count)
    }

    private func stopProgress() {
        timer?.cancel()
        timer = nil
        board.clear(clip.title)
    }

    private func encode(_ segment: Segment) throws -> [UInt8] {
        usleep(2_000)
        guard Segment.sum(segment.bytes) == segment.checksum else {
            throw MediaError.corruptSegment(segment.number)
        }
        var result: [UInt8] = []
        var index = 0
        while index < segment.bytes.count {
            var run = 1
            while index + run < segment.bytes.count, segment.bytes[index + run] == segment.bytes[index], run < 255 {
                run += 1
            }
            result.append(UInt8(run))
            result.append(segment.bytes[index])
            index += run
        }
        return result
    }
}

final class Farm {
    private let queue = OperationQueue()
    private let board = ProgressBoard()
    private let lock = NSLock()
    private(set) var encodedBytes = 0
    private(set) var rejected: [String] = []

    init(width: Int) {
        queue.maxConcurrentOperationCount = width
    }

    func submit(_ clip: Clip) {
        queue.addOperation { self.process(clip) }
    }

    private func process(_ clip: Clip) {
        do {
            let count = try TranscodeJob(clip: clip, board: board).run()
            lock.lock()
            encodedBytes += count
            lock.unlock()
        } catch {
            lock.lock()
            rejected.append("\(clip.title): \(error)")
            lock.unlock()
        }
    }

    func drain() {
        queue.waitUntilAllOperationsAreFinished()
    }
}

func makeClip(_ index: Int) -> Clip {
    let isFilm = index % 27 == 14
    let segments = (0..<(isFilm ? 100 : 3 + index % 8)).map { number -> Segment in
        let bytes = (0..<256).map { UInt8(($0 / (2 + (index + number) % 6)) & 0x3f) }
        let damaged = index % 32 == 30 && number == 2
        return Segment(number: number, bytes: bytes, checksum: Segment.sum(bytes) ^ (damaged ? 1 : 0))
    }
    return Clip(title: isFilm ? "film-\(index)" : "clip-\(index)", segments: segments)
}

let farm = Farm(width: 12)
for index in 0..<160 {
    farm.submit(makeClip(index))
    if index % 8 == 7 { usleep(20_000) }
}
farm.drain()
print("encoded \(farm.encodedBytes) bytes")
print("rejected: \(farm.rejected.count)")
