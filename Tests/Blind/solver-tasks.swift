import Foundation

final class Puzzle: Sendable {
    let id: Int
    let size: Int
    init(id: Int) { self.id = id; size = 5 + id % 3 }
}

final class Solution: Sendable {
    let puzzle: Int
    let columns: [Int]
    let tried: Int
    init(puzzle: Int, columns: [Int], tried: Int) { self.puzzle = puzzle; self.columns = columns; self.tried = tried }
}

final class QueenSearch {
    private let size: Int
    private var columns: [Int] = []
    private(set) var tried = 0
    private var skip: Int
    init(size: Int, skip: Int) { self.size = size; self.skip = skip }

    private func fits(_ c: Int) -> Bool {
        for (row, other) in columns.enumerated() where other == c || abs(other - c) == columns.count - row { return false }
        return true
    }
    func run() -> [Int]? {
        if columns.count == size {
            if skip == 0 { return columns }
            skip -= 1
            return nil
        }
        for c in 0..<size {
            tried += 1
            guard fits(c) else { continue }
            columns.append(c)
            if let found = run() { return found }
            columns.removeLast()
        }
        return nil
    }
}

actor Archive {
    private var solutions: [Int: Solution] = [:]
    func put(_ s: Solution) { solutions[s.puzzle] = s }
    func summary() -> (Int, Int) {
        (solutions.count, solutions.values.reduce(0) { $0 + $1.tried })
    }
}

@main
enum Main {
    static let archive = Archive()

    static func start(_ p: Puzzle) -> Task<Solution?, Never> {
        Task {
            await Task.yield()
            let search = QueenSearch(size: p.size, skip: p.id % 9)
            guard let columns = search.run() else { return nil }
            return Solution(puzzle: p.id, columns: columns, tried: search.tried)
        }
    }

    static func main() async {
        var handles: [Task<Solution?, Never>] = []
        for round in 0..<12 {
            for i in 0..<25 { handles.append(start(Puzzle(id: round * 25 + i))) }
            try? await Task.sleep(nanoseconds: 5_000_000)
        }
        var unsolved = 0
        for h in handles {
            if let s = await h.value { await archive.put(s) } else { unsolved += 1 }
        }
        let (count, tried) = await archive.summary()
        print("solved \(count) unsolved \(unsolved) tried \(tried)")
    }
}
