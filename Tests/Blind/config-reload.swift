// A text pipeline whose stages follow the settings; the pipeline is rebuilt whenever the settings are reloaded.
import Foundation

struct Settings {
    var revision: Int
    var values: [String: Int]

    subscript(key: String) -> Int { values[key] ?? 0 }
}

class SettingsListener {
    func settingsChanged(_ settings: Settings) {}
}

final class StageListener: SettingsListener {
    let key: String
    var strength: Int
    var updates = 0

    init(key: String, strength: Int) {
        self.key = key
        self.strength = strength
    }

    override func settingsChanged(_ settings: Settings) {
        strength = settings[key]
        updates += 1
    }
}

final class ConfigCenter {
    private(set) var settings: Settings
    private var listeners: [SettingsListener] = []

    init(settings: Settings) {
        self.settings = settings
    }

    func subscribe(_ listener: SettingsListener) {
        listeners.append(listener)
    }

    func unsubscribe(_ listener: SettingsListener) {
        listeners.removeAll { $0 === listener }
    }

    func update(key: String, to value: Int) {
        settings.values[key] = value
        settings.revision += 1
        for listener in listeners {
            listener.settingsChanged(settings)
        }
    }
}

protocol Stage {
    var listener: StageListener { get }
    func apply(_ words: [String]) -> [String]
}

struct ShortWordFilter: Stage {
    let listener: StageListener

    func apply(_ words: [String]) -> [String] {
        words.filter { $0.utf8.count > listener.strength }
    }
}

struct Repeater: Stage {
    let listener: StageListener

    func apply(_ words: [String]) -> [String] {
        words.flatMap { Array(repeating: $0, count: 1 + listener.strength % 3) }
    }
}

struct Limiter: Stage {
    let listener: StageListener

    func apply(_ words: [String]) -> [String] {
        Array(words.prefix(4 + listener.strength))
    }
}

final class Pipeline {
    let stages: [Stage]

    init(center: ConfigCenter) {
        let current = center.settings
        func listener(_ key: String) -> StageListener {
            let made = StageListener(key: key, strength: current[key])
            center.subscribe(made)
            return made
        }
        stages = [
            ShortWordFilter(listener: listener("min")),
            Repeater(listener: listener("repeat")),
            Limiter(listener: listener("limit")),
        ]
    }

    func run(_ words: [String]) -> Int {
        stages.reduce(words) { $1.apply($0) }.reduce(0) { $0 + $1.utf8.count }
    }
}

final class AuditListener: SettingsListener {
    private(set) var revisions: [Int] = []

    override func settingsChanged(_ settings: Settings) {
        if settings.revision % 20 == 0 {
            revisions.append(settings.revision)
        }
    }
}

final class Application {
    let center = ConfigCenter(settings: Settings(revision: 0, values: ["min": 2, "repeat": 1, "limit": 6]))
    let audit = AuditListener()
    var pipeline: Pipeline
    var processed = 0

    init() {
        center.subscribe(audit)
        pipeline = Pipeline(center: center)
    }

    func reload() {
        pipeline = Pipeline(center: center)
    }

    func handle(_ line: String) {
        processed += pipeline.run(line.split(separator: " ").map(String.init))
    }
}

let app = Application()
let lines = [
    "the quick brown fox jumps over the lazy dog",
    "a stitch in time saves nine",
    "all that glitters is not gold but it may shine",
]

for round in 0..<100 {
    app.center.update(key: "min", to: 1 + round % 4)
    app.center.update(key: "limit", to: 3 + round % 9)
    app.reload()
    for line in lines {
        app.handle(line)
    }
    usleep(4000)
}

print("processed \(app.processed) bytes, revision \(app.center.settings.revision)")
print("audited revisions: \(app.audit.revisions)")
