import Collections
import Foundation

final class Term {
    let word: String
    let language: String
    let translation: [UInt8]

    init(word: String, language: String, translation: [UInt8]) {
        self.word = word
        self.language = language
        self.translation = translation
    }
}

/// The slow dictionary on disk.
struct Lexicon {
    let languages = ["de", "fr", "it", "nl", "pl"]

    func load(_ number: Int) -> Term {
        let word = "word\(number)"
        let language = languages[number % languages.count]
        let translation = Array("\(word) in \(language), sense \(number % 3)".utf8.reversed())
        return Term(word: word, language: language, translation: translation)
    }
}

struct Lookup: Comparable {
    let time: ContinuousClock.Instant
    let number: Int
    static func < (lhs: Lookup, rhs: Lookup) -> Bool { lhs.time < rhs.time }
}

/// The most recently used terms, with an index per language for the side bar.
final class TermCache {
    static let shared = TermCache(capacity: 400)

    private let capacity: Int
    private let lexicon = Lexicon()
    private var entries: OrderedDictionary<Int, Term> = [:]
    private var byLanguage: [String: Deque<Term>] = [:]
    private var recent = Heap<Lookup>()
    private(set) var hits = 0
    private(set) var misses = 0

    init(capacity: Int) {
        self.capacity = capacity
        entries.reserveCapacity(capacity)
    }

    func term(_ number: Int) -> Term {
        recent.insert(Lookup(time: .now, number: number))
        if recent.count > 64 { recent.removeMin() }
        if let term = entries.removeValue(forKey: number) {
            hits += 1
            entries[number] = term
            return term
        }
        misses += 1
        let term = lexicon.load(number)
        insert(term, number)
        return term
    }

    private func insert(_ term: Term, _ number: Int) {
        if entries.count >= capacity { evictOldest() }
        entries[number] = term
        byLanguage[term.language, default: []].prepend(term)
    }

    private func evictOldest() {
        entries.removeFirst()
    }

    /// What the side bar shows for a language.
    func newest(_ language: String, _ count: Int) -> [String] {
        (byLanguage[language] ?? []).prefix(count).map(\.word)
    }

    var size: Int { entries.count }
}

struct Reader {
    let seed: Int

    /// Reads a chapter: mostly common words, and some rare ones.
    func read(chapter: Int, with cache: TermCache) -> Int {
        var letters = 0
        for position in 0..<120 {
            let common = (position * 7 + seed) % 100
            letters += cache.term(common).translation.count
        }
        for rare in 0..<45 {
            letters += cache.term(1000 + chapter * 45 + rare).translation.count
        }
        return letters
    }
}

@main
struct Glossary {
    static func main() {
        let cache = TermCache.shared
        var letters = 0
        var shown = 0
        for chapter in 0..<40 {
            let reader = Reader(seed: chapter % 4)
            letters += reader.read(chapter: chapter, with: cache)
            for language in Lexicon().languages { shown += cache.newest(language, 10).count }
            Thread.sleep(forTimeInterval: 0.02)
        }
        print("letters \(letters), shown \(shown), cached \(cache.size), hits \(cache.hits), misses \(cache.misses)")
    }
}
