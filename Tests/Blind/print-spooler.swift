import Foundation

final class PrintJob: Sendable {
    let owner: String
    let number: Int
    let pages: Int

    init(owner: String, number: Int, pages: Int) {
        self.owner = owner
        self.number = number
        self.pages = pages
    }
}

actor Spooler {
    private let limit: Int
    private var backlog: [PrintJob] = []
    private var blockedSubmitters: [CheckedContinuation<Void, Never>] = []
    private var idlePrinters: [CheckedContinuation<PrintJob?, Never>] = []
    private var closed = false
    private(set) var accepted = 0
    private(set) var highWater = 0

    init(limit: Int) {
        self.limit = limit
    }

    func submit(_ job: PrintJob) async {
        while backlog.count >= limit {
            await withCheckedContinuation { blockedSubmitters.append($0) }
        }
        accepted += 1
        if let printer = idlePrinters.popLast() {
            printer.resume(returning: job)
            return
        }
        backlog.append(job)
        highWater = max(highWater, backlog.count)
    }

    func next() async -> PrintJob? {
        if !backlog.isEmpty {
            let job = backlog.removeFirst()
            if !blockedSubmitters.isEmpty {
                blockedSubmitters.removeFirst().resume()
            }
            return job
        }
        if closed { return nil }
        return await withCheckedContinuation { idlePrinters.append($0) }
    }

    func close() {
        closed = true
        let sleeping = idlePrinters
        idlePrinters = []
        for printer in sleeping {
            printer.resume(returning: nil)
        }
    }
}

func submitAll(owner: String, count: Int, to spooler: Spooler) async {
    for number in 1...count {
        let pages = 1 + (number * 7 + owner.utf8.count * 3) % 12
        await spooler.submit(PrintJob(owner: owner, number: number, pages: pages))
    }
}

func printAll(from spooler: Spooler) async -> Int {
    var pages = 0
    while let job = await spooler.next() {
        pages += job.pages
        if job.number % 64 == 0 { try? await Task.sleep(nanoseconds: 1_000_000) }
    }
    return pages
}

let spooler = Spooler(limit: 16)

@main
enum PrintRoom {
    static func main() async {
        let owners = ["ada", "grace", "linus", "barbara"]
        let pages = await withTaskGroup(of: Int.self) { printers in
            for _ in 0..<2 {
                printers.addTask { await printAll(from: spooler) }
            }
            await withTaskGroup(of: Void.self) { people in
                for owner in owners {
                    people.addTask { await submitAll(owner: owner, count: 500, to: spooler) }
                }
            }
            await spooler.close()
            var sum = 0
            for await part in printers { sum += part }
            return sum
        }
        let jobs = await spooler.accepted
        let bounded = await spooler.highWater <= 16
        print("jobs \(jobs), pages \(pages), backlog within limit: \(bounded)")
    }
}
