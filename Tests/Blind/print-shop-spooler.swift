import Foundation

enum PaperSize: Int, CaseIterable {
    case a3, a4, a5, letter

    var label: String {
        switch self {
        case .a3: return "A3"
        case .a4: return "A4"
        case .a5: return "A5"
        case .letter: return "Letter"
        }
    }
}

final class PrintJob {
    let number: Int
    let customer: String
    let size: PaperSize
    var pagesLeft: Int

    init(number: Int, customer: String, size: PaperSize, pages: Int) {
        self.number = number
        self.customer = customer
        self.size = size
        self.pagesLeft = pages
    }
}

final class JobLink {
    let job: PrintJob
    var next: JobLink?

    init(_ job: PrintJob) {
        self.job = job
    }
}

final class Spooler {
    private var head: JobLink?
    private var tail: JobLink?
    private(set) var submitted = 0
    private(set) var handedOut = 0

    func submit(_ job: PrintJob) {
        let link = JobLink(job)
        if let last = tail {
            last.next = link
        } else {
            head = link
        }
        tail = link
        submitted += 1
    }

    func take() -> PrintJob? {
        guard let first = head else { return nil }
        head = first.next
        if head == nil { tail = nil }
        handedOut += 1
        return first.job
    }
}

struct Press {
    let name: String
    let pagesPerMinute: Int
    var current: PrintJob?
    var printed = 0
    var finished = 0

    init(name: String, pagesPerMinute: Int) {
        self.name = name
        self.pagesPerMinute = pagesPerMinute
    }

    mutating func runMinute(from spooler: Spooler) -> [PaperSize] {
        var budget = pagesPerMinute
        var done: [PaperSize] = []
        while budget > 0 {
            if current == nil { current = spooler.take() }
            guard let job = current else { break }
            let n = min(budget, job.pagesLeft)
            job.pagesLeft -= n
            budget -= n
            printed += n
            if job.pagesLeft == 0 {
                finished += 1
                done.append(job.size)
                current = nil
            }
        }
        return done
    }
}

struct Lcg {
    var state: UInt64
    mutating func next(_ bound: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int(state >> 33) % bound
    }
}

let customers = ["Hartmann Tax", "City Library", "Bike Coop", "St. Anne School", "Lotus Kitchen"]
let spooler = Spooler()
var presses = [Press(name: "Indigo", pagesPerMinute: 22), Press(name: "Heidi", pagesPerMinute: 14)]
var bySize: [PaperSize: Int] = [:]
var rng = Lcg(state: 2024)
var number = 1000

for _ in 0..<1200 {
    let arrivals = 1 + rng.next(4)
    for _ in 0..<arrivals {
        number += 1
        let job = PrintJob(number: number,
                           customer: customers[rng.next(customers.count)],
                           size: PaperSize.allCases[rng.next(4)],
                           pages: 4 + rng.next(31))
        spooler.submit(job)
    }
    for i in presses.indices {
        for size in presses[i].runMinute(from: spooler) {
            bySize[size, default: 0] += 1
        }
    }
}

for press in presses {
    print("\(press.name): \(press.finished) jobs, \(press.printed) pages")
}
for size in PaperSize.allCases {
    print("  \(size.label): \(bySize[size] ?? 0)")
}
print("submitted \(spooler.submitted)")
