import Foundation

enum LotState {
    case open, sold, withdrawn
}

final class Lot {
    let id: Int
    let title: String
    let reserve: Int
    var state = LotState.open

    init(id: Int, title: String, reserve: Int) {
        self.id = id
        self.title = title
        self.reserve = reserve
    }
}

final class Saleroom {
    private var lotsByID: [Int: Lot] = [:]
    private var lotsByReserve: [Lot] = []
    private(set) var hammerTotal = 0
    private(set) var withdrawnCount = 0

    func consign(_ lot: Lot) {
        lotsByID[lot.id] = lot
        let position = insertionIndex(for: lot)
        lotsByReserve.insert(lot, at: position)
    }

    func sell(id: Int, hammer: Int) -> Bool {
        guard let lot = lotsByID[id], hammer >= lot.reserve else { return false }
        lot.state = .sold
        hammerTotal += hammer
        lotsByID.removeValue(forKey: id)
        lotsByReserve.removeAll { $0 === lot }
        return true
    }

    func withdraw(id: Int) {
        guard let lot = lotsByID.removeValue(forKey: id) else { return }
        lot.state = .withdrawn
        withdrawnCount += 1
    }

    /// The highest reserve still open, shown on the wall display.
    func headline() -> (title: String, reserve: Int)? {
        guard let lot = lotsByReserve.last(where: { $0.state == .open }) else { return nil }
        return (lot.title, lot.reserve)
    }

    var openCount: Int { lotsByID.count }

    private func insertionIndex(for lot: Lot) -> Int {
        var low = 0
        var high = lotsByReserve.count
        while low < high {
            let middle = (low + high) / 2
            if (lotsByReserve[middle].reserve, lotsByReserve[middle].id) < (lot.reserve, lot.id) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }
}

let categories = ["Longcase clock", "Delft tile panel", "Kilim runner", "Regency settle", "Silver salver"]
let room = Saleroom()
var unsold = 0
var headlines: [String: Int] = [:]

for session in 0..<12 {
    let firstID = session * 100
    for offset in 0..<100 {
        let id = firstID + offset
        let reserve = 150 + (id * 389) % 4700
        let lot = Lot(id: id, title: categories[id % categories.count], reserve: reserve)
        room.consign(lot)
    }
    for offset in 0..<100 {
        let id = firstID + offset
        if let top = room.headline() {
            headlines[top.title, default: 0] += 1
        }
        if offset % 5 == 4 {
            room.withdraw(id: id)
            continue
        }
        let reserve = 150 + (id * 389) % 4700
        if !room.sell(id: id, hammer: reserve + (id * 17) % 300) {
            unsold += 1
        }
    }
}

print("hammer total: \(room.hammerTotal)")
print("withdrawn: \(room.withdrawnCount), open: \(room.openCount), unsold: \(unsold)")
for category in categories {
    print("headline \(category): \(headlines[category] ?? 0)")
}
