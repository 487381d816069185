import Foundation
import Dispatch

struct Meter {
    let name: String
    let base: Int

    func sample(_ round: Int) -> Int {
        base + (round * 37) % 11
    }
}

final class MeterPoll {
    let meter: Meter
    private let wanted: Int
    private var values: [Int] = []
    private var timer: DispatchSourceTimer?
    private let completion: (Meter, Int) -> Void

    init(meter: Meter, wanted: Int, completion: @escaping (Meter, Int) -> Void) {
        self.meter = meter
        self.wanted = wanted
        self.completion = completion
    }

    func begin(on queue: DispatchQueue) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .milliseconds(2), repeating: .milliseconds(10))
        timer.setEventHandler {
            self.tick()
        }
        self.timer = timer
        timer.resume()
    }

    private func tick() {
        guard values.count < wanted else { return }
        values.append(meter.sample(values.count))
        if values.count == wanted {
            completion(meter, values.reduce(0, +) / wanted)
        }
    }
}

final class PollWall {
    private let queue = DispatchQueue(label: "wall.poll")
    private let finished = DispatchGroup()
    private var active: [String: MeterPoll] = [:]
    private var averages: [Int] = []

    func schedule(_ meter: Meter) {
        finished.enter()
        queue.async {
            let poll = MeterPoll(meter: meter, wanted: 3) { [weak self] meter, average in
                self?.complete(meter, average)
            }
            self.active[meter.name] = poll
            poll.begin(on: self.queue)
        }
    }

    private func complete(_ meter: Meter, _ average: Int) {
        active[meter.name] = nil
        averages.append(average)
        finished.leave()
    }

    func drain() {
        finished.wait()
    }

    func report() -> (count: Int, pending: Int, mean: Int) {
        queue.sync {
            (averages.count, active.count, averages.reduce(0, +) / max(1, averages.count))
        }
    }
}

@main
struct WallDisplay {
    nonisolated(unsafe) static let wall = PollWall()

    static func main() {
        for shift in 0..<12 {
            for slot in 0..<8 {
                wall.schedule(Meter(name: "meter-\(shift)-\(slot)", base: 200 + slot * 3))
            }
            wall.drain()
            usleep(5_000)
        }
        let report = wall.report()
        print("pollwall: \(report.count) meters polled, \(report.pending) pending, mean \(report.mean)")
        exit(0)
    }
}
