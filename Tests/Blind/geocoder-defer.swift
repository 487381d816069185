import Foundation

final class PendingLookup: Sendable {
    let address: String
    let tokens: [Substring]
    init(address: String) {
        self.address = address
        tokens = address.split(separator: " ")
    }
}

enum GeoError: Error { case notFound(String) }

actor Geocoder {
    static let shared = Geocoder()
    private var pending: [Int: PendingLookup] = [:]
    private var serial = 0
    private(set) var found = 0
    private(set) var peak = 0

    func locate(_ address: String) async throws -> (Double, Double) {
        serial += 1
        let id = serial
        let lookup = PendingLookup(address: address)
        pending[id] = lookup
        defer { pending[id] = nil }
        peak = max(peak, pending.count)
        try await Task.sleep(for: .milliseconds(4 + id % 5))
        guard lookup.tokens.count > 2 else { throw GeoError.notFound(address) }
        found += 1
        return (Double(id) / 10, Double(address.count))
    }

    var waiting: Int { pending.count }
}

func geocode(_ addresses: [String]) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
        for address in addresses {
            group.addTask {
                do {
                    _ = try await Geocoder.shared.locate(address)
                    return true
                } catch {
                    return false
                }
            }
        }
        var missing = 0
        for await ok in group where !ok { missing += 1 }
        return missing
    }
}

@main
struct RoutePlanner {
    static func main() async throws {
        var missing = 0
        for round in 0..<6 {
            let addresses = (0..<50).map { n in
                n % 5 == 0 ? "Nowhere \(n)" : "Main Street \(n) Town\(round)"
            }
            let job = Task { await geocode(addresses) }
            if round == 3 { job.cancel() }
            missing += await job.value
            try await Task.sleep(for: .milliseconds(15))
        }
        print("found \(await Geocoder.shared.found), missing \(missing), pending \(await Geocoder.shared.waiting)")
    }
}
