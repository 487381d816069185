import Foundation

struct OutlineItem: Equatable {
    var heading: String
    var level: Int
}

final class OutlineVersion {
    let number: Int
    let items: [OutlineItem]
    let author: String
    let basis: OutlineVersion?

    init(number: Int, items: [OutlineItem], author: String, basis: OutlineVersion?) {
        self.number = number
        self.items = items
        self.author = author
        self.basis = basis
    }

    func changedHeadings() -> Int {
        guard let basis else { return items.count }
        let shared = zip(items, basis.items).filter { $0 == $1 }.count
        return max(items.count, basis.items.count) - shared
    }
}

final class OutlineStore {
    private(set) var current: OutlineVersion
    private(set) var churn = 0

    init(title: String) {
        current = OutlineVersion(number: 0, items: [OutlineItem(heading: title, level: 0)], author: "system", basis: nil)
    }

    func commit(author: String, _ change: (inout [OutlineItem]) -> Void) {
        var items = current.items
        change(&items)
        let next = OutlineVersion(number: current.number + 1, items: items, author: author, basis: current)
        churn += next.changedHeadings()
        current = next
    }
}

struct Reviewer {
    let name: String
    let stride: Int

    func revise(_ items: inout [OutlineItem], round: Int) {
        if items.count < 24 {
            items.append(OutlineItem(heading: "Section \(round)", level: 1 + round % 3))
            return
        }
        let slot = 1 + (round * stride) % (items.count - 1)
        if round % 5 == 0 {
            items.remove(at: slot)
        } else {
            items[slot].heading = "\(name) \(round)"
            items[slot].level = 1 + (items[slot].level + 1) % 3
        }
    }
}

@main
enum OutlineSession {
    nonisolated(unsafe) static let store = OutlineStore(title: "Field handbook")

    static func main() {
        let reviewers = [
            Reviewer(name: "Imre", stride: 3),
            Reviewer(name: "Sol", stride: 7),
            Reviewer(name: "Wanda", stride: 11),
        ]
        for round in 1...650 {
            let reviewer = reviewers[round % reviewers.count]
            store.commit(author: reviewer.name) { items in
                reviewer.revise(&items, round: round)
            }
            if round % 10 == 0 {
                usleep(9_000)
            }
        }
        let last = store.current
        print("revlog: version \(last.number) by \(last.author), \(last.items.count) headings, churn \(store.churn)")
    }
}
