import Foundation
import OpenCombine

struct Reading {
    let room: Int
    let celsius: Double
}

final class Building {
    static let shared = Building(rooms: 60)
    let readings = PassthroughSubject<Reading, Never>()
    let targets = CurrentValueSubject<Double, Never>(20.5)
    private(set) var controllers: [RoomController] = []
    private var alarms: [AlarmRule] = []

    private init(rooms: Int) {
        controllers = (0..<rooms).map { RoomController(room: $0) }
    }

    func start() {
        for controller in controllers { controller.attach(to: self) }
        alarms = (0..<20).map { AlarmRule(room: $0 * 3, limit: 26) }
        for alarm in alarms { alarm.watch(readings) }
    }
}

final class RoomController {
    let room: Int
    private(set) var heating = false
    private(set) var switches = 0
    private var history: [Double] = []
    private var cancellables: Set<AnyCancellable> = []

    init(room: Int) { self.room = room }

    func attach(to building: Building) {
        let own = building.readings.filter { [room] in $0.room == room }.map(\.celsius)
        own.scan([Double]()) { ($0 + [$1]).suffix(12) }
            .sink { [weak self] in self?.history = $0 }
            .store(in: &cancellables)
        let targets = building.targets
        own.map { $0 < targets.value - 0.5 }
            .removeDuplicates()
            .sink { [weak self] on in
                guard let self else { return }
                heating = on
                switches += 1
            }
            .store(in: &cancellables)
    }
}

final class AlarmRule {
    let room: Int
    let limit: Double
    private(set) var raised = 0
    private var subscription: AnyCancellable?

    init(room: Int, limit: Double) {
        self.room = room
        self.limit = limit
    }

    func watch(_ readings: PassthroughSubject<Reading, Never>) {
        let room = room
        let limit = limit
        subscription = readings
            .filter { $0.room == room && $0.celsius > limit }
            .sink { [unowned self] _ in raised += 1 }
    }
}

/// A technician's handheld: subscribes while in the building.
final class Handheld {
    private var average = 0.0
    private var count = 0
    private var cancellables: [AnyCancellable] = []

    func connect(to building: Building) {
        building.readings
            .map(\.celsius)
            .sink { [weak self] value in self?.record(value) }
            .store(in: &cancellables)
        building.targets
            .dropFirst()
            .sink { [weak self] _ in self?.reset() }
            .store(in: &cancellables)
    }

    private func record(_ value: Double) {
        count += 1
        average += (value - average) / Double(count)
    }

    private func reset() {
        count = 0
        average = 0
    }

    func disconnect() -> Double {
        cancellables.removeAll()
        return average
    }
}

@main
struct Thermostat {
    static func main() {
        let building = Building.shared
        building.start()
        var handhelds: [Handheld] = []
        var checks = 0.0
        for minute in 0..<120 {
            if minute % 3 == 0 {
                let handheld = Handheld()
                handheld.connect(to: building)
                handhelds.append(handheld)
            }
            for room in 0..<60 {
                building.readings.send(Reading(room: room, celsius: 18 + Double((minute * 7 + room * 3) % 100) / 10))
            }
            if minute % 40 == 39 { building.targets.send(19 + Double(minute % 3)) }
            if handhelds.count > 5 { checks += handhelds.removeFirst().disconnect() }
            Thread.sleep(forTimeInterval: 0.006)
        }
        let switches = building.controllers.reduce(0) { $0 + $1.switches }
        print("switches \(switches), checked \(checks > 0)")
    }
}
