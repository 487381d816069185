import Foundation

// A miniature test framework with suites, fixtures and mocks, used to check a
// shopping cart. Failures are collected and reported once at the end.

final class Failure {
    let test: String
    let message: String
    let line: UInt
    init(test: String, message: String, line: UInt) {
        self.test = test
        self.message = message
        self.line = line
    }
}

final class Recorder {
    private(set) var failures: [Failure] = []
    private(set) var assertions = 0
    private(set) var durations: [(test: String, seconds: Double)] = []
    private var current = ""

    func begin(_ name: String) { current = name }
    func finish(seconds: Double) { durations.append((current, seconds)) }

    func expect<T: Equatable>(_ actual: T, _ expected: T, line: UInt = #line) {
        assertions += 1
        if actual != expected { failures.append(Failure(test: current, message: "\(actual) is not \(expected)", line: line)) }
    }

    func expectThrows(_ body: () throws -> Void, line: UInt = #line) {
        assertions += 1
        do {
            try body()
            failures.append(Failure(test: current, message: "no error thrown", line: line))
        } catch {}
    }
}

class Suite {
    let recorder: Recorder
    required init(recorder: Recorder) { self.recorder = recorder }
    func setUp() {}
    func tearDown() {}
    class var tests: [(String, (Suite) -> () throws -> Void)] { [] }
}

final class Runner {
    private let recorder = Recorder()
    private(set) var executed = 0

    func run(_ suites: [Suite.Type]) {
        for suite in suites {
            for (name, test) in suite.tests {
                let fixture = suite.init(recorder: recorder)
                recorder.begin("\(suite).\(name)")
                let start = DispatchTime.now().uptimeNanoseconds
                fixture.setUp()
                do { try test(fixture)() } catch { recorder.expect("\(error)", "no error") }
                fixture.tearDown()
                recorder.finish(seconds: Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9)
                executed += 1
            }
        }
    }

    func report() {
        for failure in recorder.failures.prefix(5) { print("\(failure.test):\(failure.line) \(failure.message)") }
        let tests = Set(recorder.durations.map(\.test)).count
        print("\(tests) tests, \(executed) runs, \(recorder.assertions) assertions, \(recorder.failures.count) failures")
    }
}

// Code under test.

protocol PriceSource: AnyObject { func price(of sku: String) throws -> Int }
protocol CartListener: AnyObject { func cartChanged(_ cart: Cart, total: Int) }
enum CartError: Error { case unknownSKU(String), tooMany(Int), closed }

final class Cart {
    private final class Line {
        let sku: String
        var quantity: Int
        init(sku: String, quantity: Int) {
            self.sku = sku
            self.quantity = quantity
        }
    }
    private var lines: [Line] = []
    private let prices: PriceSource
    private var closed = false
    var discounts: [(Int) -> Int] = []
    weak var listener: CartListener?

    init(prices: PriceSource) { self.prices = prices }

    func add(_ sku: String, quantity: Int = 1) throws {
        guard !closed else { throw CartError.closed }
        guard quantity <= 99 else { throw CartError.tooMany(quantity) }
        _ = try prices.price(of: sku)
        if let line = lines.first(where: { $0.sku == sku }) { line.quantity += quantity } else { lines.append(Line(sku: sku, quantity: quantity)) }
        listener?.cartChanged(self, total: try total())
    }

    func remove(_ sku: String) throws {
        guard !closed else { throw CartError.closed }
        lines.removeAll { $0.sku == sku }
        listener?.cartChanged(self, total: try total())
    }

    func total() throws -> Int {
        let sum = try lines.reduce(0) { $0 + $1.quantity * (try prices.price(of: $1.sku)) }
        return discounts.reduce(sum) { $1($0) }
    }

    func checkout() throws -> String {
        closed = true
        let body = lines.map { "\($0.quantity)x\($0.sku)" }.joined(separator: ",")
        return "\(body)=\(try total())"
    }

    var count: Int { lines.count }
}

// Mocks.

final class MockPrices: PriceSource {
    private(set) var calls: [String] = []
    var stubs: [String: Int] = [:]
    var onCall: ((String) -> Void)?

    func price(of sku: String) throws -> Int {
        calls.append(sku)
        onCall?(sku)
        guard let price = stubs[sku] else { throw CartError.unknownSKU(sku) }
        return price
    }
}

final class SpyListener: CartListener {
    private(set) var totals: [Int] = []
    func cartChanged(_ cart: Cart, total: Int) { totals.append(total) }
}

final class CartSuite: Suite {
    private var prices: MockPrices!
    private var spy: SpyListener!
    private var cart: Cart!

    override func setUp() {
        prices = MockPrices()
        for n in 0..<30 { prices.stubs["sku\(n)"] = 100 + n * 5 }
        spy = SpyListener()
        cart = Cart(prices: prices)
        cart.listener = spy
    }

    override func tearDown() {
        cart = nil
        spy = nil
        prices = nil
    }

    override class var tests: [(String, (Suite) -> () throws -> Void)] {
        [
            ("testTotals", { suite in (suite as! CartSuite).testTotals }),
            ("testListener", { suite in (suite as! CartSuite).testListener }),
            ("testErrors", { suite in (suite as! CartSuite).testErrors }),
            ("testPriceLookups", { suite in (suite as! CartSuite).testPriceLookups }),
            ("testDiscounts", { suite in (suite as! CartSuite).testDiscounts }),
        ]
    }

    private func testTotals() throws {
        for n in 0..<20 { try cart.add("sku\(n)", quantity: n % 4 + 1) }
        recorder.expect(cart.count, 20)
        recorder.expect(try cart.total(), (0..<20).reduce(0) { $0 + ($1 % 4 + 1) * (100 + $1 * 5) })
        try cart.remove("sku0")
        recorder.expect(cart.count, 19)
    }

    private func testListener() throws {
        try cart.add("sku1")
        try cart.add("sku2", quantity: 2)
        try cart.remove("sku1")
        recorder.expect(spy.totals, [105, 325, 220])
    }

    private func testErrors() throws {
        recorder.expectThrows { try cart.add("nothing") }
        recorder.expectThrows { try cart.add("sku1", quantity: 100) }
        recorder.expect(try cart.checkout(), "=0")
        recorder.expectThrows { try cart.add("sku1") }
    }

    private func testPriceLookups() throws {
        var seen = Set<String>()
        prices.onCall = { seen.insert($0) }
        for n in 0..<10 { try cart.add("sku\(n)") }
        recorder.expect(seen.count, 10)
        recorder.expect(prices.calls.count, 10 + (1...10).reduce(0, +))
    }

    private func testDiscounts() throws {
        let threshold = 500
        cart.discounts.append { $0 > threshold ? $0 * 90 / 100 : $0 }
        cart.discounts.append { [spy] total in spy!.totals.isEmpty ? total : total - 5 }
        try cart.add("sku0", quantity: 10)
        recorder.expect(try cart.total(), 895)
        recorder.expect(try cart.checkout(), "10xsku0=895")
    }
}

let runner = Runner()
for _ in 0..<7_000 { runner.run([CartSuite.self]) }
runner.report()
