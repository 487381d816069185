import AsyncAlgorithms
import Foundation
import Logging
import NIOConcurrencyHelpers
import ServiceLifecycle

final class Camera: Sendable {
    let id: Int
    let corridor: String
    init(id: Int) {
        self.id = id
        corridor = "corridor \(id % 12)"
    }
}

final class Clip: Sendable {
    let camera: Camera
    let frames: [UInt8]
    init(camera: Camera, seed: Int) {
        self.camera = camera
        frames = (0..<128).map { UInt8(truncatingIfNeeded: $0 &* seed) }
    }
}

final class Patrol: @unchecked Sendable {
    let camera: Camera
    var heartbeat: Task<Void, Never>?
    private let lock = NIOLock()
    private var beats = 0
    init(camera: Camera) { self.camera = camera }

    func begin() {
        heartbeat = Task { [weak self] in
            while !Task.isCancelled {
                self?.beat()
                try? await Task.sleep(for: .milliseconds(30))
            }
        }
    }

    func end() {
        heartbeat?.cancel()
        heartbeat = nil
    }

    private func beat() { lock.withLock { beats += 1 } }
}

/// The newest clips of every camera and the patrols that are on their way.
actor ControlRoom {
    static let shared = ControlRoom(cameras: (0..<64).map(Camera.init))
    nonisolated let cameras: [Camera]
    private var clips: [Int: [Clip]] = [:]
    private var patrols: [Int: Patrol] = [:]
    private var alarms = 0

    init(cameras: [Camera]) { self.cameras = cameras }

    func store(_ clip: Clip) {
        clips[clip.camera.id, default: []].append(clip)
        if clips[clip.camera.id]!.count > 6 { clips[clip.camera.id]!.removeFirst() }
    }

    func raise(_ camera: Camera) -> Patrol {
        alarms += 1
        let patrol = Patrol(camera: camera)
        patrols[alarms] = patrol
        patrol.begin()
        return patrol
    }

    func stand(down patrol: Patrol) {
        patrol.end()
        patrols = patrols.filter { $0.value !== patrol }
    }

    func purge() { clips = clips.mapValues { $0.suffix(4) } }

    var report: String { "\(alarms) alarms, \(patrols.count) patrols, \(clips.values.reduce(0) { $0 + $1.count }) clips" }
}

struct Recorder: Service {
    let room: ControlRoom
    let movements: AsyncChannel<Camera>

    func run() async throws {
        var tick = 0
        for await _ in AsyncTimerSequence(interval: .milliseconds(20), clock: .continuous).cancelOnGracefulShutdown() {
            tick += 1
            for camera in room.cameras where (camera.id + tick) % 4 == 0 {
                await room.store(Clip(camera: camera, seed: tick))
            }
            await movements.send(room.cameras[tick * 5 % 64])
        }
        movements.finish()
    }
}

struct Guards: Service {
    let room: ControlRoom
    let movements: AsyncChannel<Camera>

    func run() async throws {
        await withDiscardingTaskGroup { walks in
            for await camera in movements {
                walks.addTask {
                    let patrol = await room.raise(camera)
                    try? await Task.sleep(for: .milliseconds(120 + camera.id % 9 * 10))
                    await room.stand(down: patrol)
                }
            }
        }
    }
}

struct Janitor: Service {
    let room: ControlRoom
    func run() async throws {
        for await _ in AsyncTimerSequence(interval: .milliseconds(150), clock: .continuous).cancelOnGracefulShutdown() {
            await room.purge()
        }
    }
}

@main
struct NightWatch {
    static func main() async throws {
        let room = ControlRoom.shared
        let movements = AsyncChannel<Camera>()
        var logger = Logger(label: "nightwatch")
        logger.logLevel = .error
        let group = ServiceGroup(configuration: .init(
            services: [
                .init(service: Guards(room: room, movements: movements)),
                .init(service: Janitor(room: room)),
                .init(service: Recorder(room: room, movements: movements)),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        ))
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 1.5)
            kill(getpid(), SIGTERM)
        }
        print("ready")
        try await group.run()
        print(await room.report)
    }
}
