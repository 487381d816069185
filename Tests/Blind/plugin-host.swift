import Foundation

protocol BuildListener: AnyObject {
    func buildFinished(_ number: Int, ok: Bool)
}

final class WeakListener {
    weak var value: BuildListener?
    init(_ value: BuildListener) { self.value = value }
}

final class Plugin: BuildListener {
    let name: String
    private(set) var builds = 0
    private var failures: [Int] = []

    init(name: String) { self.name = name }

    func buildFinished(_ number: Int, ok: Bool) {
        builds += 1
        if !ok {
            failures.append(number)
            if failures.count > 5 { failures.removeFirst() }
        }
    }
}

final class ConsoleView: BuildListener {
    private var line = ""
    func buildFinished(_ number: Int, ok: Bool) {
        line = "#\(number) \(ok ? "passed" : "failed")"
    }
}

final class PluginHost {
    static let shared = PluginHost()

    private var plugins: [Plugin] = []
    private var views: [WeakListener] = []

    func load(_ plugin: Plugin) { plugins.append(plugin) }

    func attach(_ view: ConsoleView) {
        views.removeAll { $0.value == nil }
        views.append(WeakListener(view))
    }

    func finished(_ number: Int, ok: Bool) {
        for plugin in plugins { plugin.buildFinished(number, ok: ok) }
        for view in views { view.value?.buildFinished(number, ok: ok) }
    }

    var summary: (plugins: Int, builds: Int, views: Int) {
        views.removeAll { $0.value == nil }
        return (plugins.count, plugins.reduce(0) { $0 + $1.builds }, views.count)
    }
}

@main
struct Main {
    static func main() {
        let host = PluginHost.shared
        for name in ["lint", "coverage", "badges", "chat", "mail", "metrics", "archive", "cache",
                     "deploy", "notes", "sign", "scan"] {
            host.load(Plugin(name: name))
        }
        var number = 0
        for _ in 0..<30 {
            let console = ConsoleView()
            host.attach(console)
            for _ in 0..<6 {
                number += 1
                host.finished(number, ok: number % 4 != 0)
            }
        }
        let summary = host.summary
        print("plugins \(summary.plugins) notifications \(summary.builds) views \(summary.views)")
    }
}
