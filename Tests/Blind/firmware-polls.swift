import Foundation
import Dispatch

enum Phase: String {
    case queued, writing, verifying, done
}

struct Device {
    let serial: String
    let flashPages: Int
    let pageDelay: Int
}

final class Fleet {
    private let lock = NSLock()
    private var versions: [String: Int] = [:]
    private var pagesWritten = 0

    func wrote(_ serial: String) {
        lock.lock()
        pagesWritten += 1
        lock.unlock()
    }

    func finished(_ serial: String, version: Int) {
        lock.lock()
        versions[serial] = version
        lock.unlock()
    }

    var summary: String {
        lock.lock()
        defer { lock.unlock() }
        return "updated=\(versions.count) pages=\(pagesWritten) checksum=\(versions.values.reduce(0, +))"
    }
}

/// Follows the update of one device until the device reports that it is done.
final class UpdatePoll {
    private let device: Device
    private let version: Int
    private let fleet: Fleet
    private let completion: () -> Void
    private let timer: DispatchSourceTimer
    private var remaining: Int
    private var phase = Phase.queued
    private var journal: [Phase] = []

    init(device: Device, version: Int, fleet: Fleet, queue: DispatchQueue, completion: @escaping () -> Void) {
        self.device = device
        self.version = version
        self.fleet = fleet
        self.completion = completion
        remaining = device.flashPages
        timer = DispatchSource.makeTimerSource(queue: queue)
    }

    func start() {
        timer.schedule(deadline: .now() + .milliseconds(device.pageDelay),
                       repeating: .milliseconds(device.pageDelay))
        timer.setEventHandler { self.poll() }
        timer.resume()
    }

    private func poll() {
        switch phase {
        case .queued:
            advance(to: .writing)
        case .writing:
            remaining -= 1
            fleet.wrote(device.serial)
            if remaining == 0 { advance(to: .verifying) }
        case .verifying:
            advance(to: .done)
            fleet.finished(device.serial, version: version)
            timer.cancel()
            completion()
        case .done:
            break
        }
    }

    private func advance(to next: Phase) {
        journal.append(phase)
        phase = next
    }
}

final class UpdateService {
    private let queue = DispatchQueue(label: "update-polls")
    private let pending = DispatchGroup()
    let fleet = Fleet()
    private(set) var started = 0

    func update(_ device: Device, to version: Int) {
        started += 1
        pending.enter()
        UpdatePoll(device: device, version: version, fleet: fleet, queue: queue) { [pending] in
            pending.leave()
        }.start()
    }

    func waitForAll() {
        pending.wait()
        queue.sync {}
    }
}

func device(_ index: Int) -> Device {
    if index % 16 == 9 {
        return Device(serial: "GW-\(index)", flashPages: 38, pageDelay: 20)
    }
    return Device(serial: "SN-\(index)", flashPages: 1 + index % 5, pageDelay: 3 + index % 6)
}

let service = UpdateService()
for batch in 0..<22 {
    for slot in 0..<10 {
        service.update(device(batch * 10 + slot), to: 100 + batch)
    }
    usleep(25_000)
}
service.waitForAll()
usleep(30_000)
print("started=\(service.started) \(service.fleet.summary)")
