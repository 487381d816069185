import Foundation

final class Host: @unchecked Sendable {
    let name: String
    let region: String
    init(name: String, region: String) {
        self.name = name
        self.region = region
    }
}

final class ProbeAttempt: @unchecked Sendable {
    let host: Host
    let number: Int
    let packet: [UInt8]
    init(host: Host, number: Int) {
        self.host = host
        self.number = number
        self.packet = [UInt8](repeating: UInt8(number), count: 512)
    }
}

final class ProbeResult: @unchecked Sendable {
    let host: Host
    let round: Int
    let latency: Int
    let attempts: Int
    init(host: Host, round: Int, latency: Int, attempts: Int) {
        self.host = host
        self.round = round
        self.latency = latency
        self.attempts = attempts
    }
}

struct Prober: Sendable {
    func probe(_ host: Host, round: Int, seed: Int) async -> ProbeResult? {
        for number in 1...3 {
            let attempt = ProbeAttempt(host: host, number: number)
            try? await Task.sleep(nanoseconds: 1_000_000)
            if (seed + number) % 4 != 0 {
                let latency = 5 + (seed * 13 + attempt.packet.count) % 90
                return ProbeResult(host: host, round: round, latency: latency, attempts: number)
            }
        }
        return nil
    }
}

final class AvailabilityReport: @unchecked Sendable {
    private var results: [ProbeResult] = []
    func add(_ batch: [ProbeResult]) { results.append(contentsOf: batch) }

    func render() -> [String] {
        let byRegion = Dictionary(grouping: results) { $0.host.region }
        return byRegion.keys.sorted().map { region in
            let rows = byRegion[region]!.sorted { $0.latency < $1.latency }
            let median = rows[rows.count / 2].latency
            let retried = rows.filter { $0.attempts > 1 }.count
            return "\(region): \(rows.count) samples, median \(median) ms, retried \(retried)"
        }
    }
}

@main
struct BatchProbeApp {
    static let report = AvailabilityReport()

    static func main() async {
        let regions = ["eu", "us", "ap"]
        let hosts = (0..<30).map { Host(name: "edge-\($0)", region: regions[$0 % 3]) }
        let prober = Prober()
        for round in 0..<40 {
            let batch = await withTaskGroup(of: ProbeResult?.self) { group in
                for (n, host) in hosts.enumerated() {
                    group.addTask { await prober.probe(host, round: round, seed: round * 31 + n) }
                }
                var collected: [ProbeResult] = []
                for await result in group { if let result { collected.append(result) } }
                return collected
            }
            report.add(batch)
            try? await Task.sleep(nanoseconds: 15_000_000)
        }
        for line in report.render() { print(line) }
    }
}
