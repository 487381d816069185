import Foundation

enum CaptureError: Error {
    case declined(code: Int)
    case limitExceeded
}

struct Card {
    let pan: Int
    let limitCents: Int
}

final class CaptureAttempt {
    let reference: String
    let card: Card
    let amountCents: Int
    var stage = "created"

    init(reference: String, card: Card, amountCents: Int) {
        self.reference = reference
        self.card = card
        self.amountCents = amountCents
    }
}

final class Receipt {
    let reference: String
    let amountCents: Int
    let feeCents: Int

    init(reference: String, amountCents: Int, feeCents: Int) {
        self.reference = reference
        self.amountCents = amountCents
        self.feeCents = feeCents
    }
}

protocol Processor {
    func settle(_ attempt: CaptureAttempt) throws -> Int
}

struct AcquirerProcessor: Processor {
    func settle(_ attempt: CaptureAttempt) throws -> Int {
        if attempt.amountCents > attempt.card.limitCents { throw CaptureError.limitExceeded }
        if attempt.card.pan % 10 == 7 { throw CaptureError.declined(code: 51) }
        return attempt.amountCents * 14 / 1000 + 25
    }
}

final class CaptureService {
    private let processor: Processor
    private var inFlight: [String: CaptureAttempt] = [:]
    private(set) var receipts: [Receipt] = []

    init(processor: Processor) {
        self.processor = processor
    }

    func capture(reference: String, card: Card, amountCents: Int) throws {
        if inFlight[reference] != nil { return }
        let attempt = CaptureAttempt(reference: reference, card: card, amountCents: amountCents)
        inFlight[reference] = attempt
        attempt.stage = "settling"
        let fee = try processor.settle(attempt)
        attempt.stage = "settled"
        receipts.append(Receipt(reference: reference, amountCents: amountCents, feeCents: fee))
        inFlight[reference] = nil
    }
}

struct Tally {
    var declined = 0
    var overLimit = 0
}

let service = CaptureService(processor: AcquirerProcessor())
var tally = Tally()

for order in 0..<1500 {
    let card = Card(pan: 4_000_000 + order, limitCents: order % 20 == 3 ? 2_000 : 60_000)
    let amount = 2_100 + (order * 131) % 9_000
    do {
        try service.capture(reference: "ord-\(order)", card: card, amountCents: amount)
    } catch CaptureError.declined {
        tally.declined += 1
    } catch CaptureError.limitExceeded {
        tally.overLimit += 1
    } catch {
        print("unexpected: \(error)")
    }
}

let gross = service.receipts.reduce(0) { $0 + $1.amountCents }
let fees = service.receipts.reduce(0) { $0 + $1.feeCents }
let largest = service.receipts.max { $0.amountCents < $1.amountCents }!
print("captured: \(service.receipts.count), declined: \(tally.declined), over limit: \(tally.overLimit)")
print("gross \(gross) ct, fees \(fees) ct, largest \(largest.reference) at \(largest.amountCents) ct")
