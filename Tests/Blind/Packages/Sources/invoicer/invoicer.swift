import FlyingFox
import FlyingSocks
import Foundation

struct Order {
    let number: Int
    let lines: [(article: String, amount: Int, cents: Int)]
}

final class SectionRenderer {
    let builder: InvoiceBuilder
    let title: String
    private var rows: [String] = []

    init(builder: InvoiceBuilder, title: String) {
        self.builder = builder
        self.title = title
    }

    func add(_ row: String) { rows.append(builder.indent + row) }

    func render() -> String { ([title] + rows).joined(separator: "\n") }
}

final class InvoiceBuilder {
    let order: Order
    let indent = "  "
    private var sections: [SectionRenderer] = []

    init(order: Order) { self.order = order }

    func section(_ title: String) -> SectionRenderer {
        let renderer = SectionRenderer(builder: self, title: title)
        sections.append(renderer)
        return renderer
    }

    func build() -> String {
        let head = section("Invoice \(order.number)")
        head.add("Customer \(order.number % 37)")
        let body = section("Articles")
        var total = 0
        for line in order.lines {
            total += line.amount * line.cents
            body.add("\(line.amount) x \(line.article)  \(line.cents * line.amount)")
        }
        let foot = section("Total")
        foot.add("\(total / 100).\(total % 100)")
        return sections.map { $0.render() }.joined(separator: "\n\n")
    }
}

actor Ledger {
    private var totals: [Int: Int] = [:]
    private(set) var count = 0

    func order(_ number: Int) -> Order {
        count += 1
        totals[number % 37, default: 0] += 1
        return Order(number: number, lines: (0..<(1 + number % 6)).map { ("article-\($0)", 1 + $0, 199 * ($0 + 1)) })
    }
}

/// The bookkeeper's terminals talk plain HTTP over a kept connection.
final class Terminal: @unchecked Sendable {
    private let fd: Int32

    init(port: UInt16) {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    deinit { close(fd) }

    func fetch(_ path: String) -> Int {
        let head = "GET \(path) HTTP/1.1\r\nHost: books\r\nConnection: keep-alive\r\n\r\n"
        _ = head.withCString { Glibc.send(fd, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        var text = ""
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let n = recv(fd, &chunk, chunk.count, 0)
            if n <= 0 { return text.utf8.count }
            text += String(decoding: chunk[0..<n], as: UTF8.self)
            guard let end = text.range(of: "\r\n\r\n"),
                  let field = text.range(of: "content-length: ", options: .caseInsensitive) else { continue }
            let expected = Int(text[field.upperBound...].prefix { $0.isNumber }) ?? 0
            if text[end.upperBound...].utf8.count >= expected { return text.utf8.count }
        }
    }
}

@main
struct Invoicer {
    static func main() async throws {
        let ledger = Ledger()
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
        await server.appendRoute("GET /invoice/:number") { (request: HTTPRequest, number: Int) in
            let builder = InvoiceBuilder(order: await ledger.order(number))
            return HTTPResponse(statusCode: .ok, body: Data(builder.build().utf8))
        }
        await server.appendRoute("GET /health") { _ in HTTPResponse(statusCode: .ok, body: Data("fine".utf8)) }
        let running = Task { try await server.run() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port)? = await server.listeningAddress else { exit(1) }
        let bytes = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var sum = 0
                let terminals = (0..<6).map { _ in Terminal(port: port) }
                for month in 0..<25 {
                    for (index, terminal) in terminals.enumerated() {
                        sum += terminal.fetch("/invoice/\(month * 100 + index)")
                    }
                    sum += terminals[month % 6].fetch("/health")
                }
                continuation.resume(returning: sum)
            }
        }
        try await Task.sleep(for: .milliseconds(400))
        await server.stop(timeout: 1)
        _ = try? await running.value
        print("invoices \(await ledger.count), bytes > 0: \(bytes > 0)")
    }
}
