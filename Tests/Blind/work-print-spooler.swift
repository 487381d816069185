import Foundation

enum Priority: Int, Comparable {
    case low, normal, urgent
    static func < (a: Priority, b: Priority) -> Bool { a.rawValue < b.rawValue }
}

final class Document: Sendable {
    let title: String
    let pages: Int
    init(title: String, pages: Int) {
        self.title = title
        self.pages = pages
    }
}

final class PrintJob: Sendable {
    let id: Int
    let user: String
    let document: Document
    let priority: Priority
    let copies: Int

    init(id: Int, user: String, document: Document, priority: Priority, copies: Int) {
        self.id = id
        self.user = user
        self.document = document
        self.priority = priority
        self.copies = copies
    }

    var sheets: Int { document.pages * copies }
}

actor Spooler {
    private var lanes: [Priority: [PrintJob]] = [:]
    private var nextId = 1
    private var closed = false
    private var idle: [CheckedContinuation<PrintJob?, Never>] = []
    private(set) var longest = 0

    func submit(user: String, document: Document, priority: Priority, copies: Int) -> Int {
        let job = PrintJob(id: nextId, user: user, document: document, priority: priority, copies: copies)
        nextId += 1
        if let waiter = idle.popLast() {
            waiter.resume(returning: job)
        } else {
            lanes[priority, default: []].append(job)
            longest = max(longest, pending)
        }
        return job.id
    }

    func cancel(_ id: Int) -> Bool {
        for (priority, jobs) in lanes {
            if let i = jobs.firstIndex(where: { $0.id == id }) {
                lanes[priority]!.remove(at: i)
                return true
            }
        }
        return false
    }

    func next() async -> PrintJob? {
        for priority in [Priority.urgent, .normal, .low] {
            if let jobs = lanes[priority], !jobs.isEmpty {
                return lanes[priority]!.removeFirst()
            }
        }
        if closed { return nil }
        return await withCheckedContinuation { idle.append($0) }
    }

    func close() {
        closed = true
        for waiter in idle { waiter.resume(returning: nil) }
        idle.removeAll()
    }

    var pending: Int { lanes.values.reduce(0) { $0 + $1.count } }
}

actor Accounting {
    private var sheetsByUser: [String: Int] = [:]
    private var sheetsByPrinter: [String: Int] = [:]

    func record(_ job: PrintJob, printer: String) {
        sheetsByUser[job.user, default: 0] += job.sheets
        sheetsByPrinter[printer, default: 0] += job.sheets
    }

    func report() -> [String] {
        sheetsByPrinter.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value) sheets" }
            + sheetsByUser.sorted { $0.value > $1.value }.prefix(3).map { "\($0.key) printed \($0.value)" }
    }
}

final class Printer: Sendable {
    let name: String
    let nanosPerSheet: UInt64
    private let spooler: Spooler
    private let accounting: Accounting

    init(name: String, nanosPerSheet: UInt64, spooler: Spooler, accounting: Accounting) {
        self.name = name
        self.nanosPerSheet = nanosPerSheet
        self.spooler = spooler
        self.accounting = accounting
    }

    func run() async -> Int {
        var printed = 0
        while let job = await spooler.next() {
            try? await Task.sleep(nanoseconds: UInt64(job.sheets) * nanosPerSheet)
            await accounting.record(job, printer: name)
            printed += 1
        }
        return printed
    }
}

func secretary(_ spooler: Spooler, day: Int) async -> Int {
    var cancelled = 0
    for i in 0..<60 {
        let document = Document(title: "letter \(day)/\(i)", pages: 1 + (i * 7) % 9)
        let priority: Priority = i % 11 == 0 ? .urgent : (i % 3 == 0 ? .low : .normal)
        let id = await spooler.submit(user: "user\((i * day + 3) % 12)", document: document,
                                      priority: priority, copies: 1 + i % 2)
        if i % 14 == 13, await spooler.cancel(id) { cancelled += 1 }
        if i % 8 == 0 { try? await Task.sleep(nanoseconds: 6_000_000) }
    }
    return cancelled
}

func office() async {
    let spooler = Spooler()
    let accounting = Accounting()
    let printers = [Printer(name: "laser", nanosPerSheet: 500_000, spooler: spooler, accounting: accounting),
                    Printer(name: "inkjet", nanosPerSheet: 1_100_000, spooler: spooler, accounting: accounting),
                    Printer(name: "plotter", nanosPerSheet: 1_500_000, spooler: spooler, accounting: accounting)]
    let workers = printers.map { printer in Task { await printer.run() } }
    var cancelled = 0
    for day in 1...13 { cancelled += await secretary(spooler, day: day) }
    let longest = await spooler.longest
    await spooler.close()
    var printed = 0
    for worker in workers { printed += await worker.value }
    for line in await accounting.report() { print(line) }
    print("printed \(printed), cancelled \(cancelled), longest queue \(longest)")
}

await office()
