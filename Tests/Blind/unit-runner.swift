import Foundation

final class Fixture {
    let values: [Int]
    init(size: Int, seed: Int) { values = (0..<size).map { ($0 * 7919 + seed) % 1000 } }
    func sorted() -> [Int] { values.sorted() }
}

final class Outcome {
    let passed: Bool
    let message: String
    init(passed: Bool, message: String) { self.passed = passed; self.message = message }
}

final class TestCase {
    let name: String
    let body: () throws -> Void
    var outcome: Outcome?
    init(name: String, body: @escaping () throws -> Void) { self.name = name; self.body = body }
}

struct Failure: Error { let text: String }

final class Suite {
    let name: String
    private(set) var cases: [TestCase] = []
    init(name: String) { self.name = name }
    func test(_ n: String, _ body: @escaping () throws -> Void) { cases.append(TestCase(name: n, body: body)) }
    func run() -> Int {
        var good = 0
        for c in cases {
            do {
                try c.body()
                c.outcome = Outcome(passed: true, message: "ok")
                good += 1
            } catch {
                c.outcome = Outcome(passed: false, message: "\(c.name): \(error)")
            }
        }
        return good
    }
}

final class Runner {
    static let shared = Runner()
    private var suites: [Suite] = []
    func register(_ s: Suite) { suites.append(s) }
    func runAll() -> (Int, Int) {
        let good = suites.reduce(0) { $0 + $1.run() }
        let all = suites.reduce(0) { $0 + $1.cases.count }
        return (good, all)
    }
    func firstFailure() -> String? {
        for s in suites { for c in s.cases { if let o = c.outcome, !o.passed { return o.message } } }
        return nil
    }
}

func expect(_ ok: Bool, _ text: String) throws { if !ok { throw Failure(text: text) } }

func sortingSuite(_ n: Int) -> Suite {
    let suite = Suite(name: "sorting\(n)")
    for size in 1...20 {
        let fixture = Fixture(size: size, seed: n)
        suite.test("order of \(size) in round \(n)") {
            let s = fixture.sorted()
            try expect(zip(s, s.dropFirst()).allSatisfy { $0 <= $1 }, "not sorted")
        }
        suite.test("parity of \(size) in round \(n)") {
            try expect(fixture.values[0] % 2 == n % 2 || size != 13, "parity")
        }
        suite.test("limit of \(size) in round \(n)") {
            try expect(fixture.values.max()! < 1000 - (n == 17 ? 100 : 0) || size < 15, "limit")
        }
    }
    return suite
}

@main
enum Tests {
    static func main() {
        for n in 0..<25 { Runner.shared.register(sortingSuite(n)) }
        let (good, all) = Runner.shared.runAll()
        print("passed \(good) of \(all), first failure: \(Runner.shared.firstFailure() ?? "none")")
    }
}
