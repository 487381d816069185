import Dispatch
import Foundation
import OpenCombine
import OpenCombineDispatch

enum TankEvent {
    case fed(tank: Int, grams: Double)
    case measured(tank: Int, ph: Double)
}

final class Tank {
    let number: Int
    let ph = CurrentValueSubject<Double, Never>(7.0)
    let food = PassthroughSubject<Double, Never>()

    init(number: Int) { self.number = number }

    var events: AnyPublisher<TankEvent, Never> {
        let number = self.number
        return Publishers.Sequence<[AnyPublisher<TankEvent, Never>], Never>(sequence: [
            food.map { TankEvent.fed(tank: number, grams: $0) }.eraseToAnyPublisher(),
            ph.dropFirst().map { TankEvent.measured(tank: number, ph: $0) }.eraseToAnyPublisher(),
        ])
        .flatMap { $0 }
        .eraseToAnyPublisher()
    }
}

/// Long-lived: watches every tank for as long as the aquarium exists.
final class Keeper {
    private let tanks: [Tank]
    private var watching = Set<AnyCancellable>()
    private(set) var diary: [String] = []
    private(set) var grams = 0.0

    init(tanks: [Tank]) {
        self.tanks = tanks
        for tank in tanks {
            tank.events
                .sink { [weak self] event in self?.note(event) }
                .store(in: &watching)
        }
    }

    private func note(_ event: TankEvent) {
        switch event {
        case .fed(_, let amount):
            grams += amount
        case .measured(let tank, let ph) where ph > 7.6 || ph < 6.6:
            diary.append("tank \(tank) ph \(ph)")
            if diary.count > 50 { diary.removeFirst(diary.count - 50) }
        case .measured:
            break
        }
    }
}

/// A visitor looks at a tank for a while and walks on.
final class VisitorDisplay {
    private(set) var label = ""
    private var subscriptions: [AnyCancellable] = []
    private var eaten = 0.0
    private var countdown: AnyCancellable?
    private let onLeave: (Int) -> Void
    let ticket: Int

    init(ticket: Int, tank: Tank, onLeave: @escaping (Int) -> Void) {
        self.ticket = ticket
        self.onLeave = onLeave
        subscriptions = [
            tank.food.scan(0, +).sink { [unowned self] total in
                self.eaten = total
            },
            tank.ph.removeDuplicates().sink { [unowned self] ph in
                self.label = "ph \(ph), eaten \(self.eaten) g"
            },
        ]
    }

    func leaveSoon(after milliseconds: Int, queue: DispatchQueue) {
        countdown = Just(ticket)
            .delay(for: .milliseconds(milliseconds), scheduler: queue.ocombine)
            .sink { [weak self] ticket in
                self?.subscriptions.removeAll()
                self?.onLeave(ticket)
            }
    }
}

final class FrontDesk {
    private var inside: [Int: VisitorDisplay] = [:]
    private let queue: DispatchQueue
    private(set) var total = 0

    init(queue: DispatchQueue) { self.queue = queue }

    func admit(to tank: Tank, staying milliseconds: Int) {
        total += 1
        let display = VisitorDisplay(ticket: total, tank: tank) { [weak self] ticket in
            self?.inside.removeValue(forKey: ticket)
        }
        inside[total] = display
        display.leaveSoon(after: milliseconds, queue: queue)
    }

    var visitors: Int { inside.count }
}

@main
struct Aquarium {
    static func main() {
        let queue = DispatchQueue(label: "aquarium")
        let tanks = (1...18).map(Tank.init)
        let keeper = Keeper(tanks: tanks)
        let desk = FrontDesk(queue: queue)

        for hour in 0..<100 {
            queue.sync {
                for tank in tanks {
                    tank.food.send(0.5)
                    tank.ph.send(6.5 + 0.1 * Double((hour + tank.number) % 13))
                }
                // Most leave within the day; the last ones stay for the evening show.
                for guest in 0..<3 {
                    let evening = hour >= 90
                    desk.admit(to: tanks[(hour * 3 + guest) % tanks.count], staying: evening ? 60_000 : 20 + guest * 10)
                }
            }
            usleep(8_000)
        }
        usleep(300_000)
        queue.sync {
            print("\(desk.visitors) of \(desk.total) visitors inside, \(keeper.grams) g fed, \(keeper.diary.count) notes")
        }
    }
}
