import Foundation

protocol ParserDelegate: AnyObject {
    func onPath(_ path: String)
    func onHeader(_ name: String, _ value: String)
    func onComplete()
}

final class MessageParser {
    private var delegate: (any ParserDelegate)?

    func attach(_ delegate: any ParserDelegate) { self.delegate = delegate }
    func detach() { delegate = nil }

    func execute(_ text: String) {
        let lines = text.split(separator: "\n")
        guard let first = lines.first else { return }
        delegate?.onPath(String(first.split(separator: " ")[1]))
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 { delegate?.onHeader(String(parts[0]), String(parts[1])) }
        }
        delegate?.onComplete()
    }
}

final class IncomingMessage: ParserDelegate {
    private var parser: MessageParser?
    private(set) var path = ""
    private(set) var headers: [String: String] = [:]
    private(set) var isComplete = false

    func prepare() {
        if parser == nil {
            let parser = MessageParser()
            parser.attach(self)
            self.parser = parser
        }
        headers.removeAll()
        isComplete = false
    }

    func consume(_ text: String) { parser?.execute(text) }

    func freeParser() {
        parser?.detach()
        parser = nil
    }

    func onPath(_ path: String) { self.path = path }
    func onHeader(_ name: String, _ value: String) { headers[name] = value }
    func onComplete() { isComplete = true }
}

final class SocketProcessor {
    private let request = IncomingMessage()
    private var requestsLeft: Int
    private(set) var isOpen = true

    init(keepAliveLimit: Int) {
        requestsLeft = keepAliveLimit
        request.prepare()
    }

    func process(_ text: String) -> Bool {
        guard isOpen else { return false }
        request.consume(text)
        requestsLeft -= 1
        let wantsClose = request.headers["Connection"]?.contains("close") ?? false
        if wantsClose || requestsLeft == 0 {
            close()
        } else {
            request.prepare()
        }
        return true
    }

    func close() {
        isOpen = false
        request.freeParser()
    }
}

func handleConnections(_ total: Int) -> Int {
    var served = 0
    for number in 0..<total {
        let socket = SocketProcessor(keepAliveLimit: 4)
        for step in 0..<(number % 6 + 1) {
            let close = number % 3 == 0 && step == 2
            let text = "GET /item/\(step) HTTP/1.1\nHost: shop\nConnection: \(close ? "close" : "keep-alive")\n"
            if socket.process(text) { served += 1 }
        }
        if socket.isOpen { socket.close() }
        usleep(3_000)
    }
    return served
}

print("150 connections, \(handleConnections(150)) requests")
