struct Metric: Sendable {
    let name: String
    let value: Int
}

actor MetricBus {
    private var listeners: [(id: Int, sink: AsyncStream<Metric>.Continuation)] = []
    private var serial = 0
    private(set) var published = 0

    func listen() -> AsyncStream<Metric> {
        serial += 1
        let id = serial
        return AsyncStream(bufferingPolicy: .bufferingNewest(32)) { sink in
            sink.onTermination = { _ in
                Task { await self.drop(id) }
            }
            listeners.append((id, sink))
        }
    }

    private func drop(_ id: Int) { listeners.removeAll { $0.id == id } }

    func publish(_ metric: Metric) {
        published += 1
        for listener in listeners { listener.sink.yield(metric) }
    }
}

@MainActor
final class Widget {
    enum Style: String { case gauge, counter, spark }

    let metric: String
    let style: Style
    private var task: Task<Void, Never>?
    private var values: [Int] = []

    init(metric: String, style: Style) {
        self.metric = metric
        self.style = style
    }

    deinit { task?.cancel() }

    func attach(to bus: MetricBus) {
        task = Task {
            for await update in await bus.listen() where update.name == metric {
                values.append(update.value)
                if values.count > 40 { values.removeFirst(20) }
            }
        }
    }

    func detach() {
        task?.cancel()
        task = nil
    }

    var face: String {
        switch style {
        case .gauge: return "[\(values.last ?? 0)%]"
        case .counter: return "#\(values.reduce(0, +))"
        case .spark: return values.suffix(3).map(String.init).joined(separator: "~")
        }
    }
}

@MainActor
final class Dashboard {
    private let bus: MetricBus
    private var widgets: [Widget] = []
    private(set) var swaps = 0

    init(bus: MetricBus) { self.bus = bus }

    private func make(_ metric: String, _ style: Widget.Style) -> Widget {
        let widget = Widget(metric: metric, style: style)
        widget.attach(to: bus)
        return widget
    }

    func add(_ metric: String, _ style: Widget.Style) { widgets.append(make(metric, style)) }

    func removeLast() { widgets.popLast()?.detach() }

    func swap(at index: Int, for style: Widget.Style) {
        widgets[index] = make(widgets[index].metric, style)
        swaps += 1
    }

    var faces: [String] { widgets.map { "\($0.metric) \($0.face)" } }
}

@main
@MainActor
struct Monitor {
    static let bus = MetricBus()
    static let dashboard = Dashboard(bus: bus)
    static let metrics = ["cpu", "mem", "disk", "net"]

    static func pump(_ rounds: Range<Int>) async throws {
        for round in rounds {
            for (n, name) in metrics.enumerated() {
                await bus.publish(Metric(name: name, value: (round * 7 + n * 13) % 100))
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    static func main() async throws {
        for name in metrics { dashboard.add(name, .gauge) }
        try await pump(0..<4)
        for round in 0..<7 {
            dashboard.add(metrics[round % 4], .spark)
            dashboard.add(metrics[(round + 1) % 4], .counter)
            try await pump(4..<6)
            if round < 5 { dashboard.swap(at: round % 4, for: .counter) }
            if round % 2 == 0 { dashboard.swap(at: (round + 2) % 4, for: .gauge) }
            dashboard.removeLast()
            dashboard.removeLast()
            try await pump(6..<8)
        }
        try await pump(10..<40)
        print("\(dashboard.faces.joined(separator: ", ")) after \(dashboard.swaps) swaps, \(await bus.published) published")
    }
}
