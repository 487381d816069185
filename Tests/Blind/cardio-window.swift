import Foundation

final class BeatNode {
    let index: Int
    let intervalMs: Int
    var next: BeatNode?

    init(index: Int, intervalMs: Int) {
        self.index = index
        self.intervalMs = intervalMs
    }
}

/// Sliding window of the most recent RR intervals.
final class BeatWindow {
    private let capacity: Int
    private var oldest: BeatNode?
    private var newest: BeatNode?
    private(set) var count = 0
    private var sum = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    func append(index: Int, intervalMs: Int) {
        let node = BeatNode(index: index, intervalMs: intervalMs)
        newest?.next = node
        newest = node
        if oldest == nil { oldest = node }
        count += 1
        sum += intervalMs
        while count > capacity, let first = oldest {
            sum -= first.intervalMs
            oldest = first.next
            count -= 1
        }
    }

    var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }

    /// Root mean square of successive differences over the window.
    var rmssd: Double {
        var node = oldest
        var squares = 0.0
        var pairs = 0
        while let current = node, let following = current.next {
            let delta = Double(following.intervalMs - current.intervalMs)
            squares += delta * delta
            pairs += 1
            node = following
        }
        return pairs == 0 ? 0 : (squares / Double(pairs)).squareRoot()
    }

    var range: (first: Int, last: Int) {
        (oldest?.index ?? -1, newest?.index ?? -1)
    }
}

struct Alarm {
    let beat: Int
    let kind: String
}

final class Monitor {
    let window = BeatWindow(capacity: 128)
    private(set) var alarms: [Alarm] = []
    private var armed = true

    func ingest(index: Int, intervalMs: Int) {
        window.append(index: index, intervalMs: intervalMs)
        guard window.count == 128 else { return }
        if window.mean < 640 {
            if armed {
                alarms.append(Alarm(beat: index, kind: "tachycardia"))
                armed = false
            }
        } else if window.mean > 700 {
            armed = true
        }
    }
}

let monitor = Monitor()
for beat in 0..<4000 {
    let exercise = (beat / 500) % 2 == 1
    let base = exercise ? 560 : 820
    let jitter = (beat * 73) % 61 - 30
    monitor.ingest(index: beat, intervalMs: base + jitter)
}

let range = monitor.window.range
print("window \(range.first)...\(range.last) (\(monitor.window.count) beats)")
print(String(format: "mean RR %.1f ms, rmssd %.2f ms", monitor.window.mean, monitor.window.rmssd))
for alarm in monitor.alarms {
    print("\(alarm.kind) at beat \(alarm.beat)")
}
