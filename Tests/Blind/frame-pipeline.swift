import Foundation

final class Frame: @unchecked Sendable {
    let sequence: Int
    let pixels: [UInt8]
    init(sequence: Int) {
        self.sequence = sequence
        self.pixels = [UInt8](repeating: UInt8(truncatingIfNeeded: sequence), count: 200_000)
    }
}

final class Thumbnail: @unchecked Sendable {
    let sequence: Int
    let bytes: [UInt8]
    init(of frame: Frame) {
        sequence = frame.sequence
        bytes = stride(from: 0, to: frame.pixels.count, by: 4_000).map { frame.pixels[$0] }
    }
}

actor Resequencer {
    private var pending: [Int: Frame] = [:]
    private var next = 0
    private let window = 8
    private let output: AsyncStream<Frame>.Continuation
    private(set) var skipped = 0

    init(output: AsyncStream<Frame>.Continuation) { self.output = output }

    func accept(_ frame: Frame) {
        pending[frame.sequence] = frame
        drain()
        while frame.sequence - next >= window {
            skipped += 1
            next += 1
            drain()
        }
    }

    func close() { output.finish() }

    private func drain() {
        while let frame = pending.removeValue(forKey: next) {
            output.yield(frame)
            next += 1
        }
    }
}

actor Gallery {
    private var strip: [Thumbnail] = []
    private(set) var shown = 0

    func add(_ thumbnail: Thumbnail) {
        shown += 1
        strip.append(thumbnail)
        if strip.count > 24 { strip.removeFirst() }
    }

    func newest() -> Int { strip.last?.sequence ?? -1 }
}

struct Receiver {
    let resequencer: Resequencer

    func receive(total: Int) async {
        var delayed: Int?
        for sequence in 0..<total {
            if sequence % 40 == 39 {
                delayed = sequence
                continue
            }
            await resequencer.accept(Frame(sequence: sequence))
            if sequence % 40 == 11, let late = delayed {
                delayed = nil
                await resequencer.accept(Frame(sequence: late))
            }
            try? await Task.sleep(nanoseconds: 7_000_000)
        }
        await resequencer.close()
    }
}

@main
struct FramePipelineApp {
    static let ordered = AsyncStream.makeStream(of: Frame.self)
    static let resequencer = Resequencer(output: ordered.continuation)
    static let gallery = Gallery()

    static func main() async {
        async let receiving: Void = Receiver(resequencer: resequencer).receive(total: 132)
        for await frame in ordered.stream {
            await gallery.add(Thumbnail(of: frame))
        }
        await receiving
        print("shown \(await gallery.shown), newest \(await gallery.newest()), skipped \(await resequencer.skipped)")
    }
}
