import Foundation

final class CabinHold {
    let vessel: String
    let cabin: Int
    let passengers: Int
    private(set) var confirmed = false

    init(vessel: String, cabin: Int, passengers: Int) {
        self.vessel = vessel
        self.cabin = cabin
        self.passengers = passengers
    }

    func confirm() { confirmed = true }
    var fareCents: Int { 4_900 + passengers * 2_150 + (cabin < 40 ? 1_500 : 0) }
}

final class HoldRegistry {
    private var holds: [String: CabinHold] = [:]
    private(set) var registered = 0

    func register(_ hold: CabinHold, forKey key: String) {
        holds[key] = hold
        registered += 1
    }

    func release(key: String) {
        holds.removeValue(forKey: key)
    }

    func isHeld(key: String) -> Bool {
        holds[key] != nil
    }
}

struct Sailing {
    let vessel: String
    let cabins: Int
    let departure: String
}

struct Voucher {
    let code: String
    let cents: Int
}

func deckPlanKey(_ vessel: String, _ cabin: Int) -> String {
    String(format: "%@/%03d", vessel, cabin)
}

let registry = HoldRegistry()
let sailings = [
    Sailing(vessel: "Selkie", cabins: 240, departure: "06:40"),
    Sailing(vessel: "Guillemot", cabins: 180, departure: "11:15"),
    Sailing(vessel: "Northern Lass", cabins: 310, departure: "21:30"),
]

var revenue = 0
var passengers = 0
var doubleBooked = 0
var vouchers: [Voucher] = []

for sailing in sailings {
    for cabin in 1...sailing.cabins {
        let key = deckPlanKey(sailing.vessel, cabin)
        if registry.isHeld(key: key) {
            doubleBooked += 1
            continue
        }
        let hold = CabinHold(vessel: sailing.vessel, cabin: cabin, passengers: 1 + (cabin * 7) % 4)
        registry.register(hold, forKey: key)
        hold.confirm()
        revenue += hold.fareCents
        passengers += hold.passengers
        if cabin % 60 == 0 {
            vouchers.append(Voucher(code: "\(sailing.departure)-\(cabin)", cents: hold.fareCents / 10))
        }
        registry.release(key: "\(sailing.vessel)/\(cabin)")
    }
    print("\(sailing.vessel) \(sailing.departure): running total \(revenue) ct")
}

print("holds registered: \(registry.registered), double booked: \(doubleBooked)")
print("passengers: \(passengers)")
print("vouchers: " + vouchers.map { "\($0.code)=\($0.cents)" }.joined(separator: " "))
