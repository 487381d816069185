// A video transcoder that borrows frame buffers from a pool and gives them back after each batch.

final class FrameBuffer: @unchecked Sendable {
    let id: Int
    var samples: [Int32]
    var uses = 0

    init(id: Int, capacity: Int) {
        self.id = id
        samples = Array(repeating: 0, count: capacity)
    }

    func fill(frame: Int) {
        uses += 1
        for index in samples.indices {
            samples[index] = Int32(truncatingIfNeeded: frame &* 31 &+ index &* 7)
        }
    }

    func energy() -> Int {
        samples.reduce(0) { ($0 &+ Int($1 & 0xFF)) & 0xFFFFFF }
    }
}

actor BufferPool {
    private var idle: [FrameBuffer] = []
    private var lent: [Int: FrameBuffer] = [:]
    private let capacity: Int
    private(set) var created = 0
    private(set) var leases = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    func borrow(_ count: Int) -> [FrameBuffer] {
        var result: [FrameBuffer] = []
        result.reserveCapacity(count)
        for _ in 0..<count {
            let buffer: FrameBuffer
            if let free = idle.popLast() {
                buffer = free
            } else {
                created += 1
                buffer = FrameBuffer(id: created, capacity: capacity)
            }
            lent[buffer.id] = buffer
            result.append(buffer)
            leases += 1
        }
        return result
    }

    func giveBack(_ buffers: [FrameBuffer]) {
        for buffer in buffers where lent.removeValue(forKey: buffer.id) != nil {
            idle.append(buffer)
        }
    }

    func usage() -> (idle: Int, lent: Int, mostUsed: Int) {
        (idle.count, lent.count, idle.map(\.uses).max() ?? 0)
    }
}

struct Scene: Sendable {
    let title: String
    let frames: Int
    let motion: Int
}

struct Transcoder: Sendable {
    let pool: BufferPool

    func transcode(_ scene: Scene, offset: Int) async -> Int {
        let buffers = await pool.borrow(scene.frames)
        let total = await withTaskGroup(of: Int.self) { group in
            for (index, buffer) in buffers.enumerated() {
                group.addTask {
                    buffer.fill(frame: offset + index * scene.motion)
                    return buffer.energy()
                }
            }
            var sum = 0
            for await energy in group {
                sum += energy
            }
            return sum
        }
        await pool.giveBack(buffers)
        return total
    }
}

@main
struct Main {
    static let pool = BufferPool(capacity: 256)

    static func main() async {
        let transcoder = Transcoder(pool: pool)
        let titles = ["opening", "chase", "dialogue", "landscape", "finale"]
        var offset = 0
        var checksum = 0
        for number in 0..<60 {
            let scene = Scene(title: titles[number % titles.count], frames: 10 + number * 4 - number % 7, motion: number % 5 + 1)
            let energy = await transcoder.transcode(scene, offset: offset)
            offset += scene.frames
            checksum = (checksum * 31 + energy) % 1_000_000_007
            if number % 15 == 14 {
                print("after '\(scene.title)': \(offset) frames, \(await pool.created) buffers")
                try? await Task.sleep(nanoseconds: 20_000_000)
            }
        }
        let usage = await pool.usage()
        print("leases \(await pool.leases), idle \(usage.idle), lent \(usage.lent), most used \(usage.mostUsed) times")
        print("checksum \(checksum)")
    }
}
