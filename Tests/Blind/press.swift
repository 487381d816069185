import Foundation

struct Manuscript: Sendable {
    let number: Int
    let text: String
}

/// A proof sheet as it comes out of the press.
final class Proof: Sendable {
    let number: Int
    let lines: [String]
    let inkUsed: Int

    init(number: Int, lines: [String]) {
        self.number = number
        self.lines = lines
        self.inkUsed = lines.reduce(0) { $0 + $1.utf8.count }
    }
}

actor Ledger {
    private(set) var sheets = 0
    private(set) var ink = 0

    func book(_ amount: Int) {
        sheets += 1
        ink += amount
    }
}

struct Compositor: Sendable {
    let measure: Int

    func set(_ manuscript: Manuscript) -> Proof {
        var lines: [String] = []
        var line = ""
        for word in manuscript.text.split(separator: " ") {
            if line.utf8.count + word.utf8.count + 1 > measure {
                lines.append(line)
                line = ""
            }
            line += line.isEmpty ? String(word) : " " + word
        }
        if !line.isEmpty { lines.append(line) }
        return Proof(number: manuscript.number, lines: lines)
    }
}

/// Yields the manuscripts that customers bring in during the day.
struct FrontDesk: AsyncSequence, AsyncIteratorProtocol {
    typealias Element = Manuscript
    let limit: Int
    private var taken = 0

    init(limit: Int) { self.limit = limit }

    mutating func next() async -> Manuscript? {
        guard taken < limit else { return nil }
        taken += 1
        if taken % 10 == 0 { try? await Task.sleep(for: .milliseconds(15)) }
        let words = (0..<30).map { "w\((taken * 7 + $0 * 13) % 101)" }
        return Manuscript(number: taken, text: words.joined(separator: " "))
    }

    func makeAsyncIterator() -> FrontDesk { self }
}

func runPress(_ desk: FrontDesk, ledger: Ledger) async {
    let compositor = Compositor(measure: 36)
    await withTaskGroup(of: Proof.self) { group in
        for await manuscript in desk {
            group.addTask {
                let proof = compositor.set(manuscript)
                await ledger.book(proof.inkUsed)
                return proof
            }
        }
        while await ledger.sheets < desk.limit {
            try? await Task.sleep(for: .milliseconds(10))
        }
        let ink = await ledger.ink
        print("pulled \(desk.limit) proofs, \(ink) units of ink")
        exit(0)
    }
}

await runPress(FrontDesk(limit: 400), ledger: Ledger())
