import Foundation

enum VehicleKind: String, CaseIterable {
    case car, van, truck, bus
    var factor: Double {
        switch self {
        case .car: return 1.0
        case .van: return 1.4
        case .truck: return 2.8
        case .bus: return 2.1
        }
    }
}

final class Passage {
    let gantry: Int
    let minute: Int
    let price: Double
    init(gantry: Int, minute: Int, price: Double) {
        self.gantry = gantry
        self.minute = minute
        self.price = price
    }
}

final class Account {
    let plate: String
    let kind: VehicleKind
    private(set) var passages: [Passage] = []
    var discount = 0.0

    init(plate: String, kind: VehicleKind) {
        self.plate = plate
        self.kind = kind
    }

    func charge(_ passage: Passage) {
        passages.append(passage)
    }

    var amount: Double {
        passages.reduce(0) { $0 + $1.price } * (1 - discount)
    }
}

final class Detection {
    let plate: String
    let kind: VehicleKind
    let gantry: Int
    let minute: Int
    let confidence: Double
    init(plate: String, kind: VehicleKind, gantry: Int, minute: Int, confidence: Double) {
        self.plate = plate
        self.kind = kind
        self.gantry = gantry
        self.minute = minute
        self.confidence = confidence
    }
}

final class Gantry {
    let number: Int
    let basePrice: Double
    private var buffer: [Detection] = []
    init(number: Int, basePrice: Double) {
        self.number = number
        self.basePrice = basePrice
    }
    func detect(_ detection: Detection) { buffer.append(detection) }
    func flush() -> [Detection] {
        defer { buffer.removeAll(keepingCapacity: true) }
        return buffer
    }
}

final class ManualReview {
    private var queue: [Detection] = []
    private(set) var rejected = 0
    func add(_ detection: Detection) { queue.append(detection) }
    func work(limit: Int) -> [Detection] {
        var accepted: [Detection] = []
        for _ in 0..<min(limit, queue.count) {
            let detection = queue.removeFirst()
            if detection.confidence > 0.3 { accepted.append(detection) } else { rejected += 1 }
        }
        return accepted
    }
    var isEmpty: Bool { queue.isEmpty }
}

final class TollOperator {
    private var accounts: [String: Account] = [:]
    private let gantries: [Gantry]
    private let review = ManualReview()

    init(gantryCount: Int) {
        gantries = (0..<gantryCount).map { Gantry(number: $0, basePrice: 0.8 + Double($0) * 0.15) }
    }

    func drive(plate: String, kind: VehicleKind, from: Int, to: Int, minute: Int, quality: Int) {
        for number in from...to {
            let confidence = Double((quality * 31 + number * 17) % 100) / 100
            gantries[number].detect(Detection(plate: plate, kind: kind, gantry: number, minute: minute + number * 7, confidence: confidence))
        }
    }

    func collect() {
        for gantry in gantries {
            for detection in gantry.flush() {
                if detection.confidence < 0.5 {
                    review.add(detection)
                } else {
                    book(detection, on: gantry)
                }
            }
        }
        for detection in review.work(limit: 6) {
            book(detection, on: gantries[detection.gantry])
        }
    }

    private func book(_ detection: Detection, on gantry: Gantry) {
        let account: Account
        if let known = accounts[detection.plate] {
            account = known
        } else {
            account = Account(plate: detection.plate, kind: detection.kind)
            accounts[detection.plate] = account
        }
        account.charge(Passage(gantry: gantry.number, minute: detection.minute, price: gantry.basePrice * detection.kind.factor))
    }

    func finishReview() {
        while !review.isEmpty { collect() }
    }

    func invoice() -> (count: Int, total: Double, top: [String]) {
        for account in accounts.values where account.passages.count > 20 { account.discount = 0.1 }
        let total = accounts.values.reduce(0) { $0 + $1.amount }
        let top = accounts.values.sorted { $0.amount > $1.amount }.prefix(3)
        return (accounts.count, total, top.map { "\($0.plate) (\($0.kind.rawValue)) \(Int($0.amount))" })
    }

    func busiestHour() -> Int {
        var hours = [Int](repeating: 0, count: 24)
        for account in accounts.values {
            for passage in account.passages { hours[passage.minute / 60 % 24] += 1 }
        }
        return hours.indices.max { hours[$0] < hours[$1] } ?? 0
    }

    var rejected: Int { review.rejected }
}

let road = TollOperator(gantryCount: 6)

func traffic() {
    var seed = 77
    func next(_ n: Int) -> Int {
        seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff
        return (seed >> 8) % n
    }
    for tick in 0..<480 {
        for _ in 0..<(1 + next(2)) {
            let number = next(180)
            let from = next(4)
            road.drive(plate: "TR-\(number)", kind: VehicleKind.allCases[number % 4], from: from, to: from + next(6 - from), minute: tick * 3, quality: next(100))
        }
        road.collect()
        usleep(3000)
    }
}

traffic()
road.finishReview()
let bill = road.invoice()
print("\(bill.count) accounts, total \(Int(bill.total)), rejected \(road.rejected), busiest hour \(road.busiestHour())")
bill.top.forEach { print("  \($0)") }
