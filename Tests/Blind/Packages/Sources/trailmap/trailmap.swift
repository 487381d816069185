import AsyncHTTPClient
import Foundation
import Hummingbird
import Logging

/// A region owns its trails; a trail only looks back at the region it lies in.
final class Region: @unchecked Sendable {
    let name: String
    private(set) var trails: [Trail] = []

    init(name: String) { self.name = name }

    func open(_ trailName: String, metres: Int) {
        trails.append(Trail(name: trailName, metres: metres, region: self))
    }
}

final class Trail: @unchecked Sendable {
    let name: String
    let metres: Int
    weak var region: Region?

    init(name: String, metres: Int, region: Region) {
        self.name = name
        self.metres = metres
        self.region = region
    }

    var label: String { "\(region?.name ?? "?")/\(name) \(metres)m" }
}

/// One hike that a walker plans during a request.
final class HikePlan {
    let budget: Int
    private(set) var legs: [Trail] = []
    lazy var describe: (Trail) -> String = { [unowned self] trail in
        "\(trail.label) (\(trail.metres * 100 / max(1, self.budget))%)"
    }

    init(budget: Int) { self.budget = budget }

    func fill(from regions: [Region]) {
        var left = budget
        for trail in regions.flatMap(\.trails) where trail.metres <= left {
            legs.append(trail)
            left -= trail.metres
        }
    }

    func summary() -> String { legs.map { describe($0) }.joined(separator: "\n") }
}

actor RecentPlans {
    private var entries: [(budget: Int, legs: Int)] = []
    private let limit = 32

    func note(budget: Int, legs: Int) {
        entries.append((budget, legs))
        if entries.count > limit { entries.removeFirst(entries.count - limit) }
    }

    func text() -> String { entries.map { "\($0.budget):\($0.legs)" }.joined(separator: ",") }
}

func surveyRegions() -> [Region] {
    (1...24).map { number in
        let region = Region(name: "valley-\(number)")
        for path in 1...(5 + number % 7) {
            region.open("path-\(path)", metres: 300 * path + 17 * number)
        }
        return region
    }
}

@main
struct TrailMap {
    static func main() async throws {
        let regions = surveyRegions()
        let recent = RecentPlans()
        let router = Router()
        router.get("plan/:budget") { _, context -> String in
            let budget = try context.parameters.require("budget", as: Int.self)
            let plan = HikePlan(budget: budget)
            plan.fill(from: regions)
            await recent.note(budget: budget, legs: plan.legs.count)
            return plan.summary()
        }
        router.get("recent") { _, _ in await recent.text() }

        var logger = Logger(label: "trailmap")
        logger.logLevel = .critical
        let (ports, portsIn) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { portsIn.yield($0.localAddress!.port!) },
            logger: logger
        )

        let service = Task { try await app.run() }
        var port = 0
        for await value in ports {
            port = value
            break
        }
        let plans = try await walkers(port: port)
        try await Task.sleep(for: .milliseconds(650))
        service.cancel()
        _ = await service.result
        print("planned \(plans) hikes in \(regions.count) regions")
    }

    static func walkers(port: Int) async throws -> Int {
        let client = HTTPClient(eventLoopGroupProvider: .singleton)
        let done = try await withThrowingTaskGroup(of: Int.self) { group in
            for walker in 0..<6 {
                group.addTask {
                    var ok = 0
                    for hike in 0..<90 {
                        let request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/plan/\(2000 + 150 * hike + walker)")
                        let response = try await client.execute(request, timeout: .seconds(5))
                        _ = try await response.body.collect(upTo: 1 << 20)
                        ok += response.status == .ok ? 1 : 0
                    }
                    return ok
                }
            }
            return try await group.reduce(0, +)
        }
        try await client.shutdown()
        return done
    }
}
