import Dispatch
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

final class Tariff: Sendable {
    let name: String
    let cents: [Int]
    init(name: String, cents: [Int]) {
        self.name = name
        self.cents = cents
    }
}

final class Meter {
    let number: Int
    let tariff: Tariff
    private(set) var units = 0
    private(set) var bill = 0
    init(number: Int, tariff: Tariff) {
        self.number = number
        self.tariff = tariff
    }
    func tick() {
        units += 1
        bill += tariff.cents[units % tariff.cents.count]
    }
}

final class Reading {
    let meter: Int
    let units: Int
    init(meter: Int, units: Int) {
        self.meter = meter
        self.units = units
    }
}

/// All meters of one street, on one event loop.
final class Street {
    private struct Installed {
        let meter: Meter
        let task: RepeatedTask
        let timeout: Scheduled<Void>?
    }
    private let loop: any EventLoop
    private var installed: [Int: Installed] = [:]
    private var readings: [Reading] = []
    private(set) var removed = 0

    init(loop: any EventLoop) { self.loop = loop }

    func install(_ number: Int, tariff: Tariff, lease: TimeAmount?) {
        loop.preconditionInEventLoop()
        remove(number)
        let meter = Meter(number: number, tariff: tariff)
        let bound = NIOLoopBound(meter, eventLoop: loop)
        let task = loop.scheduleRepeatedTask(initialDelay: .milliseconds(Int64(number % 10)), delay: .milliseconds(10)) { _ in
            bound.value.tick()
        }
        let street = NIOLoopBound(self, eventLoop: loop)
        let timeout = lease.map { loop.scheduleTask(in: $0) { street.value.remove(number) } }
        installed[number] = Installed(meter: meter, task: task, timeout: timeout)
    }

    func remove(_ number: Int) {
        guard let old = installed.removeValue(forKey: number) else { return }
        old.task.cancel()
        old.timeout?.cancel()
        removed += 1
    }

    func readAll() {
        for (number, entry) in installed { readings.append(Reading(meter: number, units: entry.meter.units)) }
        if readings.count > 100 { readings.removeFirst(readings.count - 100) }
    }

    var text: String { "\(installed.count) installed, \(removed) removed" }
}

struct StreetHandle: Sendable {
    let loop: any EventLoop
    private let street: NIOLoopBoundBox<Street>

    init(loop: any EventLoop) {
        self.loop = loop
        street = NIOLoopBoundBox.makeBoxSendingValue(Street(loop: loop), eventLoop: loop)
    }

    func install(_ number: Int, _ tariff: Tariff, lease: TimeAmount? = nil) {
        loop.execute { [street] in street.value.install(number, tariff: tariff, lease: lease) }
    }
    func remove(_ number: Int) { loop.execute { [street] in street.value.remove(number) } }
    func read() { loop.execute { [street] in street.value.readAll() } }
    func text() async throws -> String { try await loop.submit { [street] in street.value.text }.get() }
}

@main
struct Meters {
    static let terminations = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())

    static func main() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
        let tariffs = (0..<8).map { tariff in Tariff(name: "tariff \(tariff)", cents: (0..<24).map { 10 + ($0 + tariff) % 7 }) }
        let streets = (0..<5).map { _ in StreetHandle(loop: group.next()) }
        signal(SIGTERM, SIG_IGN)
        terminations.setEventHandler {
            Task {
                for street in streets { print(try await street.text()) }
                exit(0)
            }
        }
        terminations.resume()
        print("ready")
        // Meters of the households, and rented ones for building sites.
        for number in 0..<100 {
            streets[number % 5].install(number, tariffs[number % 8])
        }
        for week in 0..<10 {
            for number in 0..<12 {
                streets[number % 5].install(1000 + week * 20 + number, tariffs[week % 8], lease: .milliseconds(60))
            }
            for number in stride(from: week, to: 100, by: 10) { streets[number % 5].remove(number) }
            for number in stride(from: week, to: 100, by: 10) { streets[number % 5].install(number, tariffs[(number + week) % 8]) }
            for street in streets { street.read() }
            try await Task.sleep(for: .milliseconds(70))
        }
        for number in 0..<15 { streets[number % 5].install(5000 + number, tariffs[2], lease: .seconds(30)) }
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.4)
            kill(getpid(), SIGTERM)
        }
        while true {
            try await Task.sleep(for: .milliseconds(100))
            for street in streets { street.read() }
        }
    }
}
