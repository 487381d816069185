import Foundation

final class Sheet {
    var figures: [Int] = []
    var total = 0
}

class ReportStep: Operation, @unchecked Sendable {
    let sheet: Sheet

    init(sheet: Sheet) {
        self.sheet = sheet
        super.init()
    }
}

final class ExtractStep: ReportStep, @unchecked Sendable {
    private let department: Int
    private let night: Int

    init(sheet: Sheet, department: Int, night: Int) {
        self.department = department
        self.night = night
        super.init(sheet: sheet)
    }

    override func main() {
        sheet.figures = (0..<40).map { (department * 97 + night * 31 + $0 * 7) % 400 }
    }
}

final class CorrectStep: ReportStep, @unchecked Sendable {
    override func main() {
        sheet.figures = sheet.figures.filter { $0 % 11 != 0 }.sorted()
    }
}

final class SumStep: ReportStep, @unchecked Sendable {
    override func main() {
        sheet.total = sheet.figures.reduce(0, +)
    }
}

struct NightSummary {
    let night: Int
    let total: Int
    let bestDepartment: Int
}

final class ReportOffice {
    private let queue: OperationQueue
    private let departments: Int
    private(set) var summaries: [NightSummary] = []

    init(departments: Int) {
        self.departments = departments
        queue = OperationQueue()
        queue.maxConcurrentOperationCount = 3
    }

    func run(night: Int) {
        var sheets: [Sheet] = []
        var steps: [ReportStep] = []
        for department in 0..<departments {
            let sheet = Sheet()
            let extract = ExtractStep(sheet: sheet, department: department, night: night)
            let correct = CorrectStep(sheet: sheet)
            let sum = SumStep(sheet: sheet)
            correct.addDependency(extract)
            sum.addDependency(correct)
            if let previous = steps.last {
                extract.addDependency(previous)
            }
            sheets.append(sheet)
            steps += [extract, correct, sum]
        }
        queue.addOperations(steps, waitUntilFinished: true)

        let total = sheets.reduce(0) { $0 + $1.total }
        let best = sheets.indices.max { sheets[$0].total < sheets[$1].total } ?? 0
        summaries.append(NightSummary(night: night, total: total, bestDepartment: best))
    }
}

let office = ReportOffice(departments: 12)
for night in 1...60 {
    office.run(night: night)
}

let strongest = office.summaries.max { $0.total < $1.total }!
let year = office.summaries.reduce(0) { $0 + $1.total }
print("nights: \(office.summaries.count), overall: \(year)")
print("strongest night: \(strongest.night) with \(strongest.total), department \(strongest.bestDepartment)")
