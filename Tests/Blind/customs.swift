import Foundation
import Dispatch

enum InspectionError: Error {
    case missingPapers
    case prohibitedGoods(String)
    case sealBroken
}

struct Item {
    let code: String
    let value: Int
}

/// A declaration while an officer is dealing with it.
final class Declaration {
    let number: Int
    let items: [Item]
    private(set) var duty = 0
    private var stamps: [String] = []

    init(number: Int, items: [Item]) {
        self.number = number
        self.items = items
    }

    func assess() {
        duty = items.reduce(0) { $0 + $1.value * ($1.code.hasPrefix("8") ? 12 : 5) / 100 }
        stamps.append("assessed")
    }
}

final class CustomsOffice: @unchecked Sendable {
    private let lock = NSLock()
    private var underReview: [Int: Declaration] = [:]
    private var collected = 0
    private var cleared = 0
    private var refused = 0
    private var busiest = 0

    func process(_ declaration: Declaration) throws {
        lock.withLock {
            underReview[declaration.number] = declaration
            busiest = max(busiest, underReview.count)
        }
        defer {
            lock.withLock { _ = underReview.removeValue(forKey: declaration.number) }
        }
        try inspect(declaration)
        declaration.assess()
        lock.withLock {
            collected += declaration.duty
            cleared += 1
        }
    }

    private func inspect(_ declaration: Declaration) throws {
        if declaration.items.isEmpty { throw InspectionError.missingPapers }
        if let item = declaration.items.first(where: { $0.code == "9707" }) {
            throw InspectionError.prohibitedGoods(item.code)
        }
        usleep(1_500)
        if declaration.number % 17 == 0 { throw InspectionError.sealBroken }
    }

    func refuse() { lock.withLock { refused += 1 } }

    var summary: String {
        lock.withLock { "cleared \(cleared), refused \(refused), duty \(collected), open \(underReview.count)" }
    }
}

func papers(_ number: Int) -> [Item] {
    let count = number % 11 == 0 ? 0 : 1 + number % 4
    return (0..<count).map { index in
        Item(code: String(8400 + (number * 131 + index * 977) % 1400), value: 200 + (number * 17 + index) % 900)
    }
}

let office = CustomsOffice()
let group = DispatchGroup()
for counter in 0..<3 {
    DispatchQueue.global().async(group: group) {
        for turn in 0..<300 {
            let number = turn * 3 + counter
            let declaration = Declaration(number: number, items: papers(number))
            do {
                try office.process(declaration)
            } catch {
                office.refuse()
            }
        }
    }
}
group.wait()
print(office.summary)
