import Foundation

// Client for a Modbus-like line: transactions wait for an answer, a refusal or the deadline.

enum LineError: Error { case noAnswer, refused(code: UInt8) }

final class Transaction {
    let id: UInt16
    let unit: UInt8
    let frame: [UInt8]
    var deadline: Int
    var retries = 0

    init(id: UInt16, unit: UInt8, frame: [UInt8], deadline: Int) {
        self.id = id
        self.unit = unit
        self.frame = frame
        self.deadline = deadline
    }
}

func crc16(_ bytes: [UInt8]) -> UInt16 {
    var crc: UInt16 = 0xffff
    for byte in bytes {
        crc ^= UInt16(byte)
        for _ in 0..<8 {
            crc = crc & 1 == 1 ? (crc >> 1) ^ 0xa001 : crc >> 1
        }
    }
    return crc
}

final class LineClient {
    private var open: [UInt16: Transaction] = [:]
    private var sequence: UInt16 = 0
    private(set) var results: [Result<Int, LineError>.Kind: Int] = [:]

    func begin(unit: UInt8, register: UInt16, now: Int) -> Transaction {
        sequence &+= 1
        var frame = [unit, 3, UInt8(register >> 8), UInt8(register & 0xff), 0, 2]
        let crc = crc16(frame)
        frame += [UInt8(crc & 0xff), UInt8(crc >> 8)]
        let transaction = Transaction(id: sequence, unit: unit, frame: frame, deadline: now + 4)
        open[transaction.id] = transaction
        return transaction
    }

    func complete(_ id: UInt16, with result: Result<Int, LineError>) {
        guard open.removeValue(forKey: id) != nil else { return }
        results[result.kind, default: 0] += 1
    }

    /// Returns the frames to send again; gives up after two retries.
    func poll(now: Int) -> [Transaction] {
        var again: [Transaction] = []
        for transaction in open.values.filter({ $0.deadline <= now }) {
            if transaction.retries < 2 {
                transaction.retries += 1
                transaction.deadline = now + 4
                again.append(transaction)
            } else {
                complete(transaction.id, with: .failure(.noAnswer))
            }
        }
        return again
    }

    var inFlight: Int { open.count }
}

extension Result where Failure == LineError {
    enum Kind: String { case value, silent, refused }
    var kind: Result<Int, LineError>.Kind {
        switch self {
        case .success: return .value
        case .failure(.noAnswer): return .silent
        case .failure(.refused): return .refused
        }
    }
}

struct Bus {
    func answer(_ transaction: Transaction) -> Result<Int, LineError>? {
        let body = Array(transaction.frame.dropLast(2))
        let crc = crc16(body)
        guard transaction.frame.suffix(2).elementsEqual([UInt8(crc & 0xff), UInt8(crc >> 8)]) else { return nil }
        switch transaction.id % 5 {
        case 0, 3: return nil
        case 1: return .failure(.refused(code: 2))
        default: return .success(Int(crc) * Int(transaction.unit))
        }
    }
}

let client = LineClient()
let bus = Bus()
var resent = 0
var busiest = 0

for cycle in 0..<190 {
    for unit in UInt8(1)...12 {
        let transaction = client.begin(unit: unit, register: UInt16(cycle % 64) * 2, now: cycle)
        if let result = bus.answer(transaction) { client.complete(transaction.id, with: result) }
    }
    for transaction in client.poll(now: cycle) {
        resent += 1
        if let result = bus.answer(transaction) { client.complete(transaction.id, with: result) }
    }
    busiest = max(busiest, client.inFlight)
    Thread.sleep(forTimeInterval: 0.005)
}
let counts = client.results.map { "\($0.key.rawValue)=\($0.value)" }.sorted().joined(separator: " ")
print("\(counts) resent=\(resent) busiest=\(busiest)")
