import Foundation
import Glibc
import Logging
import ServiceLifecycle

struct Checkpoint: Sendable {
    let floor: Int
    let door: String
}

/// A guard's round through the building, walked again and again.
final class Patrol: @unchecked Sendable {
    let guardName: String
    private let route: [Checkpoint]
    private let log: ShiftLog
    private var walk: Task<Void, Never>?
    private(set) var rounds = 0

    init(guardName: String, route: [Checkpoint], log: ShiftLog) {
        self.guardName = guardName
        self.route = route
        self.log = log
    }

    deinit { walk?.cancel() }

    func begin() {
        walk = Task {
            while !Task.isCancelled {
                for checkpoint in self.route {
                    await self.log.seen(checkpoint, by: self.guardName)
                }
                self.rounds += 1
                try? await Task.sleep(for: .milliseconds(30))
            }
        }
    }
}

actor ShiftLog {
    private var lastSeen: [String: String] = [:]
    private(set) var entries = 0

    func seen(_ checkpoint: Checkpoint, by name: String) {
        lastSeen["\(checkpoint.floor)-\(checkpoint.door)"] = name
        entries += 1
    }

    var doors: Int { lastSeen.count }
}

/// Replaces the patrol whenever a guard is relieved.
actor GuardRoom: Service {
    private let log: ShiftLog
    private let building: [Checkpoint]
    private var onDuty: Patrol?
    private var reliefs = 0

    init(log: ShiftLog, floors: Int) {
        self.log = log
        building = (0..<floors).flatMap { floor in
            ["north", "south", "lift", "stairs"].map { Checkpoint(floor: floor, door: $0) }
        }
    }

    func run() async throws {
        relieve()
        for await _ in reliefTimes().cancelOnGracefulShutdown() {
            relieve()
        }
        print("guard room closed, \(reliefs) reliefs")
    }

    private func relieve() {
        let patrol = Patrol(guardName: "guard-\(reliefs)", route: building, log: log)
        patrol.begin()
        onDuty = patrol
        reliefs += 1
    }

    private nonisolated func reliefTimes() -> AsyncStream<Int> {
        AsyncStream { continuation in
            let timetable = Task {
                for hour in 1...12 {
                    try? await Task.sleep(for: .milliseconds(60))
                    continuation.yield(hour)
                }
            }
            continuation.onTermination = { _ in timetable.cancel() }
        }
    }
}

struct AlarmPanel: Service {
    let log: ShiftLog

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: .milliseconds(200))
                _ = await log.doors
            }
        }
    }
}

struct Switchboard: Service {
    func run() async throws {
        Thread.detachNewThread {
            usleep(1_400_000)
            kill(getpid(), SIGTERM)
        }
        try await gracefulShutdown()
    }
}

@main
struct NightShift {
    static func main() async throws {
        var logger = Logger(label: "nightshift")
        logger.logLevel = .critical
        let log = ShiftLog()
        let group = ServiceGroup(
            configuration: .init(
                services: [AlarmPanel(log: log), GuardRoom(log: log, floors: 9), Switchboard()],
                gracefulShutdownSignals: [.sigterm],
                logger: logger
            )
        )
        try await group.run()
        print("\(await log.doors) doors checked")
    }
}
