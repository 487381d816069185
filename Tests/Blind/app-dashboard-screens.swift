import Foundation

struct Theme {
    let name: String
    let dark: Bool
}

final class ThemeCenter {
    private var listeners: [Int: (Theme) -> Void] = [:]
    private var nextToken = 0
    private(set) var current = Theme(name: "plain", dark: false)

    func subscribe(_ listener: @escaping (Theme) -> Void) -> Int {
        nextToken += 1
        listeners[nextToken] = listener
        return nextToken
    }

    func unsubscribe(_ token: Int) { listeners[token] = nil }

    func change(to theme: Theme) {
        current = theme
        for listener in listeners.values { listener(theme) }
    }
}

final class Chart {
    let title: String
    private var points: [Double] = []
    init(title: String) { self.title = title }
    func add(_ value: Double) {
        points.append(value)
        if points.count > 60 { points.removeFirst() }
    }
    var average: Double { points.isEmpty ? 0 : points.reduce(0, +) / Double(points.count) }
}

class Screen {
    let name: String
    private let themes: ThemeCenter
    private var token: Int?
    private(set) var colour = "white"
    private(set) var redraws = 0

    init(name: String, themes: ThemeCenter) {
        self.name = name
        self.themes = themes
    }

    func appear() {
        token = themes.subscribe { theme in self.redraw(theme) }
        redraw(themes.current)
    }

    func disappear() {
        if let token { themes.unsubscribe(token) }
        token = nil
    }

    func redraw(_ theme: Theme) {
        redraws += 1
        colour = theme.dark ? "black" : "white"
    }

    func refresh(_ step: Int) {}
}

final class HomeScreen: Screen {
    private var visits = 0
    override func refresh(_ step: Int) { visits += 1 }
}

final class ChartScreen: Screen {
    private let charts: [Chart]
    init(name: String, themes: ThemeCenter, count: Int) {
        charts = (0..<count).map { Chart(title: "\(name) \($0)") }
        super.init(name: name, themes: themes)
    }
    override func refresh(_ step: Int) {
        for (index, chart) in charts.enumerated() { chart.add(Double((step * 31 + index * 7) % 100)) }
    }
    var best: String { charts.max { $0.average < $1.average }?.title ?? "-" }
}

final class DetailScreen: Screen {
    private var rows: [String] = []
    override func refresh(_ step: Int) { rows = (0..<6).map { "row \($0) at \(step)" } }
}

final class Navigator {
    private var stack: [Screen] = []
    private(set) var shown = 0
    private(set) var best: [String: Int] = [:]

    func push(_ screen: Screen) {
        shown += 1
        stack.append(screen)
        screen.appear()
    }

    func pop() {
        guard stack.count > 1 else { return }
        let screen = stack.removeLast()
        note(screen)
        screen.disappear()
    }

    func popToRoot() {
        while stack.count > 2 { pop() }
        if stack.count == 2 { note(stack[1]) }
        stack.removeSubrange(1...)
    }

    private func note(_ screen: Screen) {
        if let screen = screen as? ChartScreen { best[String(screen.best.suffix(1)), default: 0] += 1 }
    }

    func refresh(_ step: Int) { stack.last?.refresh(step) }
    var depth: Int { stack.count }
}

final class Application {
    private let themes = ThemeCenter()
    private let navigator = Navigator()

    func launch() { navigator.push(HomeScreen(name: "home", themes: themes)) }

    func handle(_ step: Int) {
        switch step % 7 {
        case 0: navigator.push(ChartScreen(name: "charts \(step)", themes: themes, count: 4))
        case 2: navigator.push(DetailScreen(name: "detail \(step)", themes: themes))
        case 4 where step % 5 == 0: navigator.push(DetailScreen(name: "more \(step)", themes: themes))
        case 5: if step % 4 == 1 { navigator.popToRoot() } else { navigator.pop() }
        case 6: while navigator.depth > 1 { navigator.pop() }
        default: break
        }
        navigator.refresh(step)
        if step % 160 == 150 { themes.change(to: Theme(name: "theme \(step)", dark: step % 320 > 160)) }
    }

    func terminate() {
        print("shown \(navigator.shown), best charts \(navigator.best.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" })")
    }
}

let application = Application()
application.launch()
for step in 0..<1000 {
    application.handle(step)
    usleep(2000)
}
application.terminate()
