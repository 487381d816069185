import Foundation

struct Signal {
    let name: String
    let number: Int
}

final class Registration {
    let id: Int
    let signal: String
    let handler: (Signal) throws -> Void
    init(id: Int, signal: String, handler: @escaping (Signal) throws -> Void) {
        self.id = id
        self.signal = signal
        self.handler = handler
    }
}

final class EventBus {
    private var registrations: [String: [Registration]] = [:]
    private var nextId = 1
    private(set) var dispatched = 0

    func on(_ signal: String, _ handler: @escaping (Signal) throws -> Void) -> Registration {
        let registration = Registration(id: nextId, signal: signal, handler: handler)
        nextId += 1
        registrations[signal, default: []].append(registration)
        return registration
    }

    func off(_ registration: Registration) {
        registrations[registration.signal]?.removeAll { $0 === registration }
    }

    func emit(_ signal: Signal) -> [Error] {
        var errors: [Error] = []
        for registration in registrations[signal.name] ?? [] {
            dispatched += 1
            do { try registration.handler(signal) } catch { errors.append(error) }
        }
        return errors
    }
}

struct PluginFailure: Error {
    let plugin: Int
}

class Plugin {
    let id: Int
    private(set) var registrations: [Registration] = []
    private var scratch = [Int](repeating: 0, count: 256)
    var enabled = true

    init(id: Int) { self.id = id }

    func listen(_ bus: EventBus, _ signal: String, _ handler: @escaping (Signal) throws -> Void) {
        registrations.append(bus.on(signal, handler))
    }

    func activate(_ bus: EventBus) {}

    func deactivate(_ bus: EventBus) {
        for registration in registrations { bus.off(registration) }
        registrations.removeAll()
    }

    func note(_ value: Int) { scratch[value & 255] += value }
    var total: Int { scratch.reduce(0, &+) }
}

final class SpellChecker: Plugin {
    override func activate(_ bus: EventBus) {
        listen(bus, "edit") { [self] signal in
            guard enabled else { return }
            note(signal.number)
        }
        listen(bus, "save") { [self] signal in
            guard enabled else { return }
            if signal.number % (20 + id) == 7 { throw PluginFailure(plugin: id) }
            note(1)
        }
    }
}

final class Formatter: Plugin {
    override func activate(_ bus: EventBus) {
        listen(bus, "save") { [self] signal in
            guard enabled else { return }
            note(signal.number * 3)
        }
    }
}

final class Minimap: Plugin {
    override func activate(_ bus: EventBus) {
        listen(bus, "scroll") { [self] signal in
            guard enabled else { return }
            if signal.number % (35 + id) == 3 { throw PluginFailure(plugin: id) }
            note(signal.number / 2)
        }
    }
}

final class Host {
    private let bus = EventBus()
    private var plugins: [Int: Plugin] = [:]
    private var nextId = 1
    private(set) var crashes = 0
    private(set) var unloads = 0
    private var credits = 0

    func load() {
        let plugin: Plugin
        switch nextId % 3 {
        case 0: plugin = SpellChecker(id: nextId)
        case 1: plugin = Formatter(id: nextId)
        default: plugin = Minimap(id: nextId)
        }
        nextId += 1
        plugins[plugin.id] = plugin
        plugin.activate(bus)
    }

    func unloadOldest() {
        guard let id = plugins.keys.min(), let plugin = plugins.removeValue(forKey: id) else { return }
        credits += plugin.total
        plugin.deactivate(bus)
        unloads += 1
    }

    func fire(_ name: String, _ number: Int) {
        for error in bus.emit(Signal(name: name, number: number)) {
            guard let failure = error as? PluginFailure else { continue }
            crashed(failure.plugin)
        }
    }

    private func crashed(_ id: Int) {
        guard let plugin = plugins.removeValue(forKey: id) else { return }
        plugin.enabled = false
        crashes += 1
    }

    var loaded: Int { plugins.count }

    func close() {
        while !plugins.isEmpty { unloadOldest() }
        print("\(nextId - 1) loaded, \(unloads) unloaded, \(crashes) crashed, \(bus.dispatched) calls, \(credits) credits")
    }
}

func editSession(minutes: Int) {
    let host = Host()
    for minute in 0..<minutes {
        if minute % 2 == 0 { host.load() }
        if host.loaded > 15 { host.unloadOldest() }
        for i in 0..<6 { host.fire("edit", minute * 6 + i) }
        host.fire("save", minute)
        host.fire("scroll", minute * 2 + 1)
        usleep(8_000)
    }
    host.close()
}

editSession(minutes: 240)
