import Foundation

// jsonshaper: parses JSON into a mutable node tree, applies a list of
// transforms (rename, drop, flatten, compute) and writes it out again.

final class JSONNode {
    enum Kind {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSONNode])
        case object([(key: String, value: JSONNode)])
    }
    var kind: Kind

    init(_ kind: Kind) { self.kind = kind }

    subscript(key: String) -> JSONNode? {
        guard case .object(let members) = kind else { return nil }
        return members.first { $0.key == key }?.value
    }

    var numberValue: Double? { if case .number(let n) = kind { return n } else { return nil } }
}

enum JSONError: Error { case unexpected(UInt8, at: Int), endOfInput }

struct JSONReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func readDocument() throws -> JSONNode {
        let node = try readValue()
        skipSpace()
        if index < bytes.count { throw JSONError.unexpected(bytes[index], at: index) }
        return node
    }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 32 || bytes[index] == 10 || bytes[index] == 9 || bytes[index] == 13 { index += 1 }
    }

    private mutating func expect(_ byte: UInt8) throws {
        skipSpace()
        guard index < bytes.count else { throw JSONError.endOfInput }
        guard bytes[index] == byte else { throw JSONError.unexpected(bytes[index], at: index) }
        index += 1
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        skipSpace()
        if index < bytes.count, bytes[index] == byte { index += 1; return true }
        return false
    }

    private mutating func readValue() throws -> JSONNode {
        skipSpace()
        guard index < bytes.count else { throw JSONError.endOfInput }
        switch bytes[index] {
        case UInt8(ascii: "{"):
            index += 1
            var members: [(key: String, value: JSONNode)] = []
            if consume(UInt8(ascii: "}")) { return JSONNode(.object(members)) }
            repeat {
                skipSpace()
                let key = try readString()
                try expect(UInt8(ascii: ":"))
                members.append((key, try readValue()))
            } while consume(UInt8(ascii: ","))
            try expect(UInt8(ascii: "}"))
            return JSONNode(.object(members))
        case UInt8(ascii: "["):
            index += 1
            var items: [JSONNode] = []
            if consume(UInt8(ascii: "]")) { return JSONNode(.array(items)) }
            repeat { items.append(try readValue()) } while consume(UInt8(ascii: ","))
            try expect(UInt8(ascii: "]"))
            return JSONNode(.array(items))
        case UInt8(ascii: "\""): return JSONNode(.string(try readString()))
        case UInt8(ascii: "t"): index += 4; return JSONNode(.bool(true))
        case UInt8(ascii: "f"): index += 5; return JSONNode(.bool(false))
        case UInt8(ascii: "n"): index += 4; return JSONNode(.null)
        default: return JSONNode(.number(try readNumber()))
        }
    }

    private mutating func readString() throws -> String {
        try expect(UInt8(ascii: "\""))
        var scratch: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if byte == UInt8(ascii: "\"") { return String(decoding: scratch, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                guard index < bytes.count else { break }
                scratch.append(bytes[index] == UInt8(ascii: "n") ? 10 : bytes[index])
                index += 1
            } else {
                scratch.append(byte)
            }
        }
        throw JSONError.endOfInput
    }

    private mutating func readNumber() throws -> Double {
        let start = index
        while index < bytes.count, "+-.eE0123456789".utf8.contains(bytes[index]) { index += 1 }
        guard let value = Double(String(decoding: bytes[start..<index], as: UTF8.self)) else {
            throw JSONError.unexpected(bytes[start], at: start)
        }
        return value
    }
}

struct JSONWriter {
    private(set) var output: [UInt8] = []

    mutating func write(_ node: JSONNode) {
        switch node.kind {
        case .null: output += "null".utf8
        case .bool(let b): output += (b ? "true" : "false").utf8
        case .number(let n): output += (n == n.rounded() && abs(n) < 1e15 ? String(Int(n)) : String(n)).utf8
        case .string(let s): writeString(s)
        case .array(let items):
            output.append(UInt8(ascii: "["))
            for (offset, item) in items.enumerated() {
                if offset > 0 { output.append(UInt8(ascii: ",")) }
                write(item)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (offset, member) in members.enumerated() {
                if offset > 0 { output.append(UInt8(ascii: ",")) }
                writeString(member.key)
                output.append(UInt8(ascii: ":"))
                write(member.value)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    private mutating func writeString(_ s: String) {
        output.append(UInt8(ascii: "\""))
        for byte in s.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
            output.append(byte)
        }
        output.append(UInt8(ascii: "\""))
    }
}

protocol Transform { func apply(to object: JSONNode) }

struct Rename: Transform {
    let from: String, to: String
    func apply(to object: JSONNode) {
        guard case .object(let members) = object.kind else { return }
        object.kind = .object(members.map { $0.key == from ? (to, $0.value) : $0 })
    }
}

struct Drop: Transform {
    let keys: Set<String>
    func apply(to object: JSONNode) {
        guard case .object(let members) = object.kind else { return }
        object.kind = .object(members.filter { !keys.contains($0.key) })
    }
}

struct Flatten: Transform {
    let key: String
    func apply(to object: JSONNode) {
        guard case .object(let members) = object.kind else { return }
        var result: [(key: String, value: JSONNode)] = []
        for member in members {
            if member.key == key, case .object(let inner) = member.value.kind {
                result += inner.map { ("\(key)_\($0.key)", $0.value) }
            } else {
                result.append(member)
            }
        }
        object.kind = .object(result)
    }
}

struct Compute: Transform {
    let key: String
    let body: (JSONNode) -> Double?
    func apply(to object: JSONNode) {
        guard case .object(let members) = object.kind, let value = body(object) else { return }
        object.kind = .object(members + [(key, JSONNode(.number(value)))])
    }
}

func makeInvoices(batch: Int, count: Int) -> [UInt8] {
    var text = "["
    for i in 0..<count {
        let id = batch * count + i
        text += i > 0 ? "," : ""
        text += """
        {"id": \(id), "cust": "Client \\"\(id % 97)\\"", "addr": {"city": "Town \(id % 31)", "zip": "\(10000 + id % 9000)"},
         "lines": [{"sku": "A\(id % 50)", "qty": \(1 + id % 5), "price": \(Double(id % 900) / 4)},
                   {"sku": "B\(id % 20)", "qty": 1, "price": 12.5}], "paid": \(id % 3 == 0), "trace": null}
        """
    }
    return Array((text + "]").utf8)
}

let transforms: [Transform] = [
    Rename(from: "cust", to: "customer"),
    Flatten(key: "addr"),
    Compute(key: "total") { invoice in
        guard case .array(let lines)? = invoice["lines"]?.kind else { return nil }
        return lines.reduce(0) { $0 + ($1["qty"]?.numberValue ?? 0) * ($1["price"]?.numberValue ?? 0) }
    },
    Drop(keys: ["trace", "lines"]),
]

var bytesIn = 0, bytesOut = 0, records = 0
var grandTotal = 0.0
for batch in 0..<200 {
    let source = makeInvoices(batch: batch, count: 250)
    var reader = JSONReader(source)
    let document = try reader.readDocument()
    guard case .array(let invoices) = document.kind else { continue }
    for invoice in invoices {
        for transform in transforms { transform.apply(to: invoice) }
        grandTotal += invoice["total"]?.numberValue ?? 0
    }
    var writer = JSONWriter()
    writer.write(document)
    records += invoices.count
    bytesIn += source.count
    bytesOut += writer.output.count
}
print("records \(records), in \(bytesIn) bytes, out \(bytesOut) bytes, total \(String(format: "%.2f", grandTotal))")
