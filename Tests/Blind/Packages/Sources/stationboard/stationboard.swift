import Foundation
import Hummingbird
import Logging
import NIOConcurrencyHelpers

final class Station: Sendable {
    let code: Int
    let name: String
    let platforms: [String]
    init(code: Int, name: String, platforms: Int) {
        self.code = code
        self.name = name
        self.platforms = (1...platforms).map { "\(name) / \($0)" }
    }
}

final class Board: Sendable {
    let station: Station
    let rows: [String]
    init(station: Station) {
        self.station = station
        rows = (0..<8).map { "\(10 + $0):\($0 * 7 % 60) \(station.platforms[$0 % station.platforms.count])" }
    }
}

/// At most `capacity` rendered boards; the oldest one goes first.
final class BoardCache: Sendable {
    private let capacity: Int
    private let state = NIOLockedValueBox((boards: [Int: Board](), order: [Int]()))
    init(capacity: Int) { self.capacity = capacity }

    func board(for station: Station) -> Board {
        state.withLockedValue { state in
            if let board = state.boards[station.code] { return board }
            let board = Board(station: station)
            state.boards[station.code] = board
            state.order.append(station.code)
            if state.order.count > capacity { state.boards[state.order.removeFirst()] = nil }
            return board
        }
    }
}

final class Viewer: @unchecked Sendable {
    let id: Int
    let station: Station
    private let sent = NIOLockedValueBox(0)
    init(id: Int, station: Station) {
        self.id = id
        self.station = station
    }
    func didSend() { sent.withLockedValue { $0 += 1 } }
}

final class ViewerList: Sendable {
    private let state = NIOLockedValueBox((next: 0, viewers: [Int: Viewer](), perStation: [Int: Set<Int>]()))

    func add(_ station: Station) -> Viewer {
        state.withLockedValue { state in
            state.next += 1
            let viewer = Viewer(id: state.next, station: station)
            state.viewers[viewer.id] = viewer
            state.perStation[station.code, default: []].insert(viewer.id)
            return viewer
        }
    }

    func remove(_ viewer: Viewer) {
        state.withLockedValue { state in
            state.viewers[viewer.id] = nil
            state.perStation[viewer.station.code]?.remove(viewer.id)
            if state.perStation[viewer.station.code]?.isEmpty == true { state.perStation[viewer.station.code] = nil }
        }
    }

    var served: Int { state.withLockedValue { $0.next } }
}

func connectTo(_ port: Int) -> Int32 {
    let fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    _ = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    return fd
}

func ask(_ fd: Int32, _ path: String, waitFor marker: String?) {
    let head = "GET \(path) HTTP/1.1\r\nHost: board\r\n\r\n"
    _ = head.withCString { Glibc.send(fd, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    guard let marker else { return }
    var text = ""
    var chunk = [UInt8](repeating: 0, count: 4096)
    while !text.contains(marker) {
        let n = recv(fd, &chunk, chunk.count, 0)
        if n <= 0 { return }
        text += String(decoding: chunk[0..<n], as: UTF8.self)
    }
}

func passengers(port: Int) {
    var screens = (0..<120).map { _ in connectTo(port) }
    for round in 0..<6 {
        for (index, screen) in screens.enumerated() {
            ask(screen, "/board/\((round * 120 + index) % 500)", waitFor: "--end--")
        }
        if round == 3 {
            for index in stride(from: 0, to: 120, by: 3) {
                close(screens[index])
                screens[index] = connectTo(port)
            }
        }
    }
    for screen in screens[0..<30] { ask(screen, "/follow/\(screen % 40)/2", waitFor: "0\r\n\r\n") }
    for screen in screens[0..<40] { ask(screen, "/follow/\(screen % 40)/14", waitFor: nil) }
    for screen in screens[40..<80] { ask(screen, "/route/\(screen)", waitFor: nil) }
    Thread.sleep(forTimeInterval: 0.25)
    kill(getpid(), SIGTERM)
    Thread.sleep(forTimeInterval: 10)
}

@main
struct StationBoard {
    static func main() async throws {
        let stations = (0..<500).map { Station(code: $0, name: "Station \($0)", platforms: 2 + $0 % 6) }
        let cache = BoardCache(capacity: 64)
        let viewers = ViewerList()
        let router = Router()
        router.get("board/:code") { _, context -> String in
            let code = try context.parameters.require("code", as: Int.self)
            return (cache.board(for: stations[code % stations.count]).rows + ["--end--"]).joined(separator: "\n")
        }
        router.get("route/:code") { _, _ -> String in
            try await Task.sleep(for: .milliseconds(600))
            return "no route"
        }
        router.get("follow/:code/:updates") { _, context -> Response in
            let code = try context.parameters.require("code", as: Int.self)
            let updates = try context.parameters.require("updates", as: Int.self)
            let station = stations[code % stations.count]
            return Response(status: .ok, body: .init { writer in
                let viewer = viewers.add(station)
                defer { viewers.remove(viewer) }
                for update in 0..<updates {
                    try await writer.write(ByteBuffer(string: "\(station.name) update \(update)\n"))
                    viewer.didSend()
                    if update > 1 { try await Task.sleep(for: .milliseconds(60)) }
                }
                try await writer.finish(nil)
            })
        }
        var logger = Logger(label: "stationboard")
        logger.logLevel = .error
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                print("ready")
                let port = channel.localAddress!.port!
                Thread.detachNewThread { passengers(port: port) }
            },
            logger: logger
        )
        try await app.runService()
        print("followed \(viewers.served)")
    }
}
