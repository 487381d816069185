import Foundation

final class CameraFrame {
    let number: Int
    let luma: [UInt8]
    init(number: Int) {
        self.number = number
        self.luma = (0..<64).map { UInt8(truncatingIfNeeded: number &* 3 &+ $0) }
    }
}

final class EncodedFrame {
    let number: Int
    let size: Int
    init(number: Int, size: Int) {
        self.number = number
        self.size = size
    }
}

final class FrameQueue {
    private var frames: [CameraFrame] = []
    private let capacity: Int
    private(set) var dropped = 0

    init(capacity: Int) { self.capacity = capacity }

    func push(_ frame: CameraFrame) {
        if frames.count == capacity {
            frames.removeFirst()
            dropped += 1
        }
        frames.append(frame)
    }

    func pop() -> CameraFrame? {
        frames.isEmpty ? nil : frames.removeFirst()
    }

    var count: Int { frames.count }
}

protocol Muxer: AnyObject {
    func write(_ frame: EncodedFrame)
}

final class FileMuxer: Muxer {
    private(set) var bytes = 0
    private(set) var lastFrame = -1
    func write(_ frame: EncodedFrame) {
        bytes += frame.size
        lastFrame = frame.number
    }
}

final class FrameEncoder {
    private let queue: FrameQueue
    private weak var muxer: Muxer?
    private var reference: CameraFrame?

    init(queue: FrameQueue, muxer: Muxer) {
        self.queue = queue
        self.muxer = muxer
    }

    func step() {
        guard let frame = queue.pop() else { return }
        var size = 0
        if let reference {
            for (a, b) in zip(frame.luma, reference.luma) where a != b { size += 1 }
        } else {
            size = frame.luma.count
        }
        reference = frame
        muxer?.write(EncodedFrame(number: frame.number, size: size))
    }
}

let queue = FrameQueue(capacity: 8)
let muxer = FileMuxer()
let encoder = FrameEncoder(queue: queue, muxer: muxer)
for number in 0..<600 {
    queue.push(CameraFrame(number: number))
    if number % 2 == 0 { encoder.step() }
}
print("bytes \(muxer.bytes) last \(muxer.lastFrame) dropped \(queue.dropped) queued \(queue.count)")
