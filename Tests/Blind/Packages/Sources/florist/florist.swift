import FlyingFox
import FlyingSocks
import Foundation
import Glibc

/// A bouquet is tied from stems; the wrapping calls back when the card is printed.
final class Bouquet: @unchecked Sendable {
    let id: Int
    private(set) var stems: [String] = []
    private(set) var card = ""
    var onWrapped: ((Bouquet) -> Void)?

    init(id: Int) { self.id = id }

    func tie(_ stem: String, count: Int) {
        stems.append(contentsOf: repeatElement(stem, count: count))
    }

    func wrap(for name: String) {
        card = "Bouquet \(id) for \(name): \(stems.count) stems"
        onWrapped?(self)
        onWrapped = nil
    }
}

/// Stock is loaded in the morning and stays in memory all day.
actor Shop {
    private var stock: [String: Int] = [:]
    private var window: [Bouquet] = []
    private let windowSize = 12
    private var waiting: [Int: Task<Void, Never>] = [:]
    private(set) var sold = 0

    init(varieties: Int) {
        for number in 0..<varieties { stock["flower-\(number)"] = 4000 }
    }

    func tie(id: Int, name: String) -> Bouquet {
        let bouquet = Bouquet(id: id)
        bouquet.onWrapped = { self.display($0) }
        for number in 0..<3 {
            let flower = "flower-\((id * 3 + number) % stock.count)"
            stock[flower, default: 0] -= 2
            bouquet.tie(flower, count: 2)
        }
        bouquet.wrap(for: name)
        sold += 1
        water(id)
        return bouquet
    }

    private func display(_ bouquet: Bouquet) {
        window.append(bouquet)
        if window.count > windowSize { window.removeFirst() }
    }

    private func water(_ id: Int) {
        waiting[id] = Task { [weak self] in
            try? await Task.sleep(for: .milliseconds(80))
            await self?.watered(id)
        }
    }

    private func watered(_ id: Int) { waiting.removeValue(forKey: id) }

    func closeDown() {
        for task in waiting.values { task.cancel() }
        waiting.removeAll()
    }

    var showcase: String { window.map(\.card).joined(separator: "\n") }
}

final class Customer: @unchecked Sendable {
    private let fd: Int32
    private var buffer = [UInt8](repeating: 0, count: 4096)

    init?(port: UInt16) {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, size) }
        }
        if status != 0 { return nil }
    }

    deinit { close(fd) }

    private func isComplete(_ answer: [UInt8]) -> Bool {
        let text = String(decoding: answer, as: UTF8.self)
        guard let head = text.range(of: "\r\n\r\n") else { return false }
        let length = text[..<head.lowerBound].lowercased().split(separator: "\r\n")
            .first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
        return text[head.upperBound...].utf8.count >= length
    }

    func get(_ path: String) -> Bool {
        let text = "GET \(path) HTTP/1.1\r\nHost: florist\r\n\r\n"
        _ = text.withCString { write(fd, $0, strlen($0)) }
        var answer: [UInt8] = []
        while !isComplete(answer) {
            let count = read(fd, &buffer, buffer.count)
            if count <= 0 { return false }
            answer += buffer.prefix(count)
        }
        return answer[9] == UInt8(ascii: "2")
    }
}

@main
struct Florist {
    static func main() async throws {
        let shop = Shop(varieties: 500)
        let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: 0), logger: .disabled)
        await server.appendRoute("GET /bouquet") { request in
            let id = Int(request.query["id"] ?? "0") ?? 0
            let bouquet = await shop.tie(id: id, name: request.query["name"] ?? "you")
            return HTTPResponse(statusCode: .ok, body: Data(bouquet.card.utf8))
        }
        await server.appendRoute("GET /window") { _ in
            HTTPResponse(statusCode: .ok, body: Data(await shop.showcase.utf8))
        }
        let running = Task { try await server.run() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port)? = await server.listeningAddress else { return }

        let happy = await withCheckedContinuation { (done: CheckedContinuation<Int, Never>) in
            Thread.detachNewThread {
                let queue = (0..<15).compactMap { _ in Customer(port: port) }
                var count = 0
                for round in 0..<12 {
                    for (place, customer) in queue.enumerated() {
                        if customer.get("/bouquet?id=\(round * 15 + place)&name=c\(place)") { count += 1 }
                    }
                    _ = queue.first?.get("/window")
                }
                done.resume(returning: count)
            }
        }
        try await Task.sleep(for: .milliseconds(300))
        print("\(happy) of \(await shop.sold) customers happy")
        await shop.closeDown()
        await server.stop(timeout: 1)
        _ = await running.result
    }
}
