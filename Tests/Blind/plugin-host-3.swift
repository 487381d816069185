import Foundation

struct Request: Sendable {
    let command: String
    let argument: Int
}

final class Manifest: Sendable {
    let name: String
    let commands: [String]
    let aliases: [String: String]
    init(name: String, commands: [String], aliases: [String: String]) {
        self.name = name
        self.commands = commands
        self.aliases = aliases
    }
}

final class Plugin: @unchecked Sendable {
    let manifest: Manifest
    private var lookup: [Int]
    private(set) var calls = 0

    init(manifest: Manifest, seed: Int) {
        self.manifest = manifest
        lookup = (0..<256).map { $0 &* seed }
    }

    func run(_ request: Request) -> Int {
        calls += 1
        return lookup[request.argument & 255]
    }
}

final class Invocation: Sendable {
    let request: Request
    let result: Int
    init(request: Request, result: Int) {
        self.request = request
        self.result = result
    }
}

typealias Handler = @Sendable (Request) -> Invocation

actor PluginHost {
    private var plugins: [String: Plugin] = [:]
    private var handlers: [String: Handler] = [:]
    private(set) var served = 0
    private(set) var unknown = 0

    func load(_ plugin: Plugin) {
        let manifest = plugin.manifest
        plugins[manifest.name] = plugin
        let handler: Handler = { request in
            Invocation(request: request, result: plugin.run(request))
        }
        for command in manifest.commands {
            handlers["\(manifest.name).\(command)"] = handler
        }
        for (alias, command) in manifest.aliases where manifest.commands.contains(command) {
            handlers[alias] = handler
        }
    }

    func unload(_ name: String) {
        guard let plugin = plugins.removeValue(forKey: name) else { return }
        for command in plugin.manifest.commands {
            handlers["\(name).\(command)"] = nil
        }
    }

    func dispatch(_ request: Request) -> Int {
        guard let handler = handlers[request.command] else {
            unknown += 1
            return 0
        }
        served += 1
        return handler(request).result
    }

    var loaded: Int { plugins.count }
}

struct Workspace: Sendable {
    let host: PluginHost

    func open(_ n: Int) async -> Int {
        let name = "format\(n)"
        let aliases = n % 5 == 2 ? ["ws\(n):fmt": "format"] : [:]
        let manifest = Manifest(name: name, commands: ["format", "check"], aliases: aliases)
        await host.load(Plugin(manifest: manifest, seed: n + 1))
        var sum = 0
        for argument in 0..<5 {
            sum &+= await host.dispatch(Request(command: "\(name).format", argument: argument * 9))
            sum &+= await host.dispatch(Request(command: n % 5 == 2 ? "ws\(n):fmt" : "\(name).check", argument: argument))
            try? await Task.sleep(nanoseconds: 1_000_000)
        }
        await host.unload(name)
        return sum
    }
}

let host = PluginHost()

@main
struct EditorApp {
    static func main() async {
        for name in ["spelling", "syntax", "git"] {
            await host.load(Plugin(manifest: Manifest(name: name, commands: ["run"], aliases: ["\(name)": "run"]), seed: 3))
        }
        var sum = 0
        for n in 0..<200 {
            sum &+= await Workspace(host: host).open(n)
            sum &+= await host.dispatch(Request(command: "spelling", argument: n))
        }
        print("loaded \(await host.loaded), served \(await host.served), unknown \(await host.unknown)")
        print("sum \(sum)")
    }
}
