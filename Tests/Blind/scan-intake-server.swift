// Intake of scanned receipts for an accounting service.
import Foundation

enum IntakeError: Error {
    case unreadable(page: Int)
    case wrongTotal(expected: Int, found: Int)
}

struct ScanRequest {
    let company: String
    let pages: [[UInt8]]
    let declaredTotal: Int
}

final class IntakeSession {
    let ticket: Int
    let request: ScanRequest
    private(set) var text: [UInt8] = []
    private(set) var amounts: [Int] = []

    init(ticket: Int, request: ScanRequest) {
        self.ticket = ticket
        self.request = request
    }

    func recognise(_ page: [UInt8], number: Int) throws {
        guard page.first != 0 else { throw IntakeError.unreadable(page: number) }
        text.append(contentsOf: page)
        amounts.append(page.reduce(0) { $0 + Int($1) })
    }
}

final class IntakeDesk {
    private var open: [Int: IntakeSession] = [:]
    private var nextTicket = 1

    func begin(_ request: ScanRequest) -> IntakeSession {
        let session = IntakeSession(ticket: nextTicket, request: request)
        nextTicket += 1
        open[session.ticket] = session
        return session
    }

    func end(_ session: IntakeSession) { open[session.ticket] = nil }

    var busy: Int { open.count }
}

final class Bookkeeping {
    private var totals: [String: Int] = [:]

    func post(_ session: IntakeSession) throws {
        let found = session.amounts.reduce(0, +)
        guard found == session.request.declaredTotal else {
            throw IntakeError.wrongTotal(expected: session.request.declaredTotal, found: found)
        }
        totals[session.request.company, default: 0] += found
    }

    var companies: Int { totals.count }
    var sum: Int { totals.values.reduce(0, +) }
}

final class IntakeHandler {
    private let desk: IntakeDesk
    private let books: Bookkeeping

    init(desk: IntakeDesk, books: Bookkeeping) {
        self.desk = desk
        self.books = books
    }

    func handle(_ request: ScanRequest) throws {
        let session = desk.begin(request)
        defer { desk.end(session) }
        for (number, page) in request.pages.enumerated() {
            try session.recognise(page, number: number)
        }
        try books.post(session)
    }
}

func makeRequest(_ n: Int) -> ScanRequest {
    var pages = (0..<3).map { p in (0..<64).map { UInt8(($0 * 3 + n + p) % 200 + 1) } }
    var total = pages.joined().reduce(0) { $0 + Int($1) }
    if n % 8 == 3 { pages[n % 3][0] = 0 }
    if n % 8 == 7 { total += 5 }
    return ScanRequest(company: "org\(n % 11)", pages: pages, declaredTotal: total)
}

let desk = IntakeDesk()
let books = Bookkeeping()
let handler = IntakeHandler(desk: desk, books: books)
var posted = 0
var unreadable = 0
var disputed = 0
for n in 0..<500 {
    do {
        try handler.handle(makeRequest(n))
        posted += 1
    } catch IntakeError.unreadable {
        unreadable += 1
    } catch {
        disputed += 1
    }
    if n % 40 == 0 { usleep(6000) }
}
print("scans: 500, posted: \(posted), unreadable: \(unreadable), disputed: \(disputed), busy: \(desk.busy)")
print("companies: \(books.companies), sum: \(books.sum)")
