import Foundation
import Dispatch

final class Chapter {
    let number: Int
    let text: String
    init(number: Int) {
        self.number = number
        let words = ["river", "stone", "light", "house", "garden", "winter", "letter"]
        text = (0..<150).map { words[($0 * $0 + number * 3) % 7] }.joined(separator: " ")
    }
}

final class Tally {
    let chapter: Int
    let counts: [String: Int]
    init(chapter: Int, counts: [String: Int]) { self.chapter = chapter; self.counts = counts }
}

final class ResultList: @unchecked Sendable {
    private let lock = NSLock()
    private var results: [Tally] = []
    func add(_ t: Tally) {
        lock.lock()
        results.append(t)
        lock.unlock()
    }
    func all() -> [Tally] {
        lock.lock()
        defer { lock.unlock() }
        return results
    }
}

final class Counter: @unchecked Sendable {
    private let queue = DispatchQueue(label: "count", attributes: .concurrent)
    private let group = DispatchGroup()
    private let results: ResultList
    init(results: ResultList) { self.results = results }

    func submit(_ number: Int) {
        queue.async(group: group) { [results] in
            let chapter = Chapter(number: number)
            var counts: [String: Int] = [:]
            for w in chapter.text.split(separator: " ") { counts[String(w), default: 0] += 1 }
            results.add(Tally(chapter: chapter.number, counts: counts))
        }
    }
    func wait() { group.wait() }
}

final class Report {
    private var totals: [String: Int] = [:]
    func include(_ t: Tally) { totals.merge(t.counts, uniquingKeysWith: +) }
    var top: (String, Int) {
        let e = totals.max { ($0.value, $0.key) < ($1.value, $1.key) }
        return (e?.key ?? "", e?.value ?? 0)
    }
}

let results = ResultList()
let counter = Counter(results: results)
for book in 0..<10 {
    for chapter in 0..<40 { counter.submit(book * 40 + chapter) }
    // keep the queue short
    counter.wait()
}
let report = Report()
let tallies = results.all()
for t in tallies { report.include(t) }
print("chapters \(tallies.count) top \(report.top.0)=\(report.top.1)")
