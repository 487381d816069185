import Foundation
import Dispatch

final class SensorReading {
    let value: Int
    init(value: Int) { self.value = value }
}

final class Poller {
    let name: String
    private let timer: DispatchSourceTimer
    private var window: [SensorReading] = []
    private(set) var polls = 0

    init(name: String, interval: Int, queue: DispatchQueue) {
        self.name = name
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(interval), repeating: .milliseconds(interval))
        timer.setEventHandler { [weak self] in self?.poll() }
        timer.resume()
    }

    private func poll() {
        polls += 1
        window.append(SensorReading(value: polls * 3))
        if window.count > 8 { window.removeFirst() }
    }

    func stop() { timer.cancel() }

    deinit { timer.cancel() }

    var average: Int { window.isEmpty ? 0 : window.reduce(0) { $0 + $1.value } / window.count }
}

final class AlarmRule {
    let threshold: Int
    let sensor: String
    init(threshold: Int, sensor: String) {
        self.threshold = threshold
        self.sensor = sensor
    }
}

final class Station {
    private let queue = DispatchQueue(label: "station.poll")
    private var pollers: [String: Poller] = [:]
    private var rules: [AlarmRule] = []

    func add(_ name: String, interval: Int) {
        queue.sync {
            pollers[name] = Poller(name: name, interval: interval, queue: queue)
            rules.append(AlarmRule(threshold: 10 + interval, sensor: name))
        }
    }

    func remove(_ name: String) {
        queue.sync {
            pollers.removeValue(forKey: name)?.stop()
            rules.removeAll { $0.sensor == name }
        }
    }

    func check() -> Int {
        queue.sync { rules.filter { (pollers[$0.sensor]?.average ?? 0) > $0.threshold }.count }
    }

    var status: String { queue.sync { "pollers \(pollers.count) rules \(rules.count)" } }
}

let station = Station()
for n in 0..<30 { station.add("fixed-\(n)", interval: 15 + n) }
var alarms = 0
for visit in 0..<25 {
    for n in 0..<10 { station.add("mobile-\(visit)-\(n)", interval: 10 + n) }
    Thread.sleep(forTimeInterval: 0.04)
    alarms += station.check() > 0 ? 1 : 0
    for n in 0..<10 where n != 4 || visit < 15 { station.remove("mobile-\(visit)-\(n)") }
}
Thread.sleep(forTimeInterval: 0.15)
print(station.status, "checks with alarms \(alarms > 0)")
