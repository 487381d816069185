import Foundation

// Card payment processor: authorises, captures and refunds payments, and hands its audit
// entries to the journal writer in blocks.

enum CardEvent: String { case authorised, captured, refunded, declined }

final class JournalEntry {
    let number: Int
    let event: CardEvent
    let card: Int
    let cents: Int

    init(number: Int, event: CardEvent, card: Int, cents: Int) {
        self.number = number
        self.event = event
        self.card = card
        self.cents = cents
    }

    var encoded: String { "\(number)|\(event.rawValue)|\(String(card, radix: 16))|\(cents)" }
}

final class JournalWriter {
    private let pipe: FileHandle
    private let blockSize: Int
    private var block: [JournalEntry] = []
    private var number = 0
    private(set) var bytes = 0
    private(set) var checksum: UInt32 = 1

    init(pipe: FileHandle, blockSize: Int) {
        self.pipe = pipe
        self.blockSize = blockSize
        block.reserveCapacity(blockSize)
    }

    func log(_ event: CardEvent, card: Int, cents: Int) {
        number += 1
        block.append(JournalEntry(number: number, event: event, card: card, cents: cents))
        if block.count >= blockSize { flush() }
    }

    func flush() {
        guard !block.isEmpty else { return }
        let data = Data((block.map(\.encoded).joined(separator: "\n") + "\n").utf8)
        for byte in data { checksum = (checksum ^ UInt32(byte)) &* 16777619 }
        pipe.write(data)
        bytes += data.count
        block.removeAll(keepingCapacity: true)
    }

    var entries: Int { number }
}

final class CardAccount {
    let number: Int
    private(set) var available: Int
    private(set) var reserved = 0

    init(number: Int, limit: Int) {
        self.number = number
        available = limit
    }

    func reserve(_ cents: Int) -> Bool {
        guard available >= cents else { return false }
        available -= cents
        reserved += cents
        return true
    }

    func capture(_ cents: Int) { reserved -= cents }
    func refund(_ cents: Int) { available += cents }
}

final class Processor {
    private let cards: [CardAccount]
    private let journal: JournalWriter
    private(set) var outcome: [CardEvent: Int] = [:]

    init(cards: [CardAccount], journal: JournalWriter) {
        self.cards = cards
        self.journal = journal
    }

    func pay(card index: Int, cents: Int, refund: Bool) {
        let card = cards[index % cards.count]
        guard card.reserve(cents) else {
            note(.declined, card, cents)
            return
        }
        note(.authorised, card, cents)
        card.capture(cents)
        note(.captured, card, cents)
        if refund {
            card.refund(cents)
            note(.refunded, card, cents)
        }
    }

    private func note(_ event: CardEvent, _ card: CardAccount, _ cents: Int) {
        outcome[event, default: 0] += 1
        journal.log(event, card: card.number, cents: cents)
    }
}

guard let null = FileHandle(forWritingAtPath: "/dev/null") else { fatalError("no journal device") }
let writer = JournalWriter(pipe: null, blockSize: 100)
let accounts = (0..<400).map { CardAccount(number: 4_000_000_000 + $0 * 7_901, limit: 30_000 + $0 * 50) }
let processor = Processor(cards: accounts, journal: writer)

for minute in 0..<150 {
    for slot in 0..<14 {
        let serial = minute * 14 + slot
        processor.pay(card: serial * 31 % 397, cents: 990 + serial * 77 % 9_000, refund: serial % 6 == 0)
    }
    usleep(5_500)
}
writer.flush()
let outcome = processor.outcome.map { "\($0.key.rawValue) \($0.value)" }.sorted()
print(outcome.joined(separator: ", "))
print("entries \(writer.entries), bytes \(writer.bytes), checksum \(String(writer.checksum, radix: 16))")
