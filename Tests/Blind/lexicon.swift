import Foundation

/// A headword with its senses and the words it points to.
final class Entry {
    let word: String
    let senses: [String]
    fileprivate(set) var related: [String] = []
    fileprivate(set) var lookups = 0

    init(word: String, senses: [String]) {
        self.word = word
        self.senses = senses
    }
}

final class Lexicon {
    private var byWord: [String: Entry] = [:]
    private var byPrefix: [String: [Entry]] = [:]

    func load(_ words: [String]) {
        for (index, word) in words.enumerated() {
            let senses = (0...(index % 3)).map { "sense \($0 + 1) of \(word)" }
            let entry = Entry(word: word, senses: senses)
            byWord[word] = entry
            byPrefix[String(word.prefix(2)), default: []].append(entry)
            if index > 0 { entry.related.append(words[index - 1]) }
            if index % 500 == 0 { usleep(6_000) }
        }
    }

    func look(up word: String) -> Entry? {
        guard let entry = byWord[word] else { return nil }
        entry.lookups += 1
        return entry
    }

    func complete(_ prefix: String, limit: Int) -> [String] {
        let bucket = byPrefix[String(prefix.prefix(2))] ?? []
        return bucket.lazy.filter { $0.word.hasPrefix(prefix) }.prefix(limit).map(\.word)
    }

    func chain(from word: String, steps: Int) -> Int {
        var length = 0
        var cursor = look(up: word)
        while let entry = cursor, length < steps, let next = entry.related.first {
            length += 1
            cursor = look(up: next)
        }
        return length
    }

    var size: Int { byWord.count }
    var consulted: Int { byWord.values.filter { $0.lookups > 0 }.count }
}

func makeWords(_ count: Int) -> [String] {
    let heads = ["ba", "ce", "do", "fi", "gu", "la", "me", "no", "pi", "ru"]
    let tails = ["n", "ra", "lo", "st", "mi", "ke"]
    return (0..<count).map { number in
        var word = heads[number % heads.count]
        var rest = number / heads.count
        repeat {
            word += tails[rest % tails.count]
            rest /= tails.count
        } while rest > 0
        return word
    }
}

let words = makeWords(6_000)
let lexicon = Lexicon()
lexicon.load(words)
var hits = 0
var steps = 0
var completions = 0
for query in 0..<4_000 {
    let word = words[(query * 2_654_435) % words.count]
    if lexicon.look(up: query % 9 == 0 ? word + "x" : word) != nil { hits += 1 }
    if query % 4 == 0 { steps += lexicon.chain(from: word, steps: 12) }
    if query % 10 == 0 { completions += lexicon.complete(String(word.prefix(3)), limit: 5).count }
    if query % 100 == 0 { usleep(9_000) }
}
print("\(lexicon.size) entries, \(hits) hits, \(steps) steps, \(completions) completions, consulted \(lexicon.consulted)")
