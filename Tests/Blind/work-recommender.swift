import Foundation

final class Film {
    let id: Int
    let genres: Set<Int>
    var popularity = 0
    init(id: Int, genres: Set<Int>) {
        self.id = id
        self.genres = genres
    }
}

final class Viewer {
    let id: Int
    private(set) var taste: [Int: Double] = [:]
    private(set) var watched = Set<Int>()
    private(set) var revision = 0

    init(id: Int) { self.id = id }

    func watch(_ film: Film, stars: Int) {
        guard watched.insert(film.id).inserted else { return }
        for genre in film.genres {
            taste[genre] = (taste[genre] ?? 0) * 0.9 + Double(stars - 3)
        }
        film.popularity += stars
        revision += 1
    }
}

final class Suggestion {
    let film: Film
    let score: Double
    init(film: Film, score: Double) {
        self.film = film
        self.score = score
    }
}

final class ShelfRow {
    let viewer: Int
    let revision: Int
    let suggestions: [Suggestion]
    var newer: ShelfRow?
    weak var older: ShelfRow?

    init(viewer: Int, revision: Int, suggestions: [Suggestion]) {
        self.viewer = viewer
        self.revision = revision
        self.suggestions = suggestions
    }
}

final class RowCache {
    private var table: [Int: ShelfRow] = [:]
    private var oldest: ShelfRow?
    private weak var newest: ShelfRow?
    private let capacity: Int
    private(set) var hits = 0
    private(set) var misses = 0

    init(capacity: Int) { self.capacity = capacity }

    func row(for viewer: Viewer) -> ShelfRow? {
        guard let row = table[viewer.id] else {
            misses += 1
            return nil
        }
        if row.revision != viewer.revision {
            unlink(row)
            table[viewer.id] = nil
            misses += 1
            return nil
        }
        unlink(row)
        append(row)
        hits += 1
        return row
    }

    func store(_ row: ShelfRow) {
        if let present = table[row.viewer] { unlink(present) }
        table[row.viewer] = row
        append(row)
        while table.count > capacity, let victim = oldest {
            unlink(victim)
            table[victim.viewer] = nil
        }
    }

    private func append(_ row: ShelfRow) {
        row.older = newest
        row.newer = nil
        if let tail = newest { tail.newer = row } else { oldest = row }
        newest = row
    }

    private func unlink(_ row: ShelfRow) {
        let next = row.newer
        let previous = row.older
        if let previous { previous.newer = next } else { oldest = next }
        if let next { next.older = previous } else { newest = previous }
        row.newer = nil
        row.older = nil
    }
}

final class Recommender {
    private let films: [Film]
    private let cache = RowCache(capacity: 40)

    init(films: [Film]) { self.films = films }

    func suggestions(for viewer: Viewer) -> [Suggestion] {
        if let row = cache.row(for: viewer) { return row.suggestions }
        var ranked: [Suggestion] = []
        for film in films where !viewer.watched.contains(film.id) {
            var score = Double(film.popularity) / 200
            for genre in film.genres { score += viewer.taste[genre] ?? 0 }
            if score > 0.5 { ranked.append(Suggestion(film: film, score: score)) }
        }
        ranked.sort { $0.score > $1.score }
        let top = Array(ranked.prefix(10))
        cache.store(ShelfRow(viewer: viewer.id, revision: viewer.revision, suggestions: top))
        return top
    }

    var statistics: String { "\(cache.hits) hits, \(cache.misses) misses" }
    func mostPopular() -> Film? { films.max { $0.popularity < $1.popularity } }
}

func makeFilms() -> [Film] {
    (0..<300).map { n in Film(id: n, genres: [n % 7, (n / 7) % 11, (n * 5) % 13]) }
}

func eveningTraffic() {
    let films = makeFilms()
    let viewers = (0..<120).map { Viewer(id: $0) }
    let engine = Recommender(films: films)
    var state: UInt64 = 99
    func random(_ n: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(n))
    }
    for tick in 0..<1_800 {
        let viewer = viewers[random(4) == 0 ? random(120) : random(45)]
        let list = engine.suggestions(for: viewer)
        if random(5) == 0 {
            let film = list.isEmpty ? films[random(300)] : list[random(list.count)].film
            viewer.watch(film, stars: 1 + random(5))
        } else if viewer.watched.isEmpty {
            viewer.watch(films[random(300)], stars: 5)
        }
        if tick % 12 == 0 { usleep(10_000) }
    }
    print(engine.statistics)
    if let film = engine.mostPopular() { print("favourite #\(film.id) with \(film.popularity)") }
}

eveningTraffic()
