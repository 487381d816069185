import Foundation
import Glibc
import Hummingbird
import Logging
import NIOCore

/// The known facts about a ship while its report is handled.
final class Sighting: @unchecked Sendable {
    let ship: String
    let since = ContinuousClock.now
    var bearing: Int

    init(ship: String, bearing: Int) {
        self.ship = ship
        self.bearing = bearing
    }
}

actor HarbourLog {
    private var inSight: [ObjectIdentifier: Sighting] = [:]
    private var lastBearing: [String: Int] = [:]
    private(set) var reports = 0

    func enter(_ sighting: Sighting) { inSight[ObjectIdentifier(sighting)] = sighting }

    func leave(_ sighting: Sighting) {
        inSight.removeValue(forKey: ObjectIdentifier(sighting))
        lastBearing[sighting.ship] = sighting.bearing
        reports += 1
    }

    func board() -> String { "\(inSight.count) in sight, \(lastBearing.count) known" }
}

struct WatchMiddleware<Context: RequestContext>: RouterMiddleware {
    let log: HarbourLog

    func handle(
        _ request: Request, context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let ship = request.uri.queryParameters.get("ship") ?? "unknown"
        let sighting = Sighting(ship: ship, bearing: request.uri.queryParameters.get("bearing", as: Int.self) ?? 0)
        await log.enter(sighting)
        do {
            let response = try await next(request, context)
            await log.leave(sighting)
            return response
        } catch {
            await log.leave(sighting)
            throw error
        }
    }
}

/// A ship's radio: one blocking socket that stays open until the far end hangs up.
struct Radio {
    let fd: Int32

    init?(port: Int) {
        fd = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(fd, $0, size) }
        }
        guard result == 0 else { return nil }
    }

    func call(_ path: String) {
        let text = "GET \(path) HTTP/1.1\r\nHost: light\r\n\r\n"
        _ = text.withCString { write(fd, $0, strlen($0)) }
    }

    func listen() -> Int {
        var buffer = [UInt8](repeating: 0, count: 2048)
        return read(fd, &buffer, buffer.count)
    }
}

func sail(port: Int) {
    var fleet: [Radio] = []
    for number in 0..<120 {
        guard let radio = Radio(port: port) else { continue }
        for turn in 0..<3 {
            radio.call("/report?ship=ship-\(number)&bearing=\(number * 3 + turn)")
            _ = radio.listen()
        }
        fleet.append(radio)
    }
    for (number, radio) in fleet.prefix(40).enumerated() {
        radio.call("/watch?ship=ship-\(number)&bearing=90")
    }
    usleep(200_000)
    kill(getpid(), SIGTERM)
    while let radio = fleet.last, radio.listen() > 0 {}
}

@main
struct Lighthouse {
    static func main() async throws {
        let log = HarbourLog()
        let router = Router()
        router.add(middleware: WatchMiddleware(log: log))
        router.get("report") { _, _ in await log.board() }
        router.get("watch") { _, _ -> String in
            try await Task.sleep(for: .milliseconds(450))
            return await log.board()
        }

        var logger = Logger(label: "lighthouse")
        logger.logLevel = .critical
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0), serverName: "lighthouse"),
            onServerRunning: { channel in
                let port = channel.localAddress!.port!
                print("ready")
                Thread.detachNewThread { sail(port: port) }
            },
            logger: logger
        )
        try await app.runService()
        print("lamp off after \(await log.reports) reports")
    }
}
