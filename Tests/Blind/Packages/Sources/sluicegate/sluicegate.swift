import AsyncAlgorithms
import Foundation

enum Command: Sendable, Equatable {
    case open(Int)
    case close(Int)
    case level(Double)
}

/// The state of one gate; the control room keeps all gates for its whole life.
final class Gate: @unchecked Sendable {
    let number: Int
    private(set) var isOpen = false
    private(set) var moves = 0

    init(number: Int) { self.number = number }

    func set(open: Bool) {
        if open != isOpen { moves += 1 }
        isOpen = open
    }
}

actor ControlRoom {
    private let gates: [Gate]
    private(set) var levels: [Double] = []
    private(set) var handled = 0

    init(gates: Int) { self.gates = (0..<gates).map(Gate.init) }

    func handle(_ command: Command) {
        handled += 1
        switch command {
        case .open(let number): gates[number].set(open: true)
        case .close(let number): gates[number].set(open: false)
        case .level(let metres):
            levels.append(metres)
            if levels.count > 20 { levels.removeFirst() }
        }
    }

    var moves: Int { gates.reduce(0) { $0 + $1.moves } }
}

/// An operator gives orders over his own channel and hangs up at the end.
final class Operator: Sendable {
    let orders = AsyncChannel<Command>()
    let first: Int

    init(first: Int) { self.first = first }

    func work(gates: Int, rounds: Int) async {
        for round in 0..<rounds {
            let gate = (first + round) % gates
            await orders.send(round % 2 == 0 ? .open(gate) : .close(gate))
        }
        orders.finish()
    }
}

func gaugeReadings(count: Int) -> AsyncStream<Double> {
    AsyncStream { continuation in
        let gauge = Task {
            for tick in 0..<count {
                continuation.yield(2.0 + Double(tick % 10) / 10)
                try? await Task.sleep(for: .milliseconds(tick % 5 == 4 ? 60 : 2))
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in gauge.cancel() }
    }
}

@main
struct SluiceGate {
    static func main() async throws {
        let gates = 14
        let room = ControlRoom(gates: gates)

        for shift in 0..<12 {
            let left = Operator(first: shift)
            let right = Operator(first: shift + gates / 2)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await left.work(gates: gates, rounds: 40) }
                group.addTask { await right.work(gates: gates, rounds: 40) }
                group.addTask {
                    for await command in merge(left.orders, right.orders) {
                        await room.handle(command)
                    }
                }
            }
        }

        let water = Task {
            for await metres in gaugeReadings(count: 50).debounce(for: .milliseconds(20)) {
                await room.handle(.level(metres))
            }
        }
        await water.value

        // A viewer who goes home early: the producer must stop.
        let news = AsyncChannel<Int>()
        let producer = Task {
            var edition = 0
            while !Task.isCancelled {
                edition += 1
                await news.send(edition)
            }
        }
        for await edition in news where edition >= 25 { break }
        producer.cancel()
        await producer.value

        print("\(await room.handled) commands, \(await room.moves) moves, \(await room.levels.count) levels")
    }
}
