import Foundation

final class RouteRule {
    let prefix: String
    let weight: Int
    var hits = 0

    init(prefix: String, weight: Int) {
        self.prefix = prefix
        self.weight = weight
    }

    func matches(_ path: String) -> Bool { path.hasPrefix(prefix) }
}

final class GatewayRequest {
    let path: String
    var backend = "default"
    init(path: String) { self.path = path }
}

final class Gateway {
    static let shared = Gateway()
    private var handler: (GatewayRequest) -> Void = { _ in }
    private(set) var handled = 0

    /// Installs the newest rule. A control-plane push arrives every few requests.
    func install(_ rule: RouteRule) {
        let previous = handler
        handler = { request in
            previous(request)
            if rule.matches(request.path) {
                rule.hits += 1
                request.backend = "pool-\(rule.weight)"
            }
        }
    }

    func route(_ path: String) -> String {
        let request = GatewayRequest(path: path)
        handler(request)
        handled += 1
        return request.backend
    }
}

struct ControlPlane {
    private var version = 0

    mutating func nextRule() -> RouteRule {
        version += 1
        return RouteRule(prefix: "/api/v\(version % 3)", weight: version)
    }
}

@main
struct Main {
    static func main() {
        var control = ControlPlane()
        var backends: [String: Int] = [:]
        for _ in 0..<130 {
            Gateway.shared.install(control.nextRule())
            for n in 0..<4 {
                backends[Gateway.shared.route("/api/v\(n)/items"), default: 0] += 1
            }
        }
        print("handled \(Gateway.shared.handled) backends \(backends.count)")
    }
}
