import Foundation

struct Tile: Sendable {
    let x: Int
    let y: Int
}

final class TileGate: @unchecked Sendable {
    private enum State { case open, closed }
    private let lock = NSLock()
    private var state = State.open
    private var credit = 0
    private var line: [CheckedContinuation<Bool, Never>] = []

    func enter() async -> Bool {
        await withCheckedContinuation { continuation in
            let verdict: Bool? = lock.withLock {
                if state == .closed { return false }
                if credit > 0 {
                    credit -= 1
                    return true
                }
                line.append(continuation)
                return nil
            }
            if let verdict { continuation.resume(returning: verdict) }
        }
    }

    func admit(_ count: Int) {
        let ready: [CheckedContinuation<Bool, Never>] = lock.withLock {
            let now = Array(line.prefix(count))
            line.removeFirst(now.count)
            credit += count - now.count
            return now
        }
        ready.forEach { $0.resume(returning: true) }
    }

    func close() {
        let rest: [CheckedContinuation<Bool, Never>] = lock.withLock {
            state = .closed
            defer { line = [] }
            return line
        }
        rest.forEach { $0.resume(returning: false) }
    }
}

actor Canvas {
    private var shade: [Int: Int] = [:]
    private(set) var rendered = 0
    private(set) var skipped = 0

    func paint(_ tile: Tile, _ value: Int) {
        shade[tile.y * 100 + tile.x, default: 0] += value
        rendered += 1
    }

    func skip() { skipped += 1 }
    var sum: Int { shade.values.reduce(0, +) }
}

final class TileJob: Sendable {
    let tile: Tile
    private let frame: Int
    private let canvas: Canvas

    init(tile: Tile, frame: Int, canvas: Canvas) {
        self.tile = tile
        self.frame = frame
        self.canvas = canvas
    }

    func run(behind gate: TileGate) {
        Task {
            if await gate.enter() {
                await canvas.paint(tile, ray())
            } else {
                await canvas.skip()
            }
        }
    }

    private func ray() -> Int {
        var value = tile.x &* 31 &+ tile.y &* 17 &+ frame
        for _ in 0..<50 { value = (value &* 1103 &+ 12345) % 256 }
        return value
    }
}

final class Renderer {
    let canvas = Canvas()
    private var gates: [Int: TileGate] = [:]
    private var jobs: [Int: [TileJob]] = [:]
    private(set) var frames = 0

    func begin(_ frame: Int, tiles: Int) {
        let gate = TileGate()
        gates[frame] = gate
        jobs[frame] = (0..<tiles).map { TileJob(tile: Tile(x: $0 % 8, y: $0 / 8), frame: frame, canvas: canvas) }
        jobs[frame]!.forEach { $0.run(behind: gate) }
    }

    func progress(_ frame: Int, by count: Int) { gates[frame]?.admit(count) }

    func drop(_ frame: Int) {
        gates.removeValue(forKey: frame)?.close()
        jobs[frame] = nil
        frames += 1
    }

    func idle(after tiles: Int) async throws {
        while true {
            let finished = await canvas.rendered + canvas.skipped
            if finished >= tiles { return }
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}

let renderer = Renderer()
var total = 0
for frame in 1...8 {
    renderer.begin(frame, tiles: 40)
    total += 40
    let steps = frame % 3 == 0 ? 1 : 4
    for _ in 0..<steps {
        renderer.progress(frame, by: 10)
        try await Task.sleep(for: .milliseconds(10))
    }
    if steps == 1 { try await renderer.idle(after: total - 30) }
    renderer.drop(frame)
    try await renderer.idle(after: total)
}
for frame in 20..<40 {
    renderer.begin(frame, tiles: 8)
    total += 8
    renderer.progress(frame, by: 8)
    try await renderer.idle(after: total)
    renderer.drop(frame)
    try await Task.sleep(for: .milliseconds(15))
}
print("\(renderer.frames) frames: \(await renderer.canvas.rendered) rendered, \(await renderer.canvas.skipped) skipped")
