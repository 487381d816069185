import Foundation

struct Sack: Sendable {
    let number: Int
    let grain: [UInt8]
}

/// Flour of one sack, as it comes off the stones.
final class Flour: Sendable {
    let sack: Int
    let grade: Int
    let histogram: [Int]

    init(sack: Int, histogram: [Int]) {
        self.sack = sack
        self.histogram = histogram
        grade = histogram.enumerated().max { ($0.element, $1.offset) < ($1.element, $0.offset) }?.offset ?? 0
    }
}

struct Stones: Sendable {
    let gap: Int

    func grind(_ sack: Sack) async throws -> Flour {
        var histogram = [Int](repeating: 0, count: 8)
        for kernel in sack.grain {
            histogram[Int(kernel) / gap % 8] += 1
        }
        if sack.number % 5 == 0 { try await Task.sleep(for: .milliseconds(4)) }
        return Flour(sack: sack.number, histogram: histogram)
    }
}

struct Granary: Sequence, IteratorProtocol {
    private var number = 0
    private let total: Int

    init(total: Int) { self.total = total }

    mutating func next() -> Sack? {
        guard number < total else { return nil }
        number += 1
        var state = UInt32(number) &* 2_654_435_761
        let grain = (0..<200).map { _ -> UInt8 in
            state = state &* 1_664_525 &+ 1_013_904_223
            return UInt8(state >> 24)
        }
        return Sack(number: number, grain: grain)
    }
}

struct DayBook {
    private(set) var sacks = 0
    private(set) var perGrade: [Int: Int] = [:]
    private(set) var coarse = 0

    mutating func enter(_ flour: Flour) {
        sacks += 1
        perGrade[flour.grade, default: 0] += 1
        coarse += flour.histogram[7]
    }
}

func runMill(sacks: Int, pairs: Int) async throws -> DayBook {
    let stones = Stones(gap: 30)
    return try await withThrowingTaskGroup(of: Flour.self, returning: DayBook.self) { group in
        var book = DayBook()
        var busy = 0
        for sack in Granary(total: sacks) {
            if busy == pairs, let flour = try await group.next() {
                book.enter(flour)
                busy -= 1
            }
            group.addTask { try await stones.grind(sack) }
            busy += 1
        }
        for try await flour in group { book.enter(flour) }
        return book
    }
}

let book = try await runMill(sacks: 1200, pairs: 3)
let grades = book.perGrade.keys.sorted().map { "\($0): \(book.perGrade[$0]!)" }.joined(separator: ", ")
print("ground \(book.sacks) sacks, coarse \(book.coarse), grades \(grades)")
