import Foundation

final class Letter {
    let room: String
    let author: Int
    let text: String
    let day: Int

    init(room: String, author: Int, text: String, day: Int) {
        self.room = room
        self.author = author
        self.text = text
        self.day = day
    }
}

final class Club {
    private var rosters: [String: [Int]] = [:]
    private var mailboxes: [Int: [Letter]] = [:]
    private var visitors: Set<Int> = []
    private(set) var wordsRead = 0
    private(set) var lettersRead = 0

    func enroll(_ member: Int, in rooms: [String]) {
        visitors.insert(member)
        for room in rooms {
            rosters[room, default: []].append(member)
        }
    }

    func resign(_ member: Int) {
        visitors.remove(member)
        readMail(of: member)
    }

    func post(_ text: String, by author: Int, in room: String, day: Int) {
        guard visitors.contains(author), let roster = rosters[room] else { return }
        for member in roster where member != author {
            let letter = Letter(room: room, author: author, text: text, day: day)
            mailboxes[member, default: []].append(letter)
        }
    }

    func readMail(of member: Int) {
        guard let letters = mailboxes.removeValue(forKey: member) else { return }
        for letter in letters {
            lettersRead += 1
            wordsRead += letter.text.split(separator: " ").count
        }
    }

    func visitAll() {
        for member in visitors.sorted() {
            readMail(of: member)
        }
    }

    var memberCount: Int { visitors.count }
}

let club = Club()
let rooms = ["chess", "garden", "radio", "cinema"]
let phrases = [
    "the next meeting is on friday",
    "who can bring a spare board",
    "tomatoes are late this year",
    "antenna repaired and working again",
    "tickets are at the front desk",
]

for member in 0..<32 {
    let first = rooms[member % rooms.count]
    let second = rooms[(member / 4 + 1) % rooms.count]
    club.enroll(member, in: first == second ? [first] : [first, second])
}

let resignations = [8: 3, 15: 10, 16: 17, 40: 21, 62: 28, 80: 6]

for day in 0..<120 {
    if let leaving = resignations[day] {
        club.resign(leaving)
    }
    for slot in 0..<6 {
        let author = (day * 7 + slot * 11) % 32
        let room = rooms[(day + slot) % rooms.count]
        club.post(phrases[(day + slot) % phrases.count], by: author, in: room, day: day)
    }
    club.visitAll()
    usleep(1000)
}

print("members: \(club.memberCount)")
print("letters read: \(club.lettersRead)")
print("words read: \(club.wordsRead)")
