import Foundation

struct Reading: Sendable {
    let station: Int
    let celsius: Double
}

final class StationHub: @unchecked Sendable {
    static let shared = StationHub()

    private let lock = NSLock()
    private var continuations: [UUID: AsyncStream<Reading>.Continuation] = [:]

    func readings() -> AsyncStream<Reading> {
        let id = UUID()
        return AsyncStream(bufferingPolicy: .bufferingNewest(8)) { continuation in
            lock.lock()
            continuations[id] = continuation
            lock.unlock()
            continuation.onTermination = { [weak self] _ in
                self?.remove(id)
            }
        }
    }

    private func remove(_ id: UUID) {
        lock.lock()
        continuations[id] = nil
        lock.unlock()
    }

    func broadcast(_ reading: Reading) {
        lock.lock()
        let targets = Array(continuations.values)
        lock.unlock()
        for target in targets { target.yield(reading) }
    }

    var subscribers: Int {
        lock.lock()
        defer { lock.unlock() }
        return continuations.count
    }
}

final class Averager {
    private var sum = 0.0
    private var count = 0
    func add(_ reading: Reading) {
        sum += reading.celsius
        count += 1
    }
    var average: Double { count == 0 ? 0 : sum / Double(count) }
}

@main
struct Main {
    static func main() async {
        var averages: [Double] = []
        for session in 0..<30 {
            let stream = StationHub.shared.readings()
            let task = Task { () -> Double in
                let averager = Averager()
                var seen = 0
                for await reading in stream {
                    averager.add(reading)
                    seen += 1
                    // every third session is ended from outside
                    if session % 3 != 0 && seen == 5 { break }
                }
                return averager.average
            }
            for n in 0..<5 {
                StationHub.shared.broadcast(Reading(station: n, celsius: Double(session + n)))
                await Task.yield()
            }
            if session % 3 == 0 { task.cancel() }
            averages.append(await task.value)
        }
        print("sessions \(averages.count) subscribers \(StationHub.shared.subscribers)")
    }
}
