import Foundation

final class RouterRequest {
    let path: String
    let headers: [String: String]
    var userProfile: String?

    init(path: String, headers: [String: String]) {
        self.path = path
        self.headers = headers
    }
}

final class RouterResponse {
    var status = 0
    private var buffer: [UInt8] = []

    func send(_ text: String, status: Int) {
        self.status = status
        buffer.append(contentsOf: text.utf8)
    }

    var length: Int { buffer.count }
}

protocol CredentialsPlugin {
    func authenticate(_ request: RouterRequest, onPass: (String) -> Void, inProgress: () -> Void)
}

struct TokenPlugin: CredentialsPlugin {
    let header: String
    let accepted: Set<String>

    func authenticate(_ request: RouterRequest, onPass: (String) -> Void, inProgress: () -> Void) {
        if let token = request.headers[header], accepted.contains(token) {
            onPass(token)
        } else {
            inProgress()
        }
    }
}

final class CredentialsMiddleware {
    private var plugins: [any CredentialsPlugin] = []

    func register(_ plugin: any CredentialsPlugin) { plugins.append(plugin) }

    func handle(request: RouterRequest, response: RouterResponse, next: @escaping () -> Void) {
        var position = -1
        var callback: (() -> Void)?
        let step = { [plugins] in
            position += 1
            guard position < plugins.count else {
                response.send("unauthorized", status: 401)
                next()
                return
            }
            plugins[position].authenticate(
                request,
                onPass: { profile in
                    request.userProfile = profile
                    next()
                },
                inProgress: { callback?() })
        }
        callback = step
        step()
    }
}

func serve(_ total: Int, with credentials: CredentialsMiddleware) -> (granted: Int, bytes: Int) {
    var granted = 0
    var bytes = 0
    for index in 0..<total {
        let header = index % 2 == 0 ? "X-Session" : "Authorization"
        let request = RouterRequest(path: "/orders/\(index)", headers: [header: "token-\(index % 5)"])
        let response = RouterResponse()
        credentials.handle(request: request, response: response) {
            if request.userProfile != nil { response.send("order \(index)", status: 200) }
        }
        granted += response.status == 200 ? 1 : 0
        bytes += response.length
        usleep(3_000)
    }
    return (granted, bytes)
}

let credentials = CredentialsMiddleware()
credentials.register(TokenPlugin(header: "X-Session", accepted: ["token-0", "token-2"]))
credentials.register(TokenPlugin(header: "Authorization", accepted: ["token-1", "token-3"]))
let outcome = serve(130, with: credentials)
print("granted \(outcome.granted) of 130, sent \(outcome.bytes) bytes")
