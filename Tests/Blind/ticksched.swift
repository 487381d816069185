import Foundation

actor RoundBoard {
    private(set) var rounds = 0
    private(set) var delivered: [String: Int] = [:]

    func post(route: String, amount: Int) {
        rounds += 1
        delivered[route, default: 0] += amount
    }

    func best() -> String {
        delivered.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key ?? "none"
    }
}

final class RouteTicker: @unchecked Sendable {
    let route: String
    let load: Int
    private let board: RoundBoard
    private var loop: Task<Void, Never>?
    private var ready: CheckedContinuation<Void, Never>?

    init(route: String, load: Int, board: RoundBoard) {
        self.route = route
        self.load = load
        self.board = board
    }

    func run(until target: Int) async {
        await withCheckedContinuation { continuation in
            ready = continuation
            loop = Task {
                await self.tick(target)
            }
        }
    }

    private func tick(_ target: Int) async {
        var step = 0
        while !Task.isCancelled {
            step += 1
            if step <= target {
                await board.post(route: route, amount: load * step)
            }
            if step == target {
                ready?.resume()
                ready = nil
            }
            try? await Task.sleep(for: .milliseconds(3))
        }
    }

    func retire() async {
        loop?.cancel()
        await loop?.value
        loop = nil
    }
}

struct Shift {
    let number: Int
    let routes: [String]

    func work(on board: RoundBoard) async {
        let tickers = routes.enumerated().map { offset, route in
            RouteTicker(route: "\(route)", load: 2 + (offset + number) % 5, board: board)
        }
        await withTaskGroup(of: Void.self) { group in
            for ticker in tickers {
                group.addTask { await ticker.run(until: 3) }
            }
        }
        for ticker in tickers {
            await ticker.retire()
        }
    }
}

@main
struct DispatchOffice {
    static let board = RoundBoard()

    static func main() async throws {
        let routes = ["north", "quay", "airport", "mill", "campus", "depot"]
        for number in 0..<36 {
            await Shift(number: number, routes: routes).work(on: board)
            try await Task.sleep(for: .milliseconds(4))
        }
        let rounds = await board.rounds
        let best = await board.best()
        print("ticksched: \(rounds) rounds, best route \(best)")
    }
}
