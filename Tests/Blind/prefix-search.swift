import Foundation

// Autocomplete over a dictionary: a trie is built once, then answers prefix,
// fuzzy and wildcard queries. Frequent completions are kept per node.

final class Entry {
    let word: String
    let weight: Int
    init(word: String, weight: Int) {
        self.word = word
        self.weight = weight
    }
}

final class TrieNode {
    private(set) var children: [(letter: UInt8, node: TrieNode)] = []
    private(set) var best: [Entry] = []
    var entry: Entry?

    func child(_ letter: UInt8) -> TrieNode? {
        for (candidate, node) in children where candidate == letter { return node }
        return nil
    }

    func makeChild(_ letter: UInt8) -> TrieNode {
        if let existing = child(letter) { return existing }
        let fresh = TrieNode()
        let position = children.firstIndex { $0.letter > letter } ?? children.count
        children.insert((letter, fresh), at: position)
        return fresh
    }

    func offer(_ entry: Entry) {
        let position = best.firstIndex { ($0.weight, entry.word) < (entry.weight, $0.word) } ?? best.count
        guard position < 5 else { return }
        best.insert(entry, at: position)
        if best.count > 5 { best.removeLast() }
    }
}

final class Dictionary26 {
    private let root = TrieNode()
    private(set) var words = 0
    private(set) var nodes = 1

    func insert(_ word: String, weight: Int) {
        let entry = Entry(word: word, weight: weight)
        var node = root
        node.offer(entry)
        for letter in word.utf8 {
            let before = node.children.count
            let next = node.makeChild(letter)
            if node.children.count > before { nodes += 1 }
            node = next
            node.offer(entry)
        }
        if node.entry == nil { words += 1 }
        node.entry = entry
    }

    func complete(_ prefix: String) -> [Entry] {
        var node = root
        for letter in prefix.utf8 {
            guard let next = node.child(letter) else { return [] }
            node = next
        }
        return node.best
    }

    func match(wildcard: String) -> [Entry] {
        let letters = Array(wildcard.utf8)
        var result: [Entry] = []
        func visit(_ node: TrieNode, _ index: Int) {
            if index == letters.count {
                if let entry = node.entry { result.append(entry) }
            } else if letters[index] == UInt8(ascii: "?") {
                for (_, child) in node.children { visit(child, index + 1) }
            } else if let child = node.child(letters[index]) {
                visit(child, index + 1)
            }
        }
        visit(root, 0)
        return result
    }

    /// Words within the given edit distance; rows of the matrix are passed down.
    func fuzzy(_ word: String, distance: Int) -> [Entry] {
        let letters = Array(word.utf8)
        var result: [Entry] = []
        func visit(_ node: TrieNode, _ letter: UInt8, _ previous: [Int]) {
            var row = [previous[0] + 1]
            row.reserveCapacity(letters.count + 1)
            for column in 1...letters.count {
                let replace = previous[column - 1] + (letters[column - 1] == letter ? 0 : 1)
                row.append(min(row[column - 1] + 1, previous[column] + 1, replace))
            }
            if row[letters.count] <= distance, let entry = node.entry { result.append(entry) }
            if row.min()! <= distance {
                for (next, child) in node.children { visit(child, next, row) }
            }
        }
        let first = Array(0...letters.count)
        for (letter, child) in root.children { visit(child, letter, first) }
        return result.sorted { $0.weight > $1.weight }
    }
}

struct WordMaker {
    private var seed: UInt32 = 521_288_629
    private let onsets = ["b", "br", "c", "ch", "d", "f", "g", "gr", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "tr", "v"]
    private let vowels = ["a", "e", "i", "o", "u", "ea", "ou"]
    private let codas = ["", "n", "r", "s", "t", "nd", "l", "m"]

    mutating func next(_ bound: Int) -> Int {
        seed = seed &* 1_664_525 &+ 1_013_904_223
        return Int(seed >> 10) % bound
    }

    mutating func word() -> String {
        var result = ""
        for _ in 0..<(2 + next(2)) {
            result += onsets[next(onsets.count)]
            result += vowels[next(vowels.count)]
            result += codas[next(codas.count)]
        }
        return result
    }

    mutating func typo(_ word: String) -> String {
        var letters = Array(word.utf8)
        let position = next(letters.count)
        switch next(3) {
        case 0: letters.remove(at: position)
        case 1: letters[position] = UInt8(97 + next(26))
        default: letters.insert(UInt8(97 + next(26)), at: position)
        }
        return String(decoding: letters, as: UTF8.self)
    }
}

var maker = WordMaker()
let dictionary = Dictionary26()
var vocabulary: [String] = []
for _ in 0..<18_000 {
    let word = maker.word()
    vocabulary.append(word)
    dictionary.insert(word, weight: maker.next(10_000))
}
print("words \(dictionary.words), nodes \(dictionary.nodes)")

var suggestions = 0, weight = 0
for round in 0..<700_000 {
    let word = vocabulary[maker.next(vocabulary.count)]
    let found = dictionary.complete(String(word.prefix(1 + round % 4)))
    suggestions += found.count
    weight += found.first?.weight ?? 0
}
print("suggestions \(suggestions), weight \(weight)")

var corrected = 0, candidates = 0
for _ in 0..<400 {
    let word = vocabulary[maker.next(vocabulary.count)]
    let found = dictionary.fuzzy(maker.typo(word), distance: 1)
    candidates += found.count
    if found.contains(where: { $0.word == word }) { corrected += 1 }
}
print("corrected \(corrected) of 400, candidates \(candidates)")

for pattern in ["b?n?r", "??st?", "ch???", "?ra??"] {
    let found = dictionary.match(wildcard: pattern)
    print("\(pattern): \(found.count) words, heaviest \(found.max { $0.weight < $1.weight }?.word ?? "-")")
}
