import Foundation

final class Link<Element> {
    let element: Element
    var next: Link<Element>?

    init(_ element: Element) {
        self.element = element
    }
}

final class LinkedQueue<Element> {
    private var head: Link<Element>?
    private var tail: Link<Element>?
    private(set) var count = 0

    func push(_ element: Element) {
        let link = Link(element)
        if let last = tail {
            last.next = link
        } else {
            head = link
        }
        tail = link
        count += 1
    }

    func pop() -> Element? {
        guard let first = head else { return nil }
        head = first.next
        if head == nil { tail = nil }
        count -= 1
        return first.element
    }

    var isEmpty: Bool { head == nil }
}

final class PrintJob {
    let number: Int
    let owner: String
    let pages: Int
    let duplex: Bool

    init(number: Int, owner: String, pages: Int, duplex: Bool) {
        self.number = number
        self.owner = owner
        self.pages = pages
        self.duplex = duplex
    }

    var sheets: Int { duplex ? (pages + 1) / 2 : pages }
}

final class Spooler {
    private let queue = LinkedQueue<PrintJob>()
    private(set) var accepted = 0
    private(set) var deepest = 0

    func submit(owner: String, pages: Int, duplex: Bool) {
        accepted += 1
        queue.push(PrintJob(number: accepted, owner: owner, pages: pages, duplex: duplex))
        deepest = max(deepest, queue.count)
    }

    func nextJob() -> PrintJob? { queue.pop() }
    var isIdle: Bool { queue.isEmpty }
}

final class Printer {
    let name: String
    private(set) var jobs = 0
    private(set) var sheets = 0

    init(name: String) {
        self.name = name
    }

    func run(from spooler: Spooler) {
        guard let job = spooler.nextJob() else { return }
        jobs += 1
        sheets += job.sheets
    }
}

let spooler = Spooler()
let printers = [Printer(name: "hp-2nd-floor"), Printer(name: "ricoh-lobby")]
let owners = ["adele", "bruno", "chiara", "dmitri", "eun-ji"]

for minute in 0..<480 {
    let busy = minute < 300
    let submissions = busy ? 4 : 1
    for extra in 0..<submissions {
        let seed = minute * 5 + extra
        spooler.submit(owner: owners[seed % owners.count], pages: seed % 19 + 1, duplex: seed % 3 != 0)
    }
    for printer in printers {
        printer.run(from: spooler)
    }
}

var overtime = 0
while !spooler.isIdle {
    for printer in printers {
        printer.run(from: spooler)
    }
    overtime += 1
}

print("jobs accepted: \(spooler.accepted), deepest queue: \(spooler.deepest)")
print("minutes after closing time: \(overtime)")
for printer in printers {
    print("\(printer.name): \(printer.jobs) jobs, \(printer.sheets) sheets")
}
