import Foundation

final class Artifact {
    let target: String
    let symbols: [String]
    init(target: String, symbols: [String]) {
        self.target = target
        self.symbols = symbols
    }
}

final class SourceText {
    let lines: [String]
    init(target: String) { lines = (0..<25).map { "let \(target)_\($0) = \($0)" } }
}

final class ArtifactStore {
    private let lock = NSLock()
    private var artifacts: [String: Artifact] = [:]

    func put(_ artifact: Artifact) { lock.withLock { artifacts[artifact.target] = artifact } }
    func get(_ target: String) -> Artifact? { lock.withLock { artifacts[target] } }
    var all: [Artifact] { lock.withLock { Array(artifacts.values) } }
}

final class CompileStep: Operation, @unchecked Sendable {
    let target: String
    let inputs: [String]
    private let store: ArtifactStore

    init(target: String, inputs: [String], store: ArtifactStore) {
        self.target = target
        self.inputs = inputs
        self.store = store
    }

    override func main() {
        let source = SourceText(target: target)
        var symbols = source.lines.prefix(4).map { String($0.dropFirst(4)) }
        for input in inputs {
            if let artifact = store.get(input), let first = artifact.symbols.first { symbols.append("import \(first)") }
        }
        store.put(Artifact(target: target, symbols: symbols))
    }
}

final class BuildPlan {
    let name: String
    private let store: ArtifactStore
    private var steps: [String: CompileStep] = [:]
    init(name: String, store: ArtifactStore) {
        self.name = name
        self.store = store
    }

    func add(_ target: String, after inputs: [String]) {
        let step = CompileStep(target: target, inputs: inputs, store: store)
        for input in inputs { if let earlier = steps[input] { step.addDependency(earlier) } }
        steps[target] = step
    }

    func run(on queue: OperationQueue) {
        queue.addOperations(Array(steps.values), waitUntilFinished: true)
    }
}

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 2
let store = ArtifactStore()
var built = 0
for package in 0..<25 {
    let plan = BuildPlan(name: "pkg\(package)", store: store)
    for t in 0..<16 {
        let inputs = t == 0 ? [] : ["pkg\(package)/t\(t / 2)", "pkg\(package)/t\(t - 1)"]
        plan.add("pkg\(package)/t\(t)", after: Array(Set(inputs)).filter { $0 != "pkg\(package)/t\(t)" })
        built += 1
    }
    plan.run(on: queue)
    Thread.sleep(forTimeInterval: 0.035)
}
let linked = store.all.reduce(0) { $0 + $1.symbols.count }
print("built \(built), linked symbols \(linked), artifacts \(store.all.count)")
