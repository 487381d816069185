import Foundation

struct SlotState: OptionSet {
    let rawValue: UInt
    static let online = SlotState(rawValue: 1)
    static let muted = SlotState(rawValue: 2)
    static let moderator = SlotState(rawValue: 4)
    static let mask: UInt = 7
}

final class ChatSession {
    let user: Int
    private var unread = 0
    private var lastLine: [UInt8] = []
    private(set) var seen = 0

    init(user: Int) {
        self.user = user
    }

    func receive(_ line: [UInt8], silently: Bool) {
        lastLine = line
        seen += 1
        if !silently { unread += 1 }
    }

    func flush() -> Int {
        defer { unread = 0 }
        return unread * lastLine.count
    }
}

/// One word per slot: the session's address, with the slot's state in the bits
/// that the alignment of objects leaves free. Zero is a free slot.
final class SlotTable {
    private var words: [UInt]
    private(set) var occupied = 0
    private(set) var turnedAway = 0

    init(capacity: Int) {
        words = Array(repeating: 0, count: capacity)
    }

    private func session(at slot: Int) -> Unmanaged<ChatSession>? {
        guard let pointer = UnsafeRawPointer(bitPattern: words[slot] & ~SlotState.mask) else { return nil }
        return Unmanaged.fromOpaque(pointer)
    }

    func open(user: Int, state: SlotState) -> Int? {
        guard let slot = words.firstIndex(of: 0) else {
            turnedAway += 1
            return nil
        }
        let opaque = Unmanaged.passRetained(ChatSession(user: user)).toOpaque()
        words[slot] = UInt(bitPattern: opaque) | state.union(.online).rawValue
        occupied += 1
        return slot
    }

    func close(_ slot: Int) -> Int {
        guard let handle = session(at: slot) else { return 0 }
        words[slot] = 0
        occupied -= 1
        return handle.takeRetainedValue().flush()
    }

    func toggleMute(_ slot: Int) {
        guard words[slot] != 0 else { return }
        words[slot] ^= SlotState.muted.rawValue
    }

    func broadcast(_ line: [UInt8]) -> Int {
        var bytes = 0
        for slot in words.indices {
            guard let handle = session(at: slot) else { continue }
            let state = SlotState(rawValue: words[slot] & SlotState.mask)
            handle._withUnsafeGuaranteedRef { session in
                session.receive(line, silently: state.contains(.muted))
                if state.contains(.moderator) || session.seen % 4 == 0 { bytes += session.flush() }
            }
        }
        return bytes
    }
}

struct Dice {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func roll(_ sides: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((state >> 33) % UInt64(sides))
    }
}

var dice = Dice(seed: 42)
let table = SlotTable(capacity: 192)
var live: [Int] = []
var bytes = 0
var nextUser = 1

for round in 0..<45 {
    for _ in 0..<9 {
        let state: SlotState = nextUser % 25 == 0 ? .moderator : []
        if let slot = table.open(user: nextUser, state: state) { live.append(slot) }
        nextUser += 1
    }
    for _ in 0..<6 where !live.isEmpty {
        bytes += table.close(live.remove(at: dice.roll(live.count)))
    }
    for _ in 0..<5 { table.toggleMute(dice.roll(192)) }
    for n in 0..<6 {
        let line = Array("round \(round) message \(n) to everybody".utf8)
        bytes += table.broadcast(line)
    }
    usleep(12_000)
}

bytes += table.broadcast(Array("the server goes down now".utf8))
print("\(table.occupied) sessions open, \(table.turnedAway) turned away, \(bytes) bytes sent")
