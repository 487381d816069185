import Foundation

struct Dice {
    var state: UInt64
    mutating func roll(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(bound))
    }
}

final class Person {
    enum Health { case susceptible, infected(day: Int), recovered }
    let id: Int
    let household: Int
    var health = Health.susceptible
    init(id: Int, household: Int) {
        self.id = id
        self.household = household
    }
}

final class Contact {
    unowned let a: Person
    unowned let b: Person
    let day: Int
    init(_ a: Person, _ b: Person, day: Int) {
        self.a = a
        self.b = b
        self.day = day
    }
}

final class CaseFile {
    let person: Person
    let day: Int
    var traced: [Contact] = []
    init(person: Person, day: Int) {
        self.person = person
        self.day = day
    }
}

final class TracingLog {
    private var days: [[Contact]] = []
    let retention = 14

    func open() {
        days.append([])
        if days.count > retention { days.removeFirst() }
    }

    func note(_ contact: Contact) { days[days.count - 1].append(contact) }

    func contacts(of person: Person) -> [Contact] {
        days.joined().filter { $0.a === person || $0.b === person }
    }
}

final class Town {
    private var dice = Dice(state: 0x9E3779B97F4A7C15)
    let people: [Person]
    let log = TracingLog()
    private(set) var openCases: [CaseFile] = []
    private(set) var archive: [CaseFile] = []
    private(set) var contactsSeen = 0

    init(population: Int) {
        people = (0..<population).map { Person(id: $0, household: $0 / 4) }
        for id in [3, 77, 410] { infect(people[id], day: 0) }
    }

    private func infect(_ person: Person, day: Int) {
        guard case .susceptible = person.health else { return }
        person.health = .infected(day: day)
        let file = CaseFile(person: person, day: day)
        file.traced = log.contacts(of: person)
        openCases.append(file)
    }

    func advance(day: Int) {
        log.open()
        for _ in 0..<150 {
            let a = people[dice.roll(people.count)]
            let b = dice.roll(3) == 0 ? people[(a.household * 4 + dice.roll(4)) % people.count] : people[dice.roll(people.count)]
            guard a !== b else { continue }
            log.note(Contact(a, b, day: day))
            contactsSeen += 1
            if case .infected = a.health, dice.roll(10) < 6 { infect(b, day: day) }
            if case .infected = b.health, dice.roll(10) < 6 { infect(a, day: day) }
        }
        for file in openCases where day - file.day > 9 {
            file.person.health = .recovered
            file.traced.removeAll()
            archive.append(file)
        }
        openCases.removeAll { day - $0.day > 9 }
    }
}

let town = Town(population: 800)
for day in 1...100 {
    town.advance(day: day)
    usleep(9000)
}
let firstWave = town.archive.filter { $0.day < 30 }.count
print("contacts \(town.contactsSeen)")
print("archived cases \(town.archive.count), of them before day 30: \(firstWave)")
print("open cases \(town.openCases.count), with traces \(town.openCases.filter { !$0.traced.isEmpty }.count)")
