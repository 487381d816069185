import Foundation

final class Owner {
    let name: String
    let phone: String
    init(name: String, phone: String) {
        self.name = name
        self.phone = phone
    }
}

final class Animal {
    let name: String
    let species: String
    let owner: Owner
    var weight: Double
    init(name: String, species: String, owner: Owner, weight: Double) {
        self.name = name
        self.species = species
        self.owner = owner
        self.weight = weight
    }
}

final class Appointment {
    let id: Int
    let slot: Int
    let animal: Animal
    let reason: String
    var notes: [String] = []
    init(id: Int, slot: Int, animal: Animal, reason: String) {
        self.id = id
        self.slot = slot
        self.animal = animal
        self.reason = reason
    }
}

final class Vet {
    let name: String
    private(set) var calendar: [Int: Appointment] = [:]
    var treated = 0

    init(name: String) { self.name = name }

    func isFree(_ slot: Int) -> Bool { calendar[slot] == nil }

    func book(_ appointment: Appointment) {
        calendar[appointment.slot] = appointment
    }

    func release(_ slot: Int) {
        calendar.removeValue(forKey: slot)
    }

    func treat(_ appointment: Appointment) -> Double {
        appointment.notes.append("\(name) examined \(appointment.animal.name)")
        appointment.animal.weight *= 1.01
        treated += 1
        return appointment.reason == "surgery" ? 240 : 55
    }
}

final class Clinic {
    private var vets: [Vet]
    private var owners: [String: Owner] = [:]
    private var animals: [String: [Animal]] = [:]
    private var book: [Int: (Vet, Appointment)] = [:]
    private var nextId = 1
    private(set) var income = 0.0
    private(set) var cancelled = 0
    private(set) var moved = 0

    init(vets: [String]) { self.vets = vets.map(Vet.init) }

    func register(phone: String, name: String, pets: [(String, String)]) {
        let owner = Owner(name: name, phone: phone)
        owners[phone] = owner
        animals[phone] = pets.map { Animal(name: $0.0, species: $0.1, owner: owner, weight: Double($0.0.count) * 2.5) }
    }

    func pets(of phone: String) -> [Animal] { animals[phone] ?? [] }

    @discardableResult
    func request(animal: Animal, from slot: Int, reason: String) -> Int? {
        for candidate in slot..<(slot + 12) {
            for vet in vets where vet.isFree(candidate) {
                let appointment = Appointment(id: nextId, slot: candidate, animal: animal, reason: reason)
                nextId += 1
                vet.book(appointment)
                book[appointment.id] = (vet, appointment)
                return appointment.id
            }
        }
        return nil
    }

    func cancel(_ id: Int) {
        guard let (vet, appointment) = book.removeValue(forKey: id) else { return }
        vet.release(appointment.slot)
        cancelled += 1
    }

    func ownerMovedAway(_ phone: String) {
        guard let owner = owners.removeValue(forKey: phone) else { return }
        animals[phone] = nil
        let open = book.filter { $0.value.1.animal.owner === owner }
        for id in open.keys {
            book[id] = nil
            cancelled += 1
        }
        moved += 1
    }

    func run(slot: Int) {
        let due = book.filter { $0.value.1.slot == slot }
        for (id, (vet, appointment)) in due {
            income += vet.treat(appointment)
            vet.release(slot)
            book[id] = nil
        }
    }

    func leave(_ phone: String) {
        guard !book.contains(where: { $0.value.1.animal.owner.phone == phone }) else { return }
        owners[phone] = nil
        animals[phone] = nil
    }

    var summary: String {
        vets.map { "\($0.name): \($0.treated)" }.joined(separator: ", ")
    }
}

struct Dice {
    var state: UInt64
    mutating func roll(_ n: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int((state >> 33) % UInt64(n))
    }
}

func openSeason() {
    let clinic = Clinic(vets: ["Aylin", "Bruno", "Carla"])
    var dice = Dice(state: 2024)
    let reasons = ["vaccination", "check", "surgery", "dental"]
    var lastPhones: [String] = []
    for slot in 0..<700 {
        let phone = "+49-\(10_000 + slot)"
        clinic.register(phone: phone, name: "Owner \(slot)", pets: [("Rex\(slot)", "dog"), ("Mia\(slot)", "cat")])
        var ids: [Int] = []
        for animal in clinic.pets(of: phone) {
            if let id = clinic.request(animal: animal, from: slot + 2 + dice.roll(5), reason: reasons[dice.roll(4)]) {
                ids.append(id)
            }
        }
        switch dice.roll(10) {
        case 0: clinic.cancel(ids.first ?? 0)
        case 1: clinic.ownerMovedAway(phone)
        default: break
        }
        clinic.run(slot: slot)
        lastPhones.append(phone)
        if lastPhones.count > 30 {
            clinic.leave(lastPhones.removeFirst())
        }
        usleep(2500)
    }
    print("treated \(clinic.summary)")
    print("income \(Int(clinic.income)), cancelled \(clinic.cancelled), moved away \(clinic.moved)")
}

openSeason()
