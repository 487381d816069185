import Foundation

struct Credentials: Equatable {
    let user: String
    let secret: String
}

final class AuthHelper {
    private let request: WebRequest
    private var cached: Credentials?

    init(request: WebRequest) {
        self.request = request
    }

    var credentials: Credentials? {
        if let cached { return cached }
        guard let value = request.headers["Authorization"], value.hasPrefix("Basic "),
            let data = Data(base64Encoded: String(value.dropFirst(6))),
            let text = String(data: data, encoding: .utf8)
        else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        cached = Credentials(user: parts[0], secret: parts[1])
        return cached
    }
}

final class WebRequest {
    let path: String
    let headers: [String: String]
    var body: [UInt8]
    var storage: [String: Any] = [:]

    init(path: String, headers: [String: String], body: [UInt8]) {
        self.path = path
        self.headers = headers
        self.body = body
    }

    var auth: AuthHelper {
        if let existing = storage["auth:helper"] as? AuthHelper { return existing }
        let helper = AuthHelper(request: self)
        storage["auth:helper"] = helper
        return helper
    }
}

struct Router {
    let users: Set<String>

    func respond(to request: WebRequest) -> Int {
        guard request.path.hasPrefix("/admin") else { return 200 }
        guard let credentials = request.auth.credentials else { return 401 }
        return users.contains(credentials.user) ? 200 : 403
    }
}

func makeRequest(_ index: Int) -> WebRequest {
    let protected = index % 5 < 3
    let token = Data("user\(index % 7):pw".utf8).base64EncodedString()
    return WebRequest(
        path: protected ? "/admin/upload" : "/public",
        headers: protected ? ["Authorization": "Basic \(token)"] : [:],
        body: [UInt8](repeating: UInt8(index % 256), count: 2_048))
}

func serve() {
    let router = Router(users: ["user0", "user1", "user2", "user3"])
    var codes: [Int: Int] = [:]
    for index in 0..<160 {
        let request = makeRequest(index)
        codes[router.respond(to: request), default: 0] += 1
        usleep(2_500)
    }
    let summary = codes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    print("handled 160 requests:", summary.joined(separator: " "))
}

serve()
