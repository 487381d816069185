import Foundation

struct Impatient: Error {}

actor Harbour {
    static let shared = Harbour(berths: 3)

    private var free: Int
    private var queue: [(name: String, waiter: CheckedContinuation<Void, Error>)] = []
    private var ferries: [String: Ferry] = [:]
    private(set) var landings = 0
    private(set) var turnedAway: [String] = []

    init(berths: Int) {
        free = berths
    }

    func announce(_ name: String, cars: Int, patience: Duration) {
        let ferry = Ferry(name: name, cars: cars)
        ferries[name] = ferry
        ferry.approach(self, patience: patience)
    }

    func berth(_ name: String) async throws {
        if free > 0 {
            free -= 1
            return
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: CheckedContinuation<Void, Error>) in
                if Task.isCancelled {
                    waiter.resume(throwing: Impatient())
                } else {
                    queue.append((name, waiter))
                }
            }
        } onCancel: {
            Task { await self.abandon(name) }
        }
    }

    private func abandon(_ name: String) {
        guard let index = queue.firstIndex(where: { $0.name == name }) else { return }
        queue.remove(at: index).waiter.resume(throwing: Impatient())
    }

    func leaveBerth() {
        if queue.isEmpty {
            free += 1
        } else {
            queue.removeFirst().waiter.resume()
        }
    }

    func landed(_ name: String) {
        ferries[name] = nil
        landings += 1
    }

    func gone(_ name: String) {
        ferries[name] = nil
        turnedAway.append(name)
    }

    var expected: [String] { ferries.keys.sorted() }
}

final class Ferry: Sendable {
    let name: String
    let cars: Int

    init(name: String, cars: Int) {
        self.name = name
        self.cars = cars
    }

    func approach(_ harbour: Harbour, patience: Duration) {
        let landing = Task {
            do {
                try await harbour.berth(self.name)
                try? await Task.sleep(for: .milliseconds(self.cars))
                await harbour.leaveBerth()
                await harbour.landed(self.name)
            } catch {
                await harbour.gone(self.name)
            }
        }
        guard patience < .seconds(60) else { return }
        Task {
            try await Task.sleep(for: patience)
            landing.cancel()
        }
    }
}

@main
struct Port {
    static func main() async throws {
        let harbour = Harbour.shared
        for index in 1...12 {
            await harbour.announce("coast-\(index)", cars: 2 + index % 4, patience: .seconds(3600))
        }
        while await harbour.landings < 12 {
            try await Task.sleep(for: .milliseconds(2))
        }
        print("landed \(await harbour.landings)")

        for _ in 1...3 {
            try await harbour.berth("dredger")
        }
        for index in 1...6 {
            await harbour.announce("island-\(index)", cars: 5, patience: .milliseconds(20))
        }
        await harbour.announce("night-north", cars: 80, patience: .seconds(3600))
        await harbour.announce("night-south", cars: 75, patience: .seconds(3600))
        while await harbour.turnedAway.count < 6 {
            try await Task.sleep(for: .milliseconds(5))
        }
        try? await Task.sleep(for: .milliseconds(25))
        print("turned away \(await harbour.turnedAway.sorted().joined(separator: " "))")
        print("waiting for a berth: \(await harbour.expected.joined(separator: " "))")
    }
}
