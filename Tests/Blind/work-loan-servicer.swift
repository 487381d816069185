import Foundation

final class Payment {
    let month: Int
    let interest: Int
    let principal: Int
    init(month: Int, interest: Int, principal: Int) {
        self.month = month
        self.interest = interest
        self.principal = principal
    }
}

final class Loan {
    let number: Int
    let principal: Int
    let basisPoints: Int
    let openedIn: Int
    var balance: Int
    var missed = 0
    private(set) var payments: [Payment] = []

    init(number: Int, principal: Int, basisPoints: Int, openedIn: Int) {
        self.number = number
        self.principal = principal
        self.basisPoints = basisPoints
        self.openedIn = openedIn
        balance = principal
    }

    func pay(_ amount: Int, month: Int) {
        let interest = balance * basisPoints / 120_000
        let part = min(balance, amount - interest)
        balance -= part
        missed = 0
        payments.append(Payment(month: month, interest: interest, principal: part))
    }

    var interestEarned: Int { payments.reduce(0) { $0 + $1.interest } }
}

final class Outcome {
    let loan: Loan
    let month: Int
    let paidOff: Bool
    init(loan: Loan, month: Int, paidOff: Bool) {
        self.loan = loan
        self.month = month
        self.paidOff = paidOff
    }
}

final class Archive {
    private var outcomes: [Outcome] = []
    private var position: [Int: Int] = [:]

    func file(_ outcome: Outcome) {
        position[outcome.loan.number] = outcomes.count
        outcomes.append(outcome)
    }

    func find(_ number: Int) -> Outcome? {
        position[number].map { outcomes[$0] }
    }

    func year(_ year: Int) -> [Outcome] {
        outcomes.filter { $0.month / 12 == year }
    }

    var count: Int { outcomes.count }
}

final class Reminder {
    let loan: Int
    let month: Int
    init(loan: Int, month: Int) {
        self.loan = loan
        self.month = month
    }
}

final class Mailroom {
    private var outbox: [Reminder] = []
    private(set) var posted = 0

    func queue(_ reminder: Reminder) { outbox.append(reminder) }

    func postAll() {
        posted += outbox.count
        outbox.removeAll()
    }
}

final class Servicer {
    private var book: [Int: Loan] = [:]
    private let archive: Archive
    private let mail = Mailroom()
    private var nextNumber = 1
    private var seed: UInt64 = 31_337

    init(archive: Archive) { self.archive = archive }

    private func draw(_ n: Int) -> Int {
        seed = seed &* 6364136223846793005 &+ 1442695040888963407
        return Int((seed >> 33) % UInt64(n))
    }

    func originate(month: Int) {
        let loan = Loan(number: nextNumber, principal: 1_000 + draw(5_000),
                        basisPoints: 300 + draw(900), openedIn: month)
        nextNumber += 1
        book[loan.number] = loan
    }

    func collect(month: Int) {
        for loan in book.values.sorted(by: { $0.number < $1.number }) {
            if draw(12) == 0 {
                loan.missed += 1
                mail.queue(Reminder(loan: loan.number, month: month))
                if loan.missed == 3 { close(loan, month: month, paidOff: false) }
                continue
            }
            loan.pay(150 + loan.principal / 18, month: month)
            if loan.balance == 0 { close(loan, month: month, paidOff: true) }
        }
        if month % 3 == 2 { mail.postAll() }
    }

    private func close(_ loan: Loan, month: Int, paidOff: Bool) {
        book[loan.number] = nil
        archive.file(Outcome(loan: loan, month: month, paidOff: paidOff))
    }

    func complaint() -> Int {
        let number = 1 + draw(max(1, nextNumber - 1))
        guard let outcome = archive.find(number) else { return 0 }
        return outcome.loan.payments.count
    }

    var remindersPosted: Int { mail.posted }
    var open: Int { book.count }
}

func regulatorReport(_ archive: Archive, years: Int) {
    for year in 0..<years {
        let outcomes = archive.year(year)
        let defaults = outcomes.filter { !$0.paidOff }
        let interest = outcomes.reduce(0) { $0 + $1.loan.interestEarned }
        let lost = defaults.reduce(0) { $0 + $1.loan.balance }
        print("year \(year): \(outcomes.count) closed, \(defaults.count) defaults, interest \(interest), lost \(lost)")
    }
}

func bank() {
    let archive = Archive()
    let servicer = Servicer(archive: archive)
    var looked = 0
    for month in 0..<144 {
        for _ in 0..<7 { servicer.originate(month: month) }
        servicer.collect(month: month)
        if month % 6 == 5 { looked += servicer.complaint() }
        usleep(13_000)
    }
    print("\(servicer.open) open, \(archive.count) archived, \(servicer.remindersPosted) reminders, \(looked) rows read")
    regulatorReport(archive, years: 12)
}

bank()
