import Foundation

final class SensorMonitor {
    let port: String
    private var samples: [Double] = []
    private let timer: DispatchSourceTimer
    private let lock = NSLock()

    init(port: String, queue: DispatchQueue) {
        self.port = port
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now(), repeating: .milliseconds(30))
        timer.setEventHandler {
            self.sample()
        }
        timer.resume()
    }

    private func sample() {
        lock.lock()
        samples.append(Double(samples.count) * 0.5)
        if samples.count > 40 { samples.removeFirst(20) }
        lock.unlock()
    }

    func shutdown() -> Int {
        timer.setEventHandler(handler: nil)
        timer.cancel()
        lock.lock()
        defer { lock.unlock() }
        return samples.count
    }
}

final class SensorPanel {
    private let queue = DispatchQueue(label: "sensors")
    private var monitors: [String: SensorMonitor] = [:]
    private(set) var samples = 0

    func plug(_ port: String) {
        monitors[port] = SensorMonitor(port: port, queue: queue)
    }

    /// Orderly removal from the menu.
    func eject(_ port: String) {
        if let monitor = monitors.removeValue(forKey: port) { samples += monitor.shutdown() }
    }

    /// The cable was pulled.
    func unplug(_ port: String) {
        monitors.removeValue(forKey: port)
    }

    var ports: [String] { monitors.keys.sorted() }
}

let panel = SensorPanel()
for round in 0..<3 {
    for n in 0..<6 { panel.plug("ttyUSB\(n)") }
    Thread.sleep(forTimeInterval: 0.1)
    panel.unplug("ttyUSB\(round)")
    for port in panel.ports { panel.eject(port) }
    Thread.sleep(forTimeInterval: 0.05)
}
Thread.sleep(forTimeInterval: 0.2)
print("panel samples:", panel.samples > 0)
