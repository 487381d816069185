// Sparse polynomials as sorted singly linked lists of terms, used to build
// the generating function of a coin system.

let modulus = 1_000_000_007

final class Term {
    var coefficient: Int
    let exponent: Int
    var next: Term?

    init(_ coefficient: Int, _ exponent: Int, next: Term? = nil) {
        self.coefficient = coefficient
        self.exponent = exponent
        self.next = next
    }
}

final class Polynomial {
    private(set) var first: Term?
    private var last: Term?
    private(set) var termCount = 0

    func append(_ coefficient: Int, _ exponent: Int) {
        let term = Term(coefficient, exponent)
        if let tail = last {
            tail.next = term
        } else {
            first = term
        }
        last = term
        termCount += 1
    }

    static func * (a: Polynomial, b: Polynomial) -> Polynomial {
        var sums: [Int: Int] = [:]
        var p = a.first
        while let s = p {
            var q = b.first
            while let t = q {
                let e = s.exponent + t.exponent
                sums[e] = (sums[e, default: 0] + s.coefficient * t.coefficient) % modulus
                q = t.next
            }
            p = s.next
        }
        let product = Polynomial()
        for e in sums.keys.sorted() where sums[e]! != 0 {
            product.append(sums[e]!, e)
        }
        return product
    }

    func truncated(to limit: Int) -> Polynomial {
        let result = Polynomial()
        var p = first
        while let t = p, t.exponent <= limit {
            result.append(t.coefficient, t.exponent)
            p = t.next
        }
        return result
    }

    func evaluate(at x: Int) -> Int {
        var total = 0
        var power = 1
        var reached = 0
        var p = first
        while let t = p {
            while reached < t.exponent {
                power = power * x % modulus
                reached += 1
            }
            total = (total + t.coefficient * power) % modulus
            p = t.next
        }
        return total
    }

    func coefficient(of exponent: Int) -> Int {
        var p = first
        while let t = p, t.exponent <= exponent {
            if t.exponent == exponent { return t.coefficient }
            p = t.next
        }
        return 0
    }
}

func coinSeries(_ coin: Int, limit: Int) -> Polynomial {
    let series = Polynomial()
    for k in stride(from: 0, through: limit, by: coin) {
        series.append(1, k)
    }
    return series
}

let limit = 1400
var ways = Polynomial()
ways.append(1, 0)

for coin in [2, 5, 10, 20, 50, 100, 200] {
    let series = coinSeries(coin, limit: limit)
    ways = (ways * series).truncated(to: limit)
    print("after \(coin) ct: \(ways.termCount) terms")
}

for amount in [10, 99, 250, 777, 1400] {
    print("\(amount) ct: \(ways.coefficient(of: amount)) ways")
}
print("value at 3: \(ways.evaluate(at: 3))")
