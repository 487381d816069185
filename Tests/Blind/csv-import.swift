import Foundation

final class RawRow {
    let line: Int
    let fields: [String]
    init(line: Int, fields: [String]) {
        self.line = line
        self.fields = fields
    }
}

final class Customer {
    let email: String
    let name: String
    var orders: Int
    init(email: String, name: String, orders: Int) {
        self.email = email
        self.name = name
        self.orders = orders
    }
}

final class Rejection {
    let row: RawRow
    let reason: String
    init(row: RawRow, reason: String) {
        self.row = row
        self.reason = reason
    }
}

final class CustomerBook {
    private var byEmail: [String: Customer] = [:]
    private(set) var merged = 0

    func upsert(_ customer: Customer) {
        if let known = byEmail[customer.email] {
            known.orders += customer.orders
            merged += 1
        } else {
            byEmail[customer.email] = customer
        }
    }

    var count: Int { byEmail.count }
    var orders: Int { byEmail.values.reduce(0) { $0 + $1.orders } }
}

struct RowFault: Error {
    let reason: String
}

final class Importer {
    let book: CustomerBook
    private var rejections: [Rejection] = []
    private(set) var lines = 0

    init(book: CustomerBook) { self.book = book }

    func feed(_ text: String) {
        lines += 1
        let row = RawRow(line: lines, fields: text.components(separatedBy: ";"))
        do {
            book.upsert(try convert(row))
        } catch let fault as RowFault {
            rejections.append(Rejection(row: row, reason: fault.reason))
        } catch {
            rejections.append(Rejection(row: row, reason: "unknown"))
        }
    }

    private func convert(_ row: RawRow) throws -> Customer {
        guard row.fields.count == 3 else { throw RowFault(reason: "field count") }
        guard row.fields[0].contains("@") else { throw RowFault(reason: "email") }
        guard let orders = Int(row.fields[2]) else { throw RowFault(reason: "orders") }
        return Customer(email: row.fields[0].lowercased(), name: row.fields[1], orders: orders)
    }

    func writeRejects(to url: URL) throws -> [String: Int] {
        var perReason: [String: Int] = [:]
        var output = "line;reason;content\n"
        for rejection in rejections {
            perReason[rejection.reason, default: 0] += 1
            output += "\(rejection.row.line);\(rejection.reason);\(rejection.row.fields.joined(separator: "|"))\n"
        }
        try output.write(to: url, atomically: true, encoding: .utf8)
        return perReason
    }
}

func sampleLine(_ n: Int) -> String {
    switch n % 13 {
    case 4: return "user\(n)example.org;Name \(n);2"
    case 9: return n % 2 == 0 ? "user\(n)@example.org;Name" : "user\(n)@example.org;Name;many"
    default: return "User\(n % 700)@example.org;Name \(n % 700);\(1 + n % 5)"
    }
}

let importer = Importer(book: CustomerBook())
for n in 0..<3000 {
    importer.feed(sampleLine(n))
    if n % 4 == 0 { usleep(1500) }
}
let target = FileManager.default.temporaryDirectory.appendingPathComponent("rejects-\(getpid()).csv")
let reasons = try importer.writeRejects(to: target)
try FileManager.default.removeItem(at: target)
print("lines \(importer.lines), customers \(importer.book.count), merged \(importer.book.merged)")
print("orders \(importer.book.orders)")
for (reason, count) in reasons.sorted(by: { $0.key < $1.key }) { print("rejected for \(reason): \(count)") }
