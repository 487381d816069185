import Foundation

final class Reservation: @unchecked Sendable {
    let kind: String
    let reference: Int
    init(kind: String, reference: Int) {
        self.kind = kind
        self.reference = reference
    }
}

final class TripSaga: @unchecked Sendable {
    let id: Int
    let traveller: String
    var reservations: [Reservation] = []
    var note = ""
    init(id: Int, traveller: String) {
        self.id = id
        self.traveller = traveller
    }

    var needsApproval: Bool { id % 15 == 4 }
}

enum Outcome { case booked, cancelled, waiting }

actor BookingDesk {
    private var active: [Int: TripSaga] = [:]
    private var awaitingApproval: [Int: TripSaga] = [:]
    private var nextReference = 1
    private(set) var compensated = 0

    func book(_ id: Int) async -> Outcome {
        let saga = TripSaga(id: id, traveller: "traveller-\(id % 90)")
        active[id] = saga
        for kind in ["flight", "hotel", "car"] {
            await Task.yield()
            if kind == "car" && id % 11 == 6 {
                compensate(saga)
                return .cancelled
            }
            saga.reservations.append(Reservation(kind: kind, reference: nextReference))
            nextReference += 1
        }
        active.removeValue(forKey: id)
        if saga.needsApproval {
            saga.note = "over budget"
            awaitingApproval[id] = saga
            return .waiting
        }
        return .booked
    }

    func approve(upTo id: Int) -> Int {
        let ready = awaitingApproval.keys.filter { $0 <= id && $0 % 2 == 0 }
        for key in ready { awaitingApproval.removeValue(forKey: key) }
        return ready.count
    }

    private func compensate(_ saga: TripSaga) {
        compensated += saga.reservations.count
        saga.reservations.removeAll()
        active.removeValue(forKey: saga.id)
    }

    func worklist() -> [String] {
        awaitingApproval.values.sorted { $0.id < $1.id }.map { "\($0.id) \($0.traveller) \($0.note) \($0.reservations.count)" }
    }
}

@main
struct BookingApp {
    static let desk = BookingDesk()

    static func main() async {
        var counts: [Outcome: Int] = [:]
        var approved = 0
        for day in 0..<30 {
            let outcomes = await withTaskGroup(of: Outcome.self) { group in
                for n in 0..<30 { group.addTask { await desk.book(day * 30 + n) } }
                return await group.reduce(into: [Outcome]()) { $0.append($1) }
            }
            for outcome in outcomes { counts[outcome, default: 0] += 1 }
            approved += await desk.approve(upTo: day * 30)
            try? await Task.sleep(nanoseconds: 30_000_000)
        }
        let list = await desk.worklist()
        print("booked \(counts[.booked] ?? 0) cancelled \(counts[.cancelled] ?? 0) approved \(approved)")
        print("open approvals \(list.count), first: \(list.first ?? "-"), last: \(list.last ?? "-")")
    }
}
