// Access control for an intranet portal. Rules are evaluated per request.
import Foundation

struct RequestContext: Hashable {
    let user: String
    let resource: String
    let verb: String
    let requestID: UInt32
}

final class AccessDecision {
    let allowed: Bool
    let matchedRule: String
    let checked: Int

    init(allowed: Bool, matchedRule: String, checked: Int) {
        self.allowed = allowed
        self.matchedRule = matchedRule
        self.checked = checked
    }
}

struct Rule {
    let name: String
    let roles: Set<String>
    let prefix: String
    let verbs: Set<String>
}

final class PolicyEngine {
    private let rules: [Rule]
    private let roles: [String: String]
    private var decisions: [RequestContext: AccessDecision] = [:]
    private(set) var evaluations = 0

    init(rules: [Rule], roles: [String: String]) {
        self.rules = rules
        self.roles = roles
    }

    func decide(_ context: RequestContext) -> AccessDecision {
        if let decision = decisions[context] { return decision }
        let decision = evaluate(context)
        decisions[context] = decision
        return decision
    }

    private func evaluate(_ context: RequestContext) -> AccessDecision {
        evaluations += 1
        let role = roles[context.user] ?? "guest"
        var checked = 0
        var matched: String?
        for rule in rules {
            checked += 1
            guard rule.roles.contains(role), rule.verbs.contains(context.verb) else { continue }
            if context.resource.hasPrefix(rule.prefix) {
                matched = rule.name
                break
            }
        }
        return AccessDecision(allowed: matched != nil, matchedRule: matched ?? "default-deny", checked: checked)
    }
}

let rules = [
    Rule(name: "staff-read", roles: ["staff", "admin"], prefix: "/hr", verbs: ["GET"]),
    Rule(name: "admin-all", roles: ["admin"], prefix: "/", verbs: ["GET", "PUT", "DELETE"]),
    Rule(name: "public", roles: ["guest", "staff", "admin"], prefix: "/news", verbs: ["GET"]),
]
var roles: [String: String] = [:]
for i in 0..<30 {
    roles["u\(i)"] = i % 10 == 0 ? "admin" : (i % 3 == 0 ? "guest" : "staff")
}

let engine = PolicyEngine(rules: rules, roles: roles)
let resources = ["/hr/leave", "/hr/payroll", "/news/today", "/news/archive", "/it/tickets", "/it/assets"]
let verbs = ["GET", "PUT"]
var allowed = 0
var denied = 0
var byRule: [String: Int] = [:]

for request in 0..<2000 {
    let context = RequestContext(
        user: "u\(request % 30)",
        resource: resources[request / 7 % resources.count],
        verb: verbs[request / 11 % 2],
        requestID: UInt32(request))
    let first = engine.decide(context)
    let second = engine.decide(context)   // the view layer asks again while rendering
    if second.allowed { allowed += 1 } else { denied += 1 }
    byRule[first.matchedRule, default: 0] += 1
    if request % 100 == 0 { usleep(4000) }
}

print("requests: 2000, allowed: \(allowed), denied: \(denied), evaluations: \(engine.evaluations)")
for (rule, n) in byRule.sorted(by: { $0.key < $1.key }) {
    print("  \(rule): \(n)")
}
