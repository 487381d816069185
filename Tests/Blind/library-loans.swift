import Foundation

final class Loan {
    let copy: Int
    let member: String
    let dueDay: Int
    var renewals = 0

    init(copy: Int, member: String, dueDay: Int) {
        self.copy = copy
        self.member = member
        self.dueDay = dueDay
    }
}

final class LoanDesk {
    private var byCopy: [Int: Loan] = [:]
    private var byMember: [String: [Loan]] = [:]
    private var dueOn: [Int: [Loan]] = [:]
    private(set) var finesCents = 0
    private(set) var returned = 0
    private(set) var writtenOff = 0
    private(set) var refused = 0

    func borrow(copy: Int, member: String, today: Int) {
        guard byCopy[copy] == nil, (byMember[member]?.count ?? 0) < 8 else {
            refused += 1
            return
        }
        let loan = Loan(copy: copy, member: member, dueDay: today + 21)
        byCopy[copy] = loan
        byMember[member, default: []].append(loan)
        dueOn[loan.dueDay, default: []].append(loan)
    }

    func giveBack(copy: Int, today: Int) {
        guard let loan = byCopy[copy] else { return }
        if today > loan.dueDay {
            finesCents += (today - loan.dueDay) * 15
        }
        returned += 1
        clear(loan)
    }

    /// Charges copies that are sixty days past their date.
    func nightlyRun(today: Int) {
        guard let overdue = dueOn[today - 60] else { return }
        for loan in overdue {
            finesCents += 2_500
            writtenOff += 1
            clear(loan)
        }
    }

    private func clear(_ loan: Loan) {
        byCopy[loan.copy] = nil
        byMember[loan.member]?.removeAll { $0 === loan }
        if byMember[loan.member]?.isEmpty == true { byMember[loan.member] = nil }
        dueOn[loan.dueDay]?.removeAll { $0 === loan }
        if dueOn[loan.dueDay]?.isEmpty == true { dueOn[loan.dueDay] = nil }
    }

    var openLoans: Int { byCopy.count }
    var activeMembers: Int { byMember.count }
}

let desk = LoanDesk()
var schedule: [Int: [Int]] = [:]
var copy = 0

for day in 0..<420 {
    if day < 330 {
        for visitor in 0..<5 {
            copy += 1
            desk.borrow(copy: copy, member: "m\((day * 5 + visitor) % 160)", today: day)
            let keep = 5 + (copy * 11) % 30
            if copy % 17 != 0 {
                schedule[day + keep, default: []].append(copy)
            }
        }
    }
    for back in schedule.removeValue(forKey: day) ?? [] {
        desk.giveBack(copy: back, today: day)
    }
    desk.nightlyRun(today: day)
}

print("returned: \(desk.returned), written off: \(desk.writtenOff), refused: \(desk.refused)")
print("open loans: \(desk.openLoans), members with loans: \(desk.activeMembers)")
print("fines: \(desk.finesCents) ct")
