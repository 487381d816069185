import Foundation

actor Signal {
    let id: String
    private var green: Bool
    private var held: [UnsafeContinuation<Void, Never>] = []

    init(id: String, green: Bool) {
        self.id = id
        self.green = green
    }

    func pass() async {
        guard !green else { return }
        await withUnsafeContinuation { held.append($0) }
    }

    func clear() {
        green = true
        held.forEach { $0.resume() }
        held.removeAll()
    }

    var queueLength: Int { held.count }
}

struct Timetable: Sendable {
    let stops: [Int]
    var length: Int { zip(stops, stops.dropFirst()).reduce(0) { $0 + abs($1.1 - $1.0) } }
}

actor Roster {
    static let shared = Roster()
    private var trains: [Train] = []
    private var kilometres = 0
    private(set) var arrivals = 0

    func dispatch(_ number: Int, past signal: Signal) -> Train {
        let train = Train(number: number, timetable: Timetable(stops: (0...6).map { ($0 * number) % 37 }))
        trains.append(train)
        train.depart(past: signal)
        return train
    }

    func arrived(_ train: Train, after distance: Int) {
        trains.removeAll { $0 === train }
        kilometres += distance
        arrivals += 1
    }

    var underway: Int { trains.count }
    var distance: Int { kilometres }
}

final class Train: Sendable {
    let number: Int
    let timetable: Timetable

    init(number: Int, timetable: Timetable) {
        self.number = number
        self.timetable = timetable
    }

    func depart(past signal: Signal) {
        Task {
            async let distance = self.plan()
            async let clear: Void = signal.pass()
            _ = await clear
            await Roster.shared.arrived(self, after: distance)
        }
    }

    private func plan() async -> Int {
        timetable.length
    }
}

@main
struct Line {
    static let signals = [
        Signal(id: "north", green: true),
        Signal(id: "junction", green: false),
        Signal(id: "harbour", green: false),
    ]

    static func main() async {
        let roster = Roster.shared
        for number in 1...100 {
            let index = number <= 15 ? 0 : number <= 40 ? 1 : 2
            _ = await roster.dispatch(number, past: signals[index])
        }
        while await signals[1].queueLength < 25 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        await signals[1].clear()
        while await roster.arrivals < 40 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        while await signals[2].queueLength < 60 {
            try? await Task.sleep(for: .milliseconds(1))
        }
        try? await Task.sleep(for: .milliseconds(15))
        print("arrived \(await roster.arrivals) after \(await roster.distance) km")
        for signal in signals {
            print("\(signal.id): \(await signal.queueLength) held")
        }
        print("underway \(await roster.underway)")
    }
}
