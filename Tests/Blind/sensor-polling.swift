import Foundation
import Dispatch

let pollQueue = DispatchQueue(label: "poll")

protocol Sensor: AnyObject {
    var name: String { get }
    func read() -> Int
}

final class Thermometer: Sensor {
    let name: String
    private var value = 20
    init(name: String) { self.name = name }
    func read() -> Int {
        value = (value * 7 + 3) % 40
        return value
    }
}

final class Hygrometer: Sensor {
    let name: String
    private var value = 50
    init(name: String) { self.name = name }
    func read() -> Int {
        value = (value * 3 + 11) % 100
        return value
    }
}

final class SensorPoller {
    private let sensor: Sensor
    private let timer: DispatchSourceTimer
    private var last: [Int] = []

    init(sensor: Sensor, interval: DispatchTimeInterval) {
        self.sensor = sensor
        timer = DispatchSource.makeTimerSource(queue: pollQueue)
        timer.schedule(deadline: .now(), repeating: interval)
        timer.setEventHandler { [weak self] in
            self?.poll()
        }
        timer.resume()
    }

    private func poll() {
        last.append(sensor.read())
        if last.count > 4 { last.removeFirst() }
    }

    func stop() { timer.cancel() }

    var hasData: Bool { pollQueue.sync { !last.isEmpty } }

    deinit { timer.cancel() }
}

final class Greenhouse {
    private var pollers: [SensorPoller] = []

    init(number: Int) {
        for n in 0..<4 {
            let sensor: Sensor = n % 2 == 0
                ? Thermometer(name: "t\(number).\(n)")
                : Hygrometer(name: "h\(number).\(n)")
            pollers.append(SensorPoller(sensor: sensor, interval: .milliseconds(2 + n)))
        }
    }

    var isReporting: Bool { pollers.allSatisfy(\.hasData) }

    func shutDown() {
        // the newest two are stopped explicitly, the others by their deinit
        for poller in pollers.suffix(2) { poller.stop() }
        pollers.removeAll()
    }
}

var reporting = 0
for number in 0..<10 {
    let house = Greenhouse(number: number)
    var waits = 0
    while !house.isReporting && waits < 50 {
        usleep(1000)
        waits += 1
    }
    if house.isReporting { reporting += 1 }
    house.shutDown()
}
pollQueue.sync {}
usleep(5000)
print("houses reporting \(reporting)")
