import Foundation

enum Opcode: Int, CaseIterable {
    case load, store, add, sub, mul, jump, branch, call, ret, push, pop, halt
}

enum AddressMode: Int, CaseIterable {
    case immediate, register, direct, indirect, indexed, relative
}

struct EncodingKey: Hashable {
    let opcode: Opcode
    let mode: AddressMode
}

final class Encoding {
    let prefix: [UInt8]
    let operandBytes: Int
    let cycles: Int

    init(_ key: EncodingKey) {
        let base = UInt8(key.opcode.rawValue << 3 | key.mode.rawValue)
        prefix = key.mode == .indexed ? [0xF0, base] : [base]
        operandBytes = key.mode == .register ? 1 : (key.mode == .relative ? 2 : 4)
        cycles = 2 + key.opcode.rawValue % 4 + key.mode.rawValue
    }
}

final class EncodingTable {
    static let shared = EncodingTable()
    private var known: [EncodingKey: Encoding] = [:]
    private(set) var lookups = 0

    func encoding(_ opcode: Opcode, _ mode: AddressMode) -> Encoding {
        lookups += 1
        let key = EncodingKey(opcode: opcode, mode: mode)
        if let found = known[key] { return found }
        let made = Encoding(key)
        known[key] = made
        return made
    }

    var size: Int { known.count }
}

struct Statement {
    let opcode: Opcode
    let mode: AddressMode
    let operand: Int32
}

struct Assembler {
    private(set) var image: [UInt8] = []
    private(set) var cycles = 0

    mutating func emit(_ statement: Statement) {
        let encoding = EncodingTable.shared.encoding(statement.opcode, statement.mode)
        image.append(contentsOf: encoding.prefix)
        var operand = UInt32(bitPattern: statement.operand)
        for _ in 0..<encoding.operandBytes {
            image.append(UInt8(operand & 0xFF))
            operand >>= 8
        }
        cycles += encoding.cycles
    }
}

struct ProgramFactory {
    var state: UInt64 = 5

    mutating func next(_ bound: Int) -> Int {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return Int(state >> 35) % bound
    }

    mutating func program(length: Int) -> [Statement] {
        (0..<length).map { _ in
            Statement(opcode: Opcode.allCases[next(Opcode.allCases.count)],
                      mode: AddressMode.allCases[next(AddressMode.allCases.count)],
                      operand: Int32(next(60_000)))
        }
    }
}

var factory = ProgramFactory()
var imageBytes = 0
var cycles = 0
for unit in 0..<160 {
    var assembler = Assembler()
    for statement in factory.program(length: 12 + unit % 20) {
        assembler.emit(statement)
    }
    imageBytes += assembler.image.count
    cycles += assembler.cycles
    if unit % 2 == 0 { usleep(6_000) }
}
print("opcoder: \(imageBytes) bytes, \(cycles) cycles, \(EncodingTable.shared.size) encodings, \(EncodingTable.shared.lookups) lookups")
