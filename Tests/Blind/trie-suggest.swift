import Foundation

final class Suggestion {
    let phrase: String
    var weight: Int
    init(phrase: String, weight: Int) {
        self.phrase = phrase
        self.weight = weight
    }
}

final class TrieNode {
    let parent: TrieNode?
    let letter: Character
    var children: [Character: TrieNode] = [:]
    var suggestion: Suggestion?

    init(letter: Character, parent: TrieNode?) {
        self.letter = letter
        self.parent = parent
    }

    var isUnused: Bool { children.isEmpty && suggestion == nil }
}

final class SuggestionTrie {
    private let root = TrieNode(letter: " ", parent: nil)
    private(set) var phrases = 0

    func insert(_ phrase: String, weight: Int) {
        var node = root
        for letter in phrase {
            if let next = node.children[letter] {
                node = next
            } else {
                let created = TrieNode(letter: letter, parent: node)
                node.children[letter] = created
                node = created
            }
        }
        if node.suggestion == nil { phrases += 1 }
        node.suggestion = Suggestion(phrase: phrase, weight: weight)
    }

    private func find(_ prefix: String) -> TrieNode? {
        var node: TrieNode? = root
        for letter in prefix { node = node?.children[letter] }
        return node
    }

    func remove(_ phrase: String) {
        guard let node = find(phrase), node.suggestion != nil else { return }
        node.suggestion = nil
        phrases -= 1
        guard node.isUnused else { return }
        var branch = node
        while let above = branch.parent, above.parent != nil, above.suggestion == nil, above.children.count == 1 {
            branch = above
        }
        branch.parent?.children[branch.letter] = nil
    }

    func complete(_ prefix: String, limit: Int) -> [String] {
        guard let start = find(prefix) else { return [] }
        var found: [Suggestion] = []
        var stack = [start]
        while let node = stack.popLast() {
            if let suggestion = node.suggestion { found.append(suggestion) }
            stack.append(contentsOf: node.children.values)
        }
        found.sort { ($1.weight, $0.phrase) < ($0.weight, $1.phrase) }
        return found.prefix(limit).map(\.phrase)
    }
}

final class RecentSearches {
    private let trie: SuggestionTrie
    private var recent: [String] = []
    private let keep = 20

    init(trie: SuggestionTrie) { self.trie = trie }

    func add(_ phrase: String, weight: Int) {
        trie.insert(phrase, weight: weight)
        recent.append(phrase)
        if recent.count > keep { trie.remove(recent.removeFirst()) }
    }

    func clear() {
        for phrase in recent { trie.remove(phrase) }
        recent.removeAll()
    }
}

let trie = SuggestionTrie()
for (rank, phrase) in ["trip planner", "train times", "tram map", "bus stops", "ferry prices"].enumerated() {
    trie.insert(phrase, weight: 1000 - rank)
}
let recent = RecentSearches(trie: trie)
var answered = 0
for i in 0..<700 {
    let code = String(format: "trip %03d", i)
    recent.add(i % 5 == 2 ? code + " hotel" : code, weight: i % 50)
    answered += trie.complete("tr", limit: 5).count
    usleep(1200)
}
recent.clear()
print("answered \(answered)")
print("phrases \(trie.phrases): \(trie.complete("t", limit: 3).joined(separator: ", "))")
