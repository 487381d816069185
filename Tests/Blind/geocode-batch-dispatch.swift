// Geocodes a customer list with a limited number of requests in flight.
import Foundation

final class GeocodeRequest: @unchecked Sendable {
    let id: Int
    let address: String
    let submitted: UInt64

    init(id: Int, address: String) {
        self.id = id
        self.address = address
        self.submitted = DispatchTime.now().uptimeNanoseconds
    }
}

struct Coordinate: Hashable {
    let lat: Int
    let lon: Int
}

struct GeocodeBackend: Sendable {
    func locate(_ address: String) -> Coordinate? {
        var hash: UInt64 = 5381
        for byte in address.utf8 { hash = hash &* 33 &+ UInt64(byte) }
        usleep(UInt32(500 + hash % 700))
        if hash % 29 == 0 { return nil }
        return Coordinate(lat: 5800 + Int(hash % 1300), lon: 500 + Int(hash / 7 % 2500))
    }
}

final class GeocodeClient: @unchecked Sendable {
    private let backend = GeocodeBackend()
    private let queue = DispatchQueue(label: "geocode.requests", attributes: .concurrent)
    private let inFlight: DispatchSemaphore
    private let group = DispatchGroup()
    private let lock = NSLock()
    private var pending: [Int: GeocodeRequest] = [:]
    private var cells: [Coordinate: Int] = [:]
    private(set) var located = 0
    private(set) var unknown = 0
    private(set) var peak = 0

    init(limit: Int) { inFlight = DispatchSemaphore(value: limit) }

    func submit(id: Int, address: String) {
        inFlight.wait()
        let request = GeocodeRequest(id: id, address: address)
        lock.lock()
        pending[id] = request
        peak = max(peak, pending.count)
        lock.unlock()
        queue.async(group: group) { [self] in
            let result = backend.locate(request.address)
            complete(request.id, with: result)
            inFlight.signal()
        }
    }

    private func complete(_ id: Int, with coordinate: Coordinate?) {
        lock.lock()
        defer { lock.unlock() }
        guard pending.removeValue(forKey: id) != nil else { return }
        if let coordinate {
            located += 1
            let cell = Coordinate(lat: coordinate.lat / 100, lon: coordinate.lon / 100)
            cells[cell, default: 0] += 1
        } else {
            unknown += 1
        }
    }

    func wait() { group.wait() }

    func busiestCells(_ n: Int) -> [(Coordinate, Int)] {
        lock.lock()
        defer { lock.unlock() }
        return cells.sorted { ($0.value, $0.key.lat, $0.key.lon) > ($1.value, $1.key.lat, $1.key.lon) }
            .prefix(n).map { ($0.key, $0.value) }
    }
}

let client = GeocodeClient(limit: 8)
let streets = ["Storgata", "Kirkeveien", "Havnegata", "Parkveien", "Skolegata"]
for customer in 0..<1500 {
    let street = streets[customer % streets.count]
    client.submit(id: customer, address: "\(street) \(customer % 211 + 1), \(1000 + customer * 7 % 8000)")
}
client.wait()
print("located \(client.located), unknown \(client.unknown), in flight at most \(client.peak)")
for (cell, n) in client.busiestCells(3) {
    print("  cell \(cell.lat)/\(cell.lon): \(n)")
}
