import Foundation

final class TrieNode {
    var children: [UInt8: TrieNode] = [:]
    var weight = 0
}

final class Lexicon {
    private let root = TrieNode()
    private(set) var nodeCount = 1

    init(words: [String]) {
        for (rank, word) in words.enumerated() { insert(word, weight: rank + 1) }
    }

    private func insert(_ word: String, weight: Int) {
        var node = root
        for byte in word.utf8 {
            if let next = node.children[byte] {
                node = next
            } else {
                let next = TrieNode()
                nodeCount += 1
                node.children[byte] = next
                node = next
            }
        }
        node.weight = weight
    }

    func weight(of word: String) -> Int {
        var node = root
        for byte in word.utf8 {
            guard let next = node.children[byte] else { return 0 }
            node = next
        }
        return node.weight
    }
}

final class InternedName {
    let text: String
    let index: Int
    init(text: String, index: Int) {
        self.text = text
        self.index = index
    }
}

final class NameTable {
    private var names: [String: InternedName] = [:]

    func intern(_ text: String) -> InternedName {
        if let name = names[text] { return name }
        let name = InternedName(text: text, index: names.count)
        names[text] = name
        return name
    }

    var count: Int { names.count }
}

enum Model {
    static let lexicon = Lexicon(words: makeWords(600))
    static let names = NameTable()

    private static func makeWords(_ count: Int) -> [String] {
        let syllables = ["ba", "ko", "li", "mu", "ne", "ra", "so", "ti", "vu", "zen"]
        return (0..<count).map { n in
            syllables[n % 10] + syllables[(n / 10) % 10] + syllables[(n / 100) % 10] + syllables[(n * 7) % 10]
        }
    }
}

final class Query {
    let words: [String]
    let client: InternedName
    init(words: [String], client: InternedName) {
        self.words = words
        self.client = client
    }

    func score() -> Int {
        words.reduce(client.index) { $0 + Model.lexicon.weight(of: $1) }
    }
}

var score = 0
for request in 0..<400 {
    let client = Model.names.intern("client-\(min(request, 60) + request % 5)")
    let query = Query(words: ["bakolimu", "kobabako", "unknown\(request)", "tilibaso"], client: client)
    score += query.score()
}
print("score \(score) nodes \(Model.lexicon.nodeCount) names \(Model.names.count)")
