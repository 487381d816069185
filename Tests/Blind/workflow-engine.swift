import Foundation

final class StepDefinition {
    let title: String
    let effort: Int
    init(title: String, effort: Int) {
        self.title = title
        self.effort = effort
    }
}

final class WorkflowDefinition {
    let name: String
    let steps: [StepDefinition]
    weak var latestRun: WorkflowRun?
    init(name: String, steps: [StepDefinition]) {
        self.name = name
        self.steps = steps
    }
}

final class WorkflowRun {
    let number: Int
    let definition: WorkflowDefinition
    var position = 0
    var signed = false
    var journal: [JournalEntry] = []
    init(number: Int, definition: WorkflowDefinition) {
        self.number = number
        self.definition = definition
    }

    var awaitsSignature: Bool { number % 8 == 1 && position == 1 && !signed }
    var isDone: Bool { position >= definition.steps.count }
}

final class JournalEntry {
    unowned let run: WorkflowRun
    let step: String
    let detail: String
    init(run: WorkflowRun, step: String, detail: String) {
        self.run = run
        self.step = step
        self.detail = detail
    }
}

final class WorkflowEngine {
    private var definitions: [String: WorkflowDefinition] = [:]
    private var active: [Int: WorkflowRun] = [:]
    private var archive: [WorkflowRun] = []
    private let retention = 120
    private var started = 0

    func define(_ definition: WorkflowDefinition) { definitions[definition.name] = definition }

    func start(_ name: String) {
        guard let definition = definitions[name] else { return }
        let run = WorkflowRun(number: started, definition: definition)
        started += 1
        definition.latestRun = run
        active[run.number] = run
    }

    func advance() {
        for run in active.values where !run.awaitsSignature {
            let step = run.definition.steps[run.position]
            run.journal.append(JournalEntry(run: run, step: step.title, detail: "effort \(step.effort) of run \(run.number)"))
            run.position += 1
            if run.isDone { retire(run) }
        }
    }

    private func retire(_ run: WorkflowRun) {
        active.removeValue(forKey: run.number)
        archive.append(run)
        if archive.count > retention { archive.removeFirst(archive.count - retention) }
    }

    func signPending() {
        for run in active.values where run.awaitsSignature { run.signed = true }
    }

    var summary: String {
        let lines = archive.reduce(0) { $0 + $1.journal.count }
        return "started \(started) active \(active.count) archived \(archive.count) journal lines \(lines)"
    }
}

let engine = WorkflowEngine()
for d in 0..<6 {
    engine.define(WorkflowDefinition(name: "flow-\(d)", steps: (0..<(3 + d)).map { StepDefinition(title: "step \($0)", effort: $0 * d) }))
}
for tick in 0..<60 {
    for n in 0..<10 { engine.start("flow-\((tick + n) % 6)") }
    engine.advance()
    if tick % 15 == 14 { engine.signPending() }
    Thread.sleep(forTimeInterval: 0.018)
}
print(engine.summary)
