import Foundation

struct Manifest: Hashable {
    let identifier: String
    let version: Int
    let commands: [String]
}

struct Invocation {
    let command: String
    let argument: String
}

protocol Plugin: AnyObject {
    var manifest: Manifest { get }
    func activate(_ context: PluginContext)
    func deactivate()
    func summary() -> String
}

class Service {
    let name: String
    private(set) var uses = 0
    init(name: String) { self.name = name }
    func touch() { uses += 1 }
    func statement() -> String { "\(name)=\(uses)" }
}

final class SpellingService: Service {
    private var dictionary: Set<String> = []
    func learn(_ word: String) {
        touch()
        if dictionary.count < 64 { dictionary.insert(word) }
    }
    override func statement() -> String { super.statement() + "/\(dictionary.count)" }
}

final class ClipboardService: Service {
    private var ring: [String] = []
    func copy(_ text: String) {
        touch()
        ring.append(text)
        if ring.count > 24 { ring.removeFirst() }
    }
    override func statement() -> String { super.statement() + "/\(ring.joined().utf8.count)" }
}

final class PluginContext {
    let host: Host
    let plugin: Plugin
    private(set) var storage: [String: String] = [:]

    init(host: Host, plugin: Plugin) {
        self.host = host
        self.plugin = plugin
    }

    func register(_ command: String, _ action: @escaping (String) -> String) {
        host.install(command, owner: plugin.manifest.identifier, action: action)
    }

    func observe(_ topic: String, _ action: @escaping (String) -> Void) {
        host.observe(topic, owner: plugin.manifest.identifier, action: action)
    }

    func remember(_ key: String, _ value: String) {
        storage[key] = value
        if storage.count > 32, let oldest = storage.keys.min() { storage[oldest] = nil }
    }

    func service<T: Service>(_ type: T.Type, make: () -> T) -> T {
        host.service(type, make: make)
    }
}

final class FormatterPlugin: Plugin {
    let manifest: Manifest
    private var context: PluginContext?
    private var handled = 0
    private var table: [UInt16]

    init(version: Int) {
        manifest = Manifest(identifier: "formatter", version: version, commands: ["upper", "trim"])
        table = (0..<400).map { UInt16($0 &+ version) }
    }

    func activate(_ context: PluginContext) {
        self.context = context
        context.register("upper") { text in
            self.handled += 1
            self.table[text.utf8.count % self.table.count] &+= 1
            return text.uppercased()
        }
        context.register("trim") { text in
            self.handled += 1
            self.context?.remember("last\(self.handled % 40)", text)
            return text.trimmingCharacters(in: .whitespaces)
        }
    }

    func deactivate() { context = nil }

    func summary() -> String {
        let mixed = table.reduce(0) { $0 &+ Int($1) }
        return "formatter v\(manifest.version) handled \(handled) mix \(mixed) notes \(context?.storage.count ?? 0)"
    }
}

final class LinterPlugin: Plugin {
    let manifest: Manifest
    private var context: PluginContext?
    private lazy var check: (String) -> Bool = { word in
        self.checked += 1
        return word.utf8.count % 3 != 0
    }
    private var checked = 0
    private var findings: [String] = []
    private var saves = 0

    init(version: Int) {
        manifest = Manifest(identifier: "linter", version: version, commands: ["lint"])
    }

    func activate(_ context: PluginContext) {
        self.context = context
        context.register("lint") { text in
            let spelling = context.service(SpellingService.self) { SpellingService(name: "spelling") }
            for word in text.split(separator: " ").map(String.init) where !self.check(word) {
                spelling.learn(word)
                self.findings.append(word)
            }
            if self.findings.count > 40 { self.findings.removeFirst(self.findings.count - 40) }
            return "\(self.findings.count)"
        }
        context.observe("saved") { file in
            let clipboard = context.service(ClipboardService.self) { ClipboardService(name: "clipboard") }
            clipboard.copy(file)
            self.saves += 1
        }
    }

    func deactivate() {
        context = nil
        check = { _ in true }
    }

    func summary() -> String {
        "linter v\(manifest.version) checked \(checked) findings \(findings.count) saves \(saves)"
    }
}

final class Host {
    private struct Command {
        let owner: String
        let action: (String) -> String
    }
    private struct Observation {
        let owner: String
        let action: (String) -> Void
    }
    private var contexts: [String: PluginContext] = [:]
    private var commands: [String: Command] = [:]
    private var observations: [String: [Observation]] = [:]
    private var services: [ObjectIdentifier: Service] = [:]
    private var everLoaded: [Manifest: Int] = [:]
    private(set) var invocations = 0
    private(set) var produced = 0

    func load(_ plugin: Plugin) {
        unload(plugin.manifest.identifier)
        let context = PluginContext(host: self, plugin: plugin)
        contexts[plugin.manifest.identifier] = context
        everLoaded[plugin.manifest, default: 0] += 1
        plugin.activate(context)
    }

    func unload(_ identifier: String) {
        guard let context = contexts.removeValue(forKey: identifier) else { return }
        commands = commands.filter { $0.value.owner != identifier }
        for topic in observations.keys { observations[topic]?.removeAll { $0.owner == identifier } }
        context.plugin.deactivate()
    }

    func install(_ command: String, owner: String, action: @escaping (String) -> String) {
        commands[command] = Command(owner: owner, action: action)
    }

    func observe(_ topic: String, owner: String, action: @escaping (String) -> Void) {
        observations[topic, default: []].append(Observation(owner: owner, action: action))
    }

    func service<T: Service>(_ type: T.Type, make: () -> T) -> T {
        if let existing = services[ObjectIdentifier(type)] as? T { return existing }
        let service = make()
        services[ObjectIdentifier(type)] = service
        return service
    }

    func run(_ invocation: Invocation) {
        invocations += 1
        produced += commands[invocation.command]?.action(invocation.argument).utf8.count ?? 0
    }

    func notify(_ topic: String, _ detail: String) {
        for observation in observations[topic] ?? [] { observation.action(detail) }
    }

    func shutdown() -> String {
        let plugins = contexts.keys.sorted().map { contexts[$0]!.plugin.summary() }
        let facilities = services.values.map { $0.statement() }.sorted()
        let loads = everLoaded.values.reduce(0, +)
        let surface = Set(everLoaded.keys.flatMap { manifest in manifest.commands.map { manifest.identifier + "." + $0 } })
        for identifier in contexts.keys.sorted() { unload(identifier) }
        return "loads=\(loads) surface=\(surface.count) " + (plugins + facilities).joined(separator: "; ")
    }
}

let host = Host()
host.load(FormatterPlugin(version: 1))
host.load(LinterPlugin(version: 1))
for round in 1...70 {
    for step in 0..<12 {
        host.run(Invocation(command: ["upper", "trim", "lint"][step % 3], argument: " fix the parser in module \(round) step \(step) "))
    }
    host.notify("saved", "module\(round).swift")
    if round < 60 {
        host.load(FormatterPlugin(version: 1 + round))
        if round % 2 == 0 { host.load(LinterPlugin(version: 1 + round)) }
    }
    usleep(10_000)
}
print("invocations=\(host.invocations) produced=\(host.produced)")
print(host.shutdown())
