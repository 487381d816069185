import Foundation

final class Lease {
    let number: Int
    let product: String
    let holder: String
    private(set) var expires: Int

    init(number: Int, product: String, holder: String, expires: Int) {
        self.number = number
        self.product = product
        self.holder = holder
        self.expires = expires
    }

    func renew(until second: Int) { expires = max(expires, second) }
}

final class LeaseServer {
    private var leases: [Int: Lease] = [:]
    private var perProduct: [String: Set<Int>] = [:]
    private let seats: [String: Int]
    private var serial = 0
    private(set) var granted = 0, denied = 0, returned = 0, swept = 0

    init(seats: [String: Int]) { self.seats = seats }

    func checkout(_ product: String, holder: String, now: Int, seconds: Int) -> Int? {
        guard perProduct[product, default: []].count < seats[product, default: 0] else {
            denied += 1
            return nil
        }
        serial += 1
        leases[serial] = Lease(number: serial, product: product, holder: holder, expires: now + seconds)
        perProduct[product, default: []].insert(serial)
        granted += 1
        return serial
    }

    func heartbeat(_ number: Int, now: Int, seconds: Int) -> Bool {
        guard let lease = leases[number] else { return false }
        lease.renew(until: now + seconds)
        return true
    }

    func giveBack(_ number: Int) {
        if discard(number) { returned += 1 }
    }

    func sweep(now: Int) {
        let expired = leases.values.filter { $0.expires <= now }
        for lease in expired where discard(lease.number) {
            swept += 1
        }
    }

    private func discard(_ number: Int) -> Bool {
        guard let lease = leases.removeValue(forKey: number) else { return false }
        perProduct[lease.product]?.remove(number)
        return true
    }

    var active: Int { leases.count }
}

struct Client {
    let host: String
    let crashes: Bool
    var lease: Int?
    var busyUntil = 0
}

let server = LeaseServer(seats: ["cad-pro": 18, "fem-solver": 6, "render-farm": 30])
let products = ["cad-pro", "fem-solver", "render-farm"]
var clients = (0..<64).map { Client(host: "ws\($0)", crashes: $0 % 5 == 3) }
var beats = 0
var seed: UInt32 = 31
func die(_ n: UInt32) -> Int {
    seed = seed &* 22695477 &+ 1
    return Int((seed >> 16) % n)
}

for second in stride(from: 0, to: 14400, by: 10) {
    for i in clients.indices {
        if let lease = clients[i].lease {
            if second >= clients[i].busyUntil {
                if !clients[i].crashes { server.giveBack(lease) }
                clients[i].lease = nil
            } else if server.heartbeat(lease, now: second, seconds: 60) {
                beats += 1
            }
        } else if second < 13800 && die(8) == 0 {
            let product = products[die(3)]
            clients[i].lease = server.checkout(product, holder: clients[i].host, now: second, seconds: 60)
            clients[i].busyUntil = second + 60 + die(400)
        }
    }
    if second % 30 == 0 { server.sweep(now: second) }
}

print("granted \(server.granted), denied \(server.denied)")
print("returned \(server.returned), swept \(server.swept), active \(server.active)")
print("heartbeats \(beats)")
