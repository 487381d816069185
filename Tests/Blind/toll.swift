import Foundation

enum TollError: Error {
    case unreadablePlate(Int)
    case accountClosed(String)
}

struct Tariff {
    func price(axles: Int, night: Bool) -> Int {
        let base = 240 + axles * 115
        return night ? base * 3 / 4 : base
    }
}

/// One vehicle on its way through the plaza.
final class Passage {
    let id: Int
    let lane: Int
    let axles: Int
    let photo: [UInt8]
    var plate: String?

    init(id: Int, lane: Int, axles: Int) {
        self.id = id
        self.lane = lane
        self.axles = axles
        self.photo = (0..<96).map { UInt8(truncatingIfNeeded: id &* 31 &+ $0) }
    }
}

final class PlateReader {
    func read(_ passage: Passage) throws -> String {
        let sum = passage.photo.reduce(0) { $0 &+ Int($1) }
        if passage.id % 10 == 3 { throw TollError.unreadablePlate(passage.id) }
        return "K-\(sum % 997)"
    }
}

final class TollPlaza {
    private var open: [Int: Passage] = [:]
    private let reader = PlateReader()
    private let tariff = Tariff()
    private var accounts: [String: Int] = [:]
    private(set) var refused = 0
    private(set) var nextID = 0

    func drive(lane: Int, axles: Int) {
        nextID += 1
        let passage = Passage(id: nextID, lane: lane, axles: axles)
        do {
            try settle(passage)
        } catch {
            refused += 1
        }
    }

    private func settle(_ passage: Passage) throws {
        open[passage.id] = passage
        let plate = try reader.read(passage)
        passage.plate = plate
        try charge(plate, passage)
        open.removeValue(forKey: passage.id)
    }

    private func charge(_ plate: String, _ passage: Passage) throws {
        if passage.id % 10 == 8 { throw TollError.accountClosed(plate) }
        let night = passage.id % 24 < 6
        accounts[plate, default: 0] += tariff.price(axles: passage.axles, night: night)
    }

    var revenue: Int { accounts.values.reduce(0, +) }
    var passages: Int { nextID }
}

let plaza = TollPlaza()
for hour in 0..<30 {
    for vehicle in 0..<30 {
        plaza.drive(lane: vehicle % 4, axles: 2 + (vehicle + hour) % 4)
    }
    usleep(15_000)
}
print("\(plaza.passages) passages, \(plaza.refused) refused, revenue \(plaza.revenue)")
