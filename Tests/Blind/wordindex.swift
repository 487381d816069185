import Foundation

final class Posting {
    let page: Int
    private(set) var offsets: [Int] = []

    init(page: Int) {
        self.page = page
    }

    func note(_ offset: Int) {
        offsets.append(offset)
    }
}

final class WordIndex {
    private var postings: [String: [Posting]] = [:]
    private(set) var pages = 0

    func add(page: Int, text: String) {
        pages += 1
        for (offset, word) in text.split(separator: " ").enumerated() {
            let key = String(word)
            if let last = postings[key]?.last, last.page == page {
                last.note(offset)
            } else {
                let posting = Posting(page: page)
                posting.note(offset)
                postings[key, default: []].append(posting)
            }
        }
    }

    func pages(withAll words: [String]) -> Set<Int> {
        var result: Set<Int>?
        for word in words {
            let found = Set((postings[word] ?? []).map(\.page))
            result = result?.intersection(found) ?? found
        }
        return result ?? []
    }

    func pages(withPhrase first: String, _ second: String) -> Int {
        let followers = Dictionary(uniqueKeysWithValues: (postings[second] ?? []).map { ($0.page, $0) })
        return (postings[first] ?? []).filter { posting in
            guard let follower = followers[posting.page] else { return false }
            let starts = Set(posting.offsets.map { $0 + 1 })
            return follower.offsets.contains { starts.contains($0) }
        }.count
    }

    var vocabulary: Int { postings.count }
}

struct Almanac {
    let stems = ["tide", "moon", "barley", "frost", "swallow", "lantern", "plough", "eclipse", "market", "rain"]

    func page(_ number: Int) -> String {
        (0..<18).map { position in
            let stem = stems[(number * 7 + position * (1 + number % 4)) % stems.count]
            return position % 6 == 5 ? "\(stem)\(number % 12)" : stem
        }.joined(separator: " ")
    }

    func query(_ number: Int) -> [String] {
        [stems[number % stems.count], stems[(number * 3 + 1) % stems.count]]
    }
}

@main
struct AlmanacSearch {
    nonisolated(unsafe) static let index = WordIndex()

    static func main() {
        let almanac = Almanac()
        for number in 0..<220 {
            index.add(page: number, text: almanac.page(number))
        }
        usleep(20_000)
        var matches = 0
        var phrases = 0
        for number in 0..<500 {
            let words = almanac.query(number)
            matches += index.pages(withAll: words).count
            phrases += index.pages(withPhrase: words[0], words[1])
            if number % 10 == 0 {
                usleep(8_000)
            }
        }
        print("wordindex: \(index.pages) pages, \(index.vocabulary) words, \(matches) matches, \(phrases) phrases")
    }
}
