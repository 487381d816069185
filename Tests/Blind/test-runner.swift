import Foundation

// Parallel test runner: lanes execute cases and hand over their outcomes; the JUnit-style
// summary with every case is produced at the end of the run.

struct TestCase {
    let suite: String
    let name: String
    let seed: Int
}

enum Verdict: String { case passed, failed, skipped }

final class CaseOutcome {
    let test: TestCase
    let verdict: Verdict
    let micros: Int
    let output: String

    init(test: TestCase, verdict: Verdict, micros: Int, output: String) {
        self.test = test
        self.verdict = verdict
        self.micros = micros
        self.output = output
    }

    var xml: String {
        let open = "<testcase classname=\"\(test.suite)\" name=\"\(test.name)\" time=\"\(Double(micros) / 1e6)\""
        switch verdict {
        case .passed: return open + "/>"
        case .skipped: return open + "><skipped/></testcase>"
        case .failed: return open + "><failure>\(output)</failure></testcase>"
        }
    }
}

final class Lane {
    let number: Int
    private var outbox: [CaseOutcome] = []
    private let lock = NSLock()

    init(number: Int) { self.number = number }

    func execute(_ test: TestCase) {
        var value = UInt64(test.seed) | 1
        for _ in 0..<3_000 { value = value &* 6364136223846793005 &+ 1 }
        let verdict: Verdict = value >> 58 == 0 ? .failed : test.seed % 23 == 0 ? .skipped : .passed
        let outcome = CaseOutcome(test: test, verdict: verdict, micros: Int(value >> 50),
                                  output: verdict == .failed ? "expected \(test.seed), got \(value >> 40)" : "")
        lock.withLock { outbox.append(outcome) }
    }

    func collect() -> [CaseOutcome] {
        lock.withLock {
            let batch = outbox
            outbox = []
            return batch
        }
    }
}

final class RunReport {
    private var outcomes: [CaseOutcome] = []

    func append(_ batch: [CaseOutcome]) { outcomes.append(contentsOf: batch) }

    func render() -> String {
        var bySuite: [String: [CaseOutcome]] = [:]
        for outcome in outcomes { bySuite[outcome.test.suite, default: []].append(outcome) }
        var lines = ["<testsuites tests=\"\(outcomes.count)\">"]
        for suite in bySuite.keys.sorted() {
            let members = bySuite[suite]!.sorted { $0.test.name < $1.test.name }
            let failures = members.filter { $0.verdict == .failed }.count
            lines.append("<testsuite name=\"\(suite)\" tests=\"\(members.count)\" failures=\"\(failures)\">")
            lines += members.map(\.xml)
            lines.append("</testsuite>")
        }
        lines.append("</testsuites>")
        return lines.joined(separator: "\n")
    }
}

let lanes = (0..<4).map(Lane.init)
let report = RunReport()
let queue = DispatchQueue(label: "tests.lanes", attributes: .concurrent)
let suites = ["Parser", "Network", "Storage", "Layout", "Sync"]
var started = 0

for wave in 0..<100 {
    let group = DispatchGroup()
    for lane in lanes {
        let cases = (0..<5).map { index -> TestCase in
            let serial = wave * 20 + lane.number * 5 + index
            return TestCase(suite: suites[serial % suites.count], name: String(format: "case%04d", serial), seed: serial * 97)
        }
        started += cases.count
        queue.async(group: group) { cases.forEach(lane.execute) }
    }
    group.wait()
    for lane in lanes { report.append(lane.collect()) }
    Thread.sleep(forTimeInterval: 0.007)
}
let document = report.render()
let failures = document.components(separatedBy: "<failure>").count - 1
print("started \(started), failures \(failures), report \(document.utf8.count) bytes")
