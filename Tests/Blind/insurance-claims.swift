import Foundation

enum ReviewError: Error, Equatable {
    case policyLapsed
    case documentsMissing(Int)
    case suspicious
}

struct Claim {
    let number: Int
    let policyActive: Bool
    let documents: Int
    let amount: Int
    let earlierClaims: Int
}

final class Review {
    let claim: Claim
    private(set) var notes: [String] = []
    private var startedAt: Int

    init(claim: Claim, startedAt: Int) {
        self.claim = claim
        self.startedAt = startedAt
    }

    func note(_ text: String) { notes.append(text) }
    func duration(until now: Int) -> Int { now - startedAt + notes.count }
}

final class Decision {
    let number: Int
    let payout: Int
    let minutes: Int

    init(number: Int, payout: Int, minutes: Int) {
        self.number = number
        self.payout = payout
        self.minutes = minutes
    }
}

final class ClaimsDepartment {
    private var openReviews: [Int: Review] = [:]
    private(set) var decisions: [Decision] = []
    private(set) var peakOpen = 0
    private var clock = 0

    func handle(_ claim: Claim) throws {
        let review = Review(claim: claim, startedAt: clock)
        openReviews[claim.number] = review
        defer { openReviews[claim.number] = nil }
        peakOpen = max(peakOpen, openReviews.count)

        clock += 3
        try checkCoverage(review)
        try checkDocuments(review)
        if claim.earlierClaims > 4 {
            review.note("pattern")
            throw ReviewError.suspicious
        }
        clock += 12
        let deductible = min(claim.amount, 250)
        review.note("payout computed")
        decisions.append(Decision(number: claim.number, payout: claim.amount - deductible, minutes: review.duration(until: clock)))
    }

    private func checkCoverage(_ review: Review) throws {
        review.note("coverage")
        guard review.claim.policyActive else { throw ReviewError.policyLapsed }
    }

    private func checkDocuments(_ review: Review) throws {
        review.note("documents")
        let missing = 3 - review.claim.documents
        if missing > 0 { throw ReviewError.documentsMissing(missing) }
    }

    var openCount: Int { openReviews.count }
}

let department = ClaimsDepartment()
var lapsed = 0
var incomplete = 0
var flagged = 0

for number in 1...1400 {
    let claim = Claim(number: number, policyActive: number % 9 != 0, documents: number % 13 == 0 ? 1 : 3, amount: 120 + (number * 79) % 5_000, earlierClaims: number % 31 == 0 ? 6 : number % 3)
    do {
        try department.handle(claim)
    } catch ReviewError.policyLapsed {
        lapsed += 1
    } catch ReviewError.documentsMissing(let missing) {
        incomplete += missing > 0 ? 1 : 0
    } catch {
        flagged += 1
    }
}

let paid = department.decisions.reduce(0) { $0 + $1.payout }
let minutes = department.decisions.reduce(0) { $0 + $1.minutes }
let top = department.decisions.sorted { ($0.payout, $0.number) > ($1.payout, $1.number) }.prefix(3)
print("decided: \(department.decisions.count), lapsed: \(lapsed), incomplete: \(incomplete), flagged: \(flagged)")
print("paid \(paid), handling minutes \(minutes), open \(department.openCount), peak open \(department.peakOpen)")
print("largest: " + top.map { "#\($0.number) \($0.payout)" }.joined(separator: ", "))
