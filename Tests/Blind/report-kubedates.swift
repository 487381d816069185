import Foundation

enum DecodeError: Error {
    case badDate(String)
    case missing(String)
}

struct PodStatus {
    let name: String
    let startedAt: Int
}

/// Reads dates such as 2020-12-31T10:15:00Z, with or without fractions.
final class DateReader {
    private let separators: Set<Character> = ["-", "T", ":", "Z", "."]

    func seconds(from text: String) -> Int? {
        let fields = text.split(whereSeparator: separators.contains).compactMap { Int($0) }
        guard fields.count >= 6 else { return nil }
        let days = fields[0] * 372 + fields[1] * 31 + fields[2]
        return ((days * 24 + fields[3]) * 60 + fields[4]) * 60 + fields[5]
    }
}

final class ManifestDecoder {
    enum DateRule {
        case raw
        case custom((String) throws -> Int)
    }

    var dateRule = DateRule.raw

    func decode(_ manifest: [String: String]) throws -> PodStatus {
        guard let name = manifest["name"] else { throw DecodeError.missing("name") }
        let text = manifest["startedAt"] ?? ""
        switch dateRule {
        case .raw: return PodStatus(name: name, startedAt: Int(text) ?? 0)
        case .custom(let read): return PodStatus(name: name, startedAt: try read(text))
        }
    }
}

final class ClusterClient {
    private let server: String
    private let decoder = ManifestDecoder()
    private var cache: [String: PodStatus] = [:]

    init(server: String) {
        self.server = server
        let plain = DateReader()
        let fractional = DateReader()
        decoder.dateRule = .custom { text in
            let reader = text.contains(".") ? fractional : plain
            guard let value = reader.seconds(from: text) else { throw DecodeError.badDate(text) }
            return value
        }
    }

    func list(_ namespace: String, pods: Int) throws -> [PodStatus] {
        try (0..<pods).map { index in
            let fraction = index % 2 == 0 ? "" : ".250"
            let pod = try decoder.decode([
                "name": "\(namespace)-\(index)@\(server)",
                "startedAt": "2020-12-31T10:\(10 + index % 50):07\(fraction)Z",
            ])
            cache[pod.name] = pod
            return pod
        }
    }
}

func poll(rounds: Int) throws -> Int {
    var newest = 0
    for round in 0..<rounds {
        let client = ClusterClient(server: "node-\(round % 3)")
        let pods = try client.list("jobs", pods: 8)
        newest = max(newest, pods.map(\.startedAt).max() ?? 0)
        usleep(3_500)
    }
    return newest
}

print("110 polls, newest start \(try poll(rounds: 110))")
