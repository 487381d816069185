import Foundation
import Dispatch

enum Endpoint: String, CaseIterable {
    case search = "/search", cart = "/cart", checkout = "/checkout"
}

final class Sample {
    let endpoint: Endpoint
    let micros: Int
    let status: Int
    let note: String

    init(endpoint: Endpoint, micros: Int, status: Int, note: String) {
        self.endpoint = endpoint
        self.micros = micros
        self.status = status
        self.note = note
    }
}

/// Samples in ascending order of latency.
final class SampleBook {
    private var ordered: [Sample] = []
    private let queue = DispatchQueue(label: "probe.samples")

    func insert(_ sample: Sample) {
        queue.sync {
            var low = 0
            var high = ordered.count
            while low < high {
                let middle = (low + high) / 2
                if ordered[middle].micros <= sample.micros { low = middle + 1 } else { high = middle }
            }
            ordered.insert(sample, at: low)
        }
    }

    func report() -> [String] {
        queue.sync {
            Endpoint.allCases.map { endpoint in
                let mine = ordered.filter { $0.endpoint == endpoint }
                let failures = mine.filter { $0.status >= 500 }.count
                let median = mine[mine.count / 2].micros
                let tail = mine[mine.count * 99 / 100].micros
                let notes = mine.reduce(0) { $0 + $1.note.utf8.count }
                return "\(endpoint.rawValue) n=\(mine.count) p50=\(median) p99=\(tail) failed=\(failures) notes=\(notes)"
            }
        }
    }
}

struct FakeService {
    func answer(_ endpoint: Endpoint, request: Int) -> (micros: Int, status: Int) {
        var hash = UInt64(request) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        let base: Int
        switch endpoint {
        case .search: base = 1_800
        case .cart: base = 900
        case .checkout: base = 4_200
        }
        let jitter = Int(hash % 1_500)
        let slow = request % 97 == 0 ? 30_000 : 0
        return (base + jitter + slow, request % 131 == 0 ? 503 : 200)
    }
}

final class VirtualUser {
    let number: Int
    private let service: FakeService
    private let book: SampleBook

    init(number: Int, service: FakeService, book: SampleBook) {
        self.number = number
        self.service = service
        self.book = book
    }

    func visit(round: Int) {
        for (step, endpoint) in Endpoint.allCases.enumerated() {
            let request = (round * 5 + number) * 3 + step
            let (micros, status) = service.answer(endpoint, request: request)
            book.insert(Sample(
                endpoint: endpoint, micros: micros, status: status,
                note: "user \(number) round \(round) request \(request)"))
        }
    }
}

let book = SampleBook()
let service = FakeService()
for round in 0..<100 {
    let group = DispatchGroup()
    for number in 0..<5 {
        let user = VirtualUser(number: number, service: service, book: book)
        DispatchQueue.global().async(group: group) {
            user.visit(round: round)
        }
    }
    group.wait()
    usleep(6000)
}
let lines = book.report()
print(lines.joined(separator: "; "))
