import Foundation

enum FormIssue: String, CaseIterable {
    case missingSignature = "missing signature"
    case negativeIncome = "negative income"
    case dependantsExceeded = "too many dependants"
}

struct RawForm {
    let taxpayer: Int
    let income: Int
    let dependants: Int
    let signed: Bool
}

final class Assessment {
    let taxpayer: Int
    let taxable: Int
    let tax: Int

    init(taxpayer: Int, taxable: Int, tax: Int) {
        self.taxpayer = taxpayer
        self.taxable = taxable
        self.tax = tax
    }
}

final class Rejection {
    let taxpayer: Int
    let issue: FormIssue
    let letter: String

    init(taxpayer: Int, issue: FormIssue) {
        self.taxpayer = taxpayer
        self.issue = issue
        self.letter = "Form \(taxpayer): \(issue.rawValue)"
    }
}

final class WorkItem {
    let form: RawForm
    var allowance = 0

    init(form: RawForm) {
        self.form = form
    }
}

final class AssessmentOffice {
    private var inProgress: [Int: WorkItem] = [:]
    private(set) var assessments: [Assessment] = []
    private(set) var rejections: [Rejection] = []

    func process(_ form: RawForm) {
        let item = WorkItem(form: form)
        inProgress[form.taxpayer] = item
        if let issue = firstIssue(in: form) {
            inProgress[form.taxpayer] = nil
            rejections.append(Rejection(taxpayer: form.taxpayer, issue: issue))
            return
        }
        item.allowance = 9_000 + form.dependants * 2_400
        let taxable = max(0, form.income - item.allowance)
        let tax = taxable > 40_000 ? 8_000 + (taxable - 40_000) * 35 / 100 : taxable / 5
        assessments.append(Assessment(taxpayer: form.taxpayer, taxable: taxable, tax: tax))
        inProgress[form.taxpayer] = nil
    }

    private func firstIssue(in form: RawForm) -> FormIssue? {
        if !form.signed { return .missingSignature }
        if form.income < 0 { return .negativeIncome }
        if form.dependants > 6 { return .dependantsExceeded }
        return nil
    }

    var inProgressCount: Int { inProgress.count }
}

let office = AssessmentOffice()
for taxpayer in 1...1600 {
    let income = taxpayer % 41 == 0 ? -500 : 6_000 + (taxpayer * 613) % 92_000
    office.process(RawForm(taxpayer: taxpayer, income: income, dependants: (taxpayer * 5) % 8, signed: taxpayer % 12 != 0))
}

let revenue = office.assessments.reduce(0) { $0 + $1.tax }
let exempt = office.assessments.filter { $0.tax == 0 }.count
let byTax = office.assessments.sorted { ($0.tax, $0.taxpayer) < ($1.tax, $1.taxpayer) }
print("assessed: \(office.assessments.count), exempt: \(exempt), in progress: \(office.inProgressCount)")
print("revenue: \(revenue), median tax: \(byTax[byTax.count / 2].tax), highest: \(byTax.last!.tax)")
for issue in FormIssue.allCases {
    let letters = office.rejections.filter { $0.issue == issue }
    let characters = letters.reduce(0) { $0 + $1.letter.count }
    print("\(issue.rawValue): \(letters.count) letters, \(characters) characters")
}
