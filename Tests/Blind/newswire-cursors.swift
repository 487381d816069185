// A news agency feed: dispatches form a forward linked stream, every
// editorial desk reads it at its own pace through a cursor.

final class Dispatch {
    let serial: Int
    let slug: String
    let words: Int
    fileprivate(set) var newer: Dispatch?

    init(serial: Int, slug: String, words: Int) {
        self.serial = serial
        self.slug = slug
        self.words = words
    }
}

final class DeskCursor {
    let desk: String
    private var position: Dispatch
    private(set) var isOpen = true
    private(set) var articles = 0
    private(set) var words = 0

    init(desk: String, from position: Dispatch) {
        self.desk = desk
        self.position = position
    }

    func advance(limit: Int, wanted: (Dispatch) -> Bool) {
        guard isOpen else { return }
        var budget = limit
        while budget > 0, let item = position.newer {
            position = item
            budget -= 1
            if wanted(item) {
                articles += 1
                words += item.words
            }
        }
    }

    func close() {
        isOpen = false
    }
}

final class Newswire {
    private var latest: Dispatch
    private(set) var cursors: [DeskCursor] = []
    private(set) var published = 0

    init() {
        latest = Dispatch(serial: 0, slug: "start-of-wire", words: 0)
    }

    func open(desk: String) -> DeskCursor {
        let cursor = DeskCursor(desk: desk, from: latest)
        cursors.append(cursor)
        return cursor
    }

    func publish(slug: String, words: Int) {
        published += 1
        let item = Dispatch(serial: published, slug: slug, words: words)
        latest.newer = item
        latest = item
    }

    func openDesks() -> Int {
        cursors.lazy.filter { $0.isOpen }.count
    }
}

let wire = Newswire()
let topics = ["politics", "markets", "football", "weather", "culture", "science"]

let sports = wire.open(desk: "sports")
let economy = wire.open(desk: "economy")
let election = wire.open(desk: "election-night")
let general = wire.open(desk: "general")

var x: UInt32 = 88172645
func roll(_ n: UInt32) -> Int {
    x ^= x << 13
    x ^= x >> 17
    x ^= x << 5
    return Int(x % n)
}

for round in 0..<540 {
    for _ in 0..<4 {
        let topic = topics[roll(6)]
        wire.publish(slug: "\(topic)-\(round)", words: 80 + roll(400))
    }
    sports.advance(limit: 10) { $0.slug.hasPrefix("football") }
    economy.advance(limit: 10) { $0.slug.hasPrefix("markets") }
    election.advance(limit: 10) { $0.slug.hasPrefix("politics") }
    general.advance(limit: 10) { _ in true }

    if round == 61 {
        election.close()
    }
}

print("published \(wire.published), open desks \(wire.openDesks()) of \(wire.cursors.count)")
for cursor in wire.cursors {
    print("\(cursor.desk): \(cursor.articles) articles, \(cursor.words) words")
}
