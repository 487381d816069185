import Foundation

// Log alerting: the rule file is compiled once at start, then each line is checked against the
// rules of its service and matching lines count towards an alert.

enum Severity: String, Comparable {
    case notice, warning, critical

    private var rank: Int { self == .notice ? 0 : self == .warning ? 1 : 2 }
    static func < (a: Severity, b: Severity) -> Bool { a.rank < b.rank }
}

final class AlertRule {
    let name: String
    let service: String
    let severity: Severity
    let threshold: Int
    private let expression: NSRegularExpression
    private var streak = 0

    init(name: String, service: String, severity: Severity, threshold: Int, pattern: String) throws {
        self.name = name
        self.service = service
        self.severity = severity
        self.threshold = threshold
        expression = try NSRegularExpression(pattern: pattern)
    }

    func check(_ line: String) -> Bool {
        let range = NSRange(line.startIndex..., in: line)
        guard expression.firstMatch(in: line, range: range) != nil else { return false }
        streak += 1
        guard streak >= threshold else { return false }
        streak = 0
        return true
    }
}

final class RuleBook {
    private var rules: [String: [AlertRule]] = [:]
    private(set) var count = 0

    /// One rule per line: name;service;severity;threshold;pattern
    init(text: String) throws {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ";", maxSplits: 4).map(String.init)
            guard parts.count == 5, let severity = Severity(rawValue: parts[2]), let threshold = Int(parts[3]) else {
                continue
            }
            let rule = try AlertRule(name: parts[0], service: parts[1], severity: severity,
                                     threshold: threshold, pattern: parts[4])
            rules[rule.service, default: []].append(rule)
            count += 1
        }
    }

    func firing(for service: String, line: String) -> [AlertRule] {
        (rules[service] ?? []).filter { $0.check(line) }
    }
}

func ruleFile() -> String {
    let services = ["edge", "auth", "cart", "billing", "search", "mail", "stock", "pages", "media", "jobs"]
    let patterns = [
        ("timeouts", "warning", 3, "time(d )?out after \\d+ms"), ("errors", "critical", 2, "\\bERROR\\b.*code=5\\d\\d"),
        ("slow", "notice", 4, "took (\\d{4,})ms"), ("disk", "critical", 1, "disk .* (9[5-9]|100)%"),
        ("login", "warning", 5, "login failed for \\w+"), ("queue", "notice", 3, "queue depth [5-9]\\d"),
        ("cert", "warning", 1, "certificate expires in [1-7]d"), ("retry", "notice", 6, "retry \\d of \\d"),
        ("oom", "critical", 1, "killed process \\d+"), ("lag", "warning", 3, "replica lag \\d{2,}s"),
    ]
    return services.flatMap { service in
        patterns.map { "\(service)-\($0.0);\(service);\($0.1);\($0.2);\($0.3)" }
    }.joined(separator: "\n")
}

func logLine(_ serial: Int) -> (service: String, text: String) {
    let services = ["edge", "auth", "cart", "billing", "search", "mail", "stock", "pages", "media", "jobs"]
    let texts = [
        "request \(serial) took \(serial * 13 % 2400)ms", "upstream timed out after \(serial % 900)ms",
        "ERROR handler code=\(serial % 2 == 0 ? 500 : 404)", "disk /var at \(serial % 101)%",
        "login failed for user\(serial % 50)", "queue depth \(serial % 100)", "retry 2 of 5", "replica lag \(serial % 30)s",
    ]
    return (services[serial % services.count], texts[serial * 7 % 8 ^ serial % 3])
}

let book = try RuleBook(text: ruleFile())
var fired: [String: Int] = [:]
var worst = Severity.notice
print("rules \(book.count)")

for round in 0..<110 {
    for slot in 0..<14 {
        let line = logLine(round * 14 + slot)
        for rule in book.firing(for: line.service, line: line.text) {
            fired[rule.name, default: 0] += 1
            worst = max(worst, rule.severity)
        }
    }
    usleep(5_000)
}
let top = fired.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(4)
print("alerts \(fired.values.reduce(0, +)), worst \(worst.rawValue)")
print(top.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
