import Foundation
import Dispatch

final class Histogram {
    private var buckets = [Int](repeating: 0, count: 10)
    private(set) var count = 0
    private(set) var sum = 0
    func observe(_ value: Int) {
        buckets[min(9, value / 20)] += 1
        count += 1
        sum += value
    }
    func quantile(_ q: Double) -> Int {
        var left = Int(Double(count) * q)
        for (index, bucket) in buckets.enumerated() {
            left -= bucket
            if left <= 0 { return index * 20 }
        }
        return 180
    }
}

final class Series {
    let metric: String
    let labels: [String: String]
    let histogram = Histogram()
    var isDirty = false
    init(metric: String, labels: [String: String]) {
        self.metric = metric
        self.labels = labels
    }
    var line: String {
        let text = labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        return "\(metric){\(text)} \(histogram.count) p90=\(histogram.quantile(0.9))"
    }
}

final class Registry {
    private let lock = NSLock()
    private var series: [String: Series] = [:]
    private var dirty: [Series] = []

    func record(_ metric: String, labels: [String: String], value: Int) {
        lock.lock()
        defer { lock.unlock() }
        let key = metric + "|" + labels.sorted { $0.key < $1.key }.map { $0.key + $0.value }.joined(separator: "|")
        let entry: Series
        if let known = series[key] {
            entry = known
        } else {
            entry = Series(metric: metric, labels: labels)
            series[key] = entry
        }
        entry.histogram.observe(value)
        if !entry.isDirty {
            entry.isDirty = true
            dirty.append(entry)
        }
    }

    func takeDirty() -> [Series] {
        lock.lock()
        defer { lock.unlock() }
        let result = dirty
        dirty.removeAll()
        for entry in result { entry.isDirty = false }
        return result
    }
}

enum PathNormalizer {
    static func normalize(_ path: String) -> String {
        var parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if let last = parts.last, !last.isEmpty, last.allSatisfy(\.isNumber) {
            parts[parts.count - 1] = ":id"
        }
        return parts.joined(separator: "/")
    }
}

final class Exporter {
    private let registry: Registry
    private let queue = DispatchQueue(label: "metrics.export")
    private var timer: DispatchSourceTimer?
    private var lines = 0
    private var bytes = 0
    private var pushes = 0

    init(registry: Registry) { self.registry = registry }

    func start() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + 0.05, repeating: 0.05)
        timer.setEventHandler { [weak self] in self?.push() }
        timer.resume()
        self.timer = timer
    }

    private func push() {
        pushes += 1
        for series in registry.takeDirty() {
            lines += 1
            bytes += series.line.utf8.count
        }
    }

    func stop() -> String {
        timer?.cancel()
        timer = nil
        return queue.sync {
            push()
            return "\(pushes) pushes, \(lines) lines, \(bytes) bytes"
        }
    }
}

final class HTTPCall {
    let method: String
    let path: String
    let milliseconds: Int
    init(method: String, path: String, milliseconds: Int) {
        self.method = method
        self.path = path
        self.milliseconds = milliseconds
    }
}

final class Middleware {
    private let registry: Registry
    private(set) var handled = 0
    init(registry: Registry) { self.registry = registry }
    func handle(_ call: HTTPCall) {
        handled += 1
        let route = PathNormalizer.normalize(call.path)
        registry.record("http_request", labels: ["method": call.method, "route": route], value: call.milliseconds)
        if call.milliseconds > 150 {
            registry.record("slow_request", labels: ["method": call.method], value: call.milliseconds)
        }
    }
}

func runAgent() {
    let registry = Registry()
    let exporter = Exporter(registry: registry)
    let middleware = Middleware(registry: registry)
    exporter.start()
    for n in 0..<2400 {
        let path: String
        switch n % 6 {
        case 0: path = "/users/\(n)"
        case 1: path = "/orders/\(n * 3)"
        case 2: path = "/health"
        case 3: path = "/search"
        case 4: path = n % 12 == 4 ? "/invoices/\(n)/pdf" : "/invoices/\(n)"
        default: path = "/static/app\(n % 4).js"
        }
        middleware.handle(HTTPCall(method: n % 7 == 0 ? "POST" : "GET", path: path, milliseconds: n * 37 % 190))
        usleep(700)
    }
    print("handled \(middleware.handled): \(exporter.stop())")
}

runAgent()
