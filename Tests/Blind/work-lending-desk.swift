import Foundation

enum HoldState { case waiting, ready, collected, cancelled }

final class Title {
    let isbn: String
    let name: String
    var copiesOnShelf: Int
    var waiting: [Hold] = []

    init(isbn: String, name: String, copies: Int) {
        self.isbn = isbn
        self.name = name
        self.copiesOnShelf = copies
    }
}

final class Hold {
    let number: Int
    unowned let title: Title
    unowned let member: Member
    let placedOnDay: Int
    var state = HoldState.waiting

    init(number: Int, title: Title, member: Member, day: Int) {
        self.number = number
        self.title = title
        self.member = member
        self.placedOnDay = day
    }
}

final class Loan {
    unowned let title: Title
    let dueDay: Int
    init(title: Title, dueDay: Int) {
        self.title = title
        self.dueDay = dueDay
    }
}

final class Member {
    let card: Int
    var loans: [Loan] = []
    var holds: [Int: Hold] = [:]
    var finesInCents = 0
    var booksRead = 0

    init(card: Int) { self.card = card }
}

struct Dice {
    var state: UInt64
    mutating func roll(_ n: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int((state >> 33) % UInt64(n))
    }
}

final class LendingDesk {
    private var titles: [Title] = []
    private var members: [Int: Member] = [:]
    private var nextHold = 1
    private(set) var cancelledHolds = 0
    private(set) var collectedHolds = 0

    func stock(_ title: Title) { titles.append(title) }
    func enrol(card: Int) { members[card] = Member(card: card) }

    var titleCount: Int { titles.count }

    func title(at index: Int) -> Title { titles[index] }
    func member(_ card: Int) -> Member? { members[card] }

    func borrow(_ member: Member, _ title: Title, day: Int) {
        guard member.loans.count < 5 else { return }
        if title.copiesOnShelf > 0 {
            title.copiesOnShelf -= 1
            member.loans.append(Loan(title: title, dueDay: day + 6))
        } else if title.waiting.count < 12 {
            placeHold(member, title, day: day)
        }
    }

    private func placeHold(_ member: Member, _ title: Title, day: Int) {
        let hold = Hold(number: nextHold, title: title, member: member, day: day)
        nextHold += 1
        title.waiting.append(hold)
        member.holds[hold.number] = hold
    }

    func giveBack(_ member: Member, loanAt index: Int, day: Int) {
        let loan = member.loans.remove(at: index)
        if loan.dueDay < day { member.finesInCents += (day - loan.dueDay) * 20 }
        member.booksRead += 1
        loan.title.copiesOnShelf += 1
        serveNext(loan.title, day: day)
    }

    private func serveNext(_ title: Title, day: Int) {
        guard title.copiesOnShelf > 0, !title.waiting.isEmpty else { return }
        let hold = title.waiting.removeFirst()
        hold.state = .collected
        hold.member.holds[hold.number] = nil
        collectedHolds += 1
        title.copiesOnShelf -= 1
        hold.member.loans.append(Loan(title: title, dueDay: day + 6))
    }

    func cancelHold(_ number: Int, of member: Member) {
        guard let hold = member.holds.removeValue(forKey: number) else { return }
        hold.state = .cancelled
        hold.title.waiting.removeAll { $0 === hold }
        cancelledHolds += 1
    }

    func expireHolds(day: Int) {
        for title in titles {
            let stale = title.waiting.filter { day - $0.placedOnDay > 9 }
            if stale.isEmpty { continue }
            title.waiting.removeAll { day - $0.placedOnDay > 9 }
            for hold in stale {
                hold.state = .cancelled
                cancelledHolds += 1
            }
        }
    }

    func memberCards() -> [Int] { members.keys.sorted() }

    func totals() -> (loans: Int, fines: Int, read: Int) {
        var result = (loans: 0, fines: 0, read: 0)
        for member in members.values {
            result.loans += member.loans.count
            result.fines += member.finesInCents
            result.read += member.booksRead
        }
        return result
    }
}

func openLibrary() -> LendingDesk {
    let desk = LendingDesk()
    for n in 0..<60 {
        desk.stock(Title(isbn: "978-\(10_000 + n * 37)", name: "Volume \(n)", copies: 1 + n % 3))
    }
    for card in 1...90 { desk.enrol(card: card) }
    return desk
}

func runSeason(days: Int) {
    let desk = openLibrary()
    var dice = Dice(state: 2024)
    for day in 1...days {
        for card in desk.memberCards() {
            guard let member = desk.member(card) else { continue }
            switch dice.roll(10) {
            case 0..<3:
                let popular = dice.roll(3) > 0
                let index = popular ? dice.roll(12) : dice.roll(desk.titleCount)
                desk.borrow(member, desk.title(at: index), day: day)
            case 3..<6:
                if !member.loans.isEmpty {
                    desk.giveBack(member, loanAt: dice.roll(member.loans.count), day: day)
                }
            case 6:
                if let newest = member.holds.keys.max(), dice.roll(3) == 0 {
                    desk.cancelHold(newest, of: member)
                }
            default:
                break
            }
        }
        desk.expireHolds(day: day)
        usleep(12_000)
        if day % 40 == 0 {
            let t = desk.totals()
            print("day \(day): \(t.loans) on loan, \(t.read) read, fines \(t.fines / 100)")
        }
    }
    print("holds collected \(desk.collectedHolds), dropped \(desk.cancelledHolds)")
}

runSeason(days: 150)
