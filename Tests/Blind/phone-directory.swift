import Foundation

final class Entry {
    let surname: String
    let givenName: String
    let street: String
    private(set) var numbers: [String]

    init(surname: String, givenName: String, street: String, number: String) {
        self.surname = surname
        self.givenName = givenName
        self.street = street
        numbers = [number]
    }

    func add(number: String) {
        if !numbers.contains(number) { numbers.append(number) }
    }

    var fullName: String { "\(surname), \(givenName)" }
}

final class Directory {
    private var byName: [String: Entry] = [:]
    private var byNumber: [String: Entry] = [:]
    private var bySurname: [String: [Entry]] = [:]

    func register(surname: String, givenName: String, street: String, number: String) {
        let key = "\(surname), \(givenName)"
        if let existing = byName[key] {
            existing.add(number: number)
            byNumber[number] = existing
            return
        }
        let entry = Entry(surname: surname, givenName: givenName, street: street, number: number)
        byName[key] = entry
        byNumber[number] = entry
        bySurname[surname, default: []].append(entry)
    }

    func lookup(_ surname: String, _ givenName: String) -> Entry? {
        byName["\(surname), \(givenName)"]
    }

    func reverse(_ number: String) -> Entry? { byNumber[number] }

    func listing(surname: String) -> [Entry] {
        (bySurname[surname] ?? []).sorted { $0.givenName < $1.givenName }
    }

    func neighbours(of entry: Entry) -> Int {
        byName.values.reduce(0) { $0 + ($1 !== entry && $1.street == entry.street ? 1 : 0) }
    }

    var count: Int { byName.count }
}

let prefixes = ["Berg", "Holm", "Stein", "Wald", "Brun", "Linde", "Sand", "Eich"]
let suffixes = ["er", "mann", "ström", "feld", "quist", "hoff", "gaard"]
let given = ["Astrid", "Bela", "Clara", "Dag", "Elif", "Farid", "Greta", "Henrik",
             "Ida", "Jorma", "Karin", "Leif", "Maja", "Nils", "Olga", "Pavel"]
let streets = ["Mill Lane", "Station Road", "Harbour Street", "Church Hill", "Elm Row"]

let directory = Directory()
var state: UInt64 = 4711
func rand(_ n: Int) -> Int {
    state = state &* 3935559000370003845 &+ 2691343689449507681
    return Int((state >> 33) % UInt64(n))
}

for line in 0..<2600 {
    directory.register(surname: prefixes[rand(8)] + suffixes[rand(7)],
                       givenName: given[rand(16)],
                       street: streets[rand(5)] + " \(1 + rand(40))",
                       number: "0\(30 + line % 7)-\(100_000 + line * 37)")
}

print("entries: \(directory.count)")
var found = 0
var several = 0
for prefix in prefixes {
    for suffix in suffixes {
        for name in given {
            guard let entry = directory.lookup(prefix + suffix, name) else { continue }
            found += 1
            if entry.numbers.count > 3 { several += 1 }
        }
    }
}
print("found by name: \(found), with more than three numbers: \(several)")

var reverseHits = 0
for line in stride(from: 0, to: 5200, by: 13) {
    if directory.reverse("0\(30 + line % 7)-\(100_000 + line * 37)") != nil { reverseHits += 1 }
}
print("reverse lookups answered: \(reverseHits)")

for surname in ["Bergmann", "Eichquist"] {
    let list = directory.listing(surname: surname)
    print("\(surname): \(list.map { $0.givenName }.joined(separator: " "))")
    if let entry = list.first {
        print("  \(entry.fullName), \(entry.street), neighbours \(directory.neighbours(of: entry))")
    }
}
