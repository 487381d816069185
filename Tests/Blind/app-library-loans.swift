import Foundation

final class Member {
    let card: Int
    var borrowed = 0
    var fines = 0
    init(card: Int) { self.card = card }
}

final class Title {
    let isbn: String
    var copies: Int
    var waiting: [Hold] = []
    init(isbn: String, copies: Int) {
        self.isbn = isbn
        self.copies = copies
    }
}

final class Hold {
    let member: Member
    let isbn: String
    let pickupNote: String
    var lastDay = 0
    init(member: Member, isbn: String) {
        self.member = member
        self.isbn = isbn
        pickupNote = "Member \(member.card) may collect \(isbn) at the front desk"
    }
}

final class Loan {
    let title: Title
    let member: Member
    let due: Int
    init(title: Title, member: Member, due: Int) {
        self.title = title
        self.member = member
        self.due = due
    }
}

final class PickupShelf {
    private var byLastDay: [Int: [Hold]] = [:]

    func place(_ hold: Hold, day: Int) {
        hold.lastDay = day + 4
        byLastDay[hold.lastDay, default: []].append(hold)
    }

    func collect(card: Int, isbn: String, day: Int) -> Hold? {
        for last in day...(day + 4) {
            if let index = byLastDay[last]?.firstIndex(where: { $0.member.card == card && $0.isbn == isbn }) {
                return byLastDay[last]!.remove(at: index)
            }
        }
        return nil
    }

    func clear(day: Int) -> [Hold] {
        byLastDay.removeValue(forKey: day) ?? []
    }
}

final class Library {
    private var titles: [String: Title] = [:]
    private var members: [Int: Member] = [:]
    private var loans: [Loan] = []
    private let shelf = PickupShelf()
    private var visitors: [(day: Int, card: Int, isbn: String)] = []
    private(set) var statistics = (loans: 0, holds: 0, collected: 0, notCollected: 0, fines: 0)

    init(titleCount: Int) {
        for number in 0..<titleCount { titles["978-\(number)"] = Title(isbn: "978-\(number)", copies: 1 + number % 3) }
    }

    private func member(_ card: Int) -> Member {
        if let member = members[card] { return member }
        let member = Member(card: card)
        members[card] = member
        return member
    }

    func request(card: Int, isbn: String, day: Int) {
        guard let title = titles[isbn] else { return }
        let member = member(card)
        if title.copies > 0 {
            lend(title, to: member, day: day)
        } else if title.waiting.count < 6 {
            statistics.holds += 1
            title.waiting.append(Hold(member: member, isbn: isbn))
        }
    }

    private func lend(_ title: Title, to member: Member, day: Int) {
        title.copies -= 1
        member.borrowed += 1
        statistics.loans += 1
        loans.append(Loan(title: title, member: member, due: day + 5 + member.card % 4))
    }

    private func takeBack(_ title: Title, day: Int) {
        title.copies += 1
        guard !title.waiting.isEmpty else { return }
        let hold = title.waiting.removeFirst()
        shelf.place(hold, day: day)
        if hold.member.card % 3 != 0 {
            visitors.append((day + 1 + hold.member.card % 2, hold.member.card, title.isbn))
        }
    }

    func openDay(_ day: Int) {
        let returned = loans.filter { $0.due <= day }
        loans.removeAll { $0.due <= day }
        for loan in returned {
            if day > loan.due {
                loan.member.fines += day - loan.due
                statistics.fines += day - loan.due
            }
            takeBack(loan.title, day: day)
        }
        let today = visitors.filter { $0.day <= day }
        visitors.removeAll { $0.day <= day }
        for visitor in today {
            if let hold = shelf.collect(card: visitor.card, isbn: visitor.isbn, day: day), let title = titles[hold.isbn], title.copies > 0 {
                statistics.collected += 1
                lend(title, to: hold.member, day: day)
            }
        }
        statistics.notCollected += shelf.clear(day: day).count
    }
}

func years() {
    let library = Library(titleCount: 40)
    for day in 0..<560 {
        if day % 7 == 6 { continue }
        library.openDay(day)
        for visit in 0..<5 {
            library.request(card: 100 + (day * 17 + visit * 41) % 230, isbn: "978-\((day * 3 + visit * 11) % 40)", day: day)
        }
        usleep(3600)
    }
    print(library.statistics)
}

years()
