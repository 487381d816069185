import Foundation

enum TargetState { case idle, running, built, skipped, failed }

final class Artifact {
    let path: String
    let hash: Int
    init(path: String, hash: Int) { self.path = path; self.hash = hash }
}

final class Target {
    let name: String
    let source: String
    let dependencies: [Target]
    private(set) var state: TargetState = .idle
    private(set) var artifact: Artifact?
    private(set) var failure: String?
    private var completion: ((Artifact) -> Void)?

    init(name: String, source: String, dependencies: [Target]) {
        self.name = name
        self.source = source
        self.dependencies = dependencies
    }

    func start(log: BuildLog) {
        state = .running
        completion = { artifact in
            self.artifact = artifact
            log.note("\(self.name) -> \(artifact.hash % 1000)")
        }
        if let bad = dependencies.first(where: { $0.state == .failed }) {
            fail(reason: "needs \(bad.name)")
            return
        }
        compile()
    }

    func skip(_ previous: Artifact) {
        state = .skipped
        finish(previous)
    }

    private func compile() {
        if source.contains("syntax error") {
            fail(reason: "\(name): expected expression")
            return
        }
        var h = 5381
        for u in source.utf8 { h = (h &* 33 &+ Int(u)) & 0xfffffff }
        for d in dependencies { h = (h &* 31 &+ (d.artifact?.hash ?? 0)) & 0xfffffff }
        state = .built
        finish(Artifact(path: "out/\(name).o", hash: h))
    }

    private func finish(_ a: Artifact) {
        if let c = completion {
            c(a)
        } else {
            artifact = a
        }
        completion = nil
    }

    private func fail(reason: String) {
        state = .failed
        failure = reason
    }
}

final class BuildLog {
    private var lines: [String] = []
    func note(_ s: String) {
        lines.append(s)
        if lines.count > 200 { lines.removeFirst(lines.count - 200) }
    }
    var tail: String { lines.last ?? "" }
}

final class ArtifactCache {
    private var entries: [String: (source: Int, artifact: Artifact)] = [:]
    func find(_ t: Target) -> Artifact? {
        guard let e = entries[t.name], e.source == t.source.hashValue else { return nil }
        return e.artifact
    }
    func store(_ t: Target) {
        if let a = t.artifact { entries[t.name] = (t.source.hashValue, a) }
    }
    var count: Int { entries.count }
}

final class Workspace {
    private(set) var files: [String: String] = [:]
    let modules: Int

    init(modules: Int) {
        self.modules = modules
        for i in 0..<modules { files["m\(i)"] = "module \(i) version 0" }
    }

    func edit(_ i: Int, round: Int) {
        files["m\(i % modules)"] = round % 12 == 5 ? "module \(i) syntax error" : "module \(i) version \(round)"
    }

    func load() -> [Target] {
        var made: [Target] = []
        for i in 0..<modules {
            var deps: [Target] = []
            if i > 0 { deps.append(made[(i - 1) / 2]) }
            made.append(Target(name: "m\(i)", source: files["m\(i)"]!, dependencies: deps))
        }
        return made
    }
}

struct BuildResult {
    var built = 0
    var skipped = 0
    var failed = 0
}

final class Builder {
    private let cache = ArtifactCache()
    private let log = BuildLog()
    private(set) var total = BuildResult()
    private(set) var firstFailure: String?

    func build(_ targets: [Target]) -> BuildResult {
        var r = BuildResult()
        var dirty = Set<String>()
        for t in targets {
            let touched = t.dependencies.contains { dirty.contains($0.name) }
            if !touched, let old = cache.find(t) {
                t.skip(old)
                r.skipped += 1
                continue
            }
            dirty.insert(t.name)
            t.start(log: log)
            switch t.state {
            case .built:
                cache.store(t)
                r.built += 1
            default:
                r.failed += 1
                if firstFailure == nil { firstFailure = t.failure }
            }
        }
        total.built += r.built
        total.skipped += r.skipped
        total.failed += r.failed
        return r
    }

    var status: String { "\(log.tail), cached \(cache.count)" }
}

final class Watcher {
    private let workspace = Workspace(modules: 24)
    private let builder = Builder()
    private var broken = 0

    func watch(rounds: Int) {
        for round in 1...rounds {
            workspace.edit(round * 5 + 9, round: round)
            let result = builder.build(workspace.load())
            if result.failed > 0 {
                broken += 1
                workspace.edit(round * 5 + 9, round: 1)
            }
            usleep(9_000)
        }
        let t = builder.total
        print("built \(t.built) skipped \(t.skipped) failed \(t.failed) broken builds \(broken)")
        print(builder.status, builder.firstFailure ?? "")
    }
}

Watcher().watch(rounds: 240)
