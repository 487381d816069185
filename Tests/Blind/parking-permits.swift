import Foundation

final class Permit {
    let plate: String
    let zone: Int
    let issued: Int
    let expires: Int
    var ended: Int?
    var revoked = false

    init(plate: String, zone: Int, issued: Int, expires: Int) {
        self.plate = plate
        self.zone = zone
        self.issued = issued
        self.expires = expires
    }

    var feeCents: Int {
        let days = (ended ?? expires) - issued
        return days * (zone == 0 ? 180 : 110)
    }
}

final class PermitOffice {
    private var activeByPlate: [String: Permit] = [:]
    private var activeByZone: [[Permit]]
    private var archive: [Permit] = []

    init(zones: Int) {
        activeByZone = Array(repeating: [], count: zones)
    }

    func issue(plate: String, zone: Int, today: Int, days: Int) -> Bool {
        if activeByPlate[plate] != nil { return false }
        let permit = Permit(plate: plate, zone: zone, issued: today, expires: today + days)
        activeByPlate[plate] = permit
        activeByZone[zone].append(permit)
        return true
    }

    func revoke(plate: String, today: Int) {
        guard let permit = activeByPlate[plate] else { return }
        permit.revoked = true
        close(permit, on: today)
    }

    func expire(today: Int) {
        for zone in activeByZone.indices {
            let over = activeByZone[zone].filter { $0.expires <= today }
            for permit in over { close(permit, on: permit.expires) }
        }
    }

    private func close(_ permit: Permit, on day: Int) {
        permit.ended = day
        activeByPlate[permit.plate] = nil
        activeByZone[permit.zone].removeAll { $0 === permit }
        archive.append(permit)
    }

    func occupancy(zone: Int) -> Int { activeByZone[zone].count }

    /// Revenue and revocations per zone for the council's annual statement.
    func statement() -> [(zone: Int, permits: Int, revenue: Int, revoked: Int)] {
        activeByZone.indices.map { zone in
            let closed = archive.filter { $0.zone == zone }
            return (zone, closed.count, closed.reduce(0) { $0 + $1.feeCents }, closed.filter(\.revoked).count)
        }
    }

    func longestStay() -> Permit? {
        archive.max { ($0.ended! - $0.issued, $1.plate) < ($1.ended! - $1.issued, $0.plate) }
    }
}

let office = PermitOffice(zones: 4)
var turnedAway = 0
var busiest = 0

for day in 0..<365 {
    for desk in 0..<4 {
        let number = (day * 4 + desk) % 700
        let plate = String(format: "KD-%03d", number)
        if !office.issue(plate: plate, zone: number % 4, today: day, days: 14 + (number * 7) % 40) {
            turnedAway += 1
        }
    }
    if day % 6 == 5 {
        office.revoke(plate: String(format: "KD-%03d", (day * 4) % 700), today: day)
    }
    office.expire(today: day)
    busiest = max(busiest, office.occupancy(zone: 0))
}
office.expire(today: 500)

print("turned away: \(turnedAway), busiest zone 0 day: \(busiest)")
for line in office.statement() {
    print("zone \(line.zone): \(line.permits) permits, \(line.revenue) ct, \(line.revoked) revoked")
}
if let longest = office.longestStay() {
    print("longest: \(longest.plate), \(longest.ended! - longest.issued) days")
}
