// Tickets whose addresses are kept in bytes, halves of words and the like, and nowhere else. There are so many keepers
// of each type that each place in a page has one, and that tables have free places.
import Glibc

/// No other block has its size.
final class Ticket {
  private let contents = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22)
}

/// The address of a new ticket that nothing releases.
func issue() -> UInt { UInt(bitPattern: Unmanaged.passRetained(Ticket()).toOpaque()) }

// MARK: Values

struct Halves: Hashable {
  var mark: UInt32 = 1
  var low: UInt32
  var high: UInt32
  init(_ address: UInt) { (low, high) = (UInt32(truncatingIfNeeded: address), UInt32(address >> 32)) }
}

struct Packet {
  var bytes:
    (
      UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8,
      UInt8, UInt8
    ) = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
  init(_ address: UInt, at offset: Int) {
    withUnsafeMutableBytes(of: &bytes) { $0.storeBytes(of: address, toByteOffset: offset % 10, as: UInt.self) }
  }
}

enum Priority: UInt8 { case low, middle, high }

struct Mail {
  var priority = Priority.middle
  var packet: Packet
  var answer = Priority.high
}

enum Choice {
  case halves(UInt32, UInt32, UInt32)
  case text(String)
  case none
}

indirect enum Chain {
  case end
  case next(UInt32, UInt32, UInt32, Chain)
}

// MARK: Keepers

class Keeper {}

final class HalvesKeeper: Keeper {
  let mark: UInt32 = 1
  let halves = Halves(issue())
}

final class LaterHalvesKeeper: Keeper {
  let number = 1
  let halves = Halves(issue())
}

final class AnyKeeper: Keeper {
  let value: Any = Halves(issue())
}

final class LaterAnyKeeper: Keeper {
  let number = 1
  let value: Any = Halves(issue())
}

final class PacketKeeper: Keeper {
  let packet: Packet
  init(_ number: Int) { packet = Packet(issue(), at: number) }
}

final class LaterPacketKeeper: Keeper {
  let number = 0
  let packet: Packet
  let name = "packet"
  init(_ number: Int) { packet = Packet(issue(), at: number) }
}

final class MailKeeper: Keeper {
  let mail: Mail
  init(_ number: Int) { mail = Mail(packet: Packet(issue(), at: number)) }
}

final class OptionalKeeper: Keeper {
  let packet: Packet?
  let priority: Priority? = nil
  init(_ number: Int) { packet = Packet(issue(), at: number) }
}

final class ChoiceKeeper: Keeper {
  let choice: Choice
  override init() {
    let halves = Halves(issue())
    choice = .halves(halves.mark, halves.low, halves.high)
  }
}

final class CallKeeper: Keeper {
  let first: () -> Int
  let second: () -> Int
  init(_ number: Int) {
    let packet = Packet(issue(), at: number)
    first = { withUnsafeBytes(of: packet) { Int($0[3]) } }
    let halves = Halves(issue())
    second = { Int(halves.low) }
  }
}

/// As C has it.
final class MemoryKeeper: Keeper {
  let memory: UnsafeMutableRawPointer
  init(_ number: Int) {
    memory = calloc(1, 20 + number % 10 * 3)!
    memory.storeBytes(of: issue(), toByteOffset: number % 10 + 2, as: UInt.self)
  }
}

// MARK: Keepers of collections

final class BytesKeeper: Keeper {
  var bytes: [UInt8] = []
  init(_ count: Int) {
    for _ in 0..<count { bytes += [9] + withUnsafeBytes(of: issue()) { Array($0) } }
  }
}

final class PartsKeeper: Keeper {
  var parts: [UInt32] = [7]
  init(_ count: Int) {
    for _ in 0..<count {
      let halves = Halves(issue())
      parts += [halves.low, halves.high]
    }
  }
}

final class MailsKeeper: Keeper {
  let mails: [Mail]
  init(_ count: Int) { mails = (0..<count).map { Mail(packet: Packet(issue(), at: $0)) } }
}

final class AnyArrayKeeper: Keeper {
  let values: [Any]
  init(_ count: Int) { values = (0..<count).map { _ in Halves(issue()) } }
}

final class PacketTableKeeper: Keeper {
  var packets: [Int: Packet] = [:]
  init(_ count: Int) { for number in 0..<count { packets[number] = Packet(issue(), at: number) } }
}

final class HalvesTableKeeper: Keeper {
  var set: Set<Halves> = []
  var keys: [Halves: Priority] = [:]
  var values: [UInt8: Halves] = [:]
  init(_ count: Int) {
    for number in 0..<count {
      set.insert(Halves(issue()))
      keys[Halves(issue())] = .middle
      values[UInt8(number)] = Halves(issue())
    }
  }
}

final class ChainKeeper: Keeper {
  var chain = Chain.end
  init(_ count: Int) {
    for _ in 0..<count {
      let halves = Halves(issue())
      chain = .next(halves.mark, halves.low, halves.high, chain)
    }
  }
}

nonisolated(unsafe) var keepers: [Keeper] = []

@inline(never) func makeKeepers(_ number: Int) {
  keepers += [
    HalvesKeeper(), LaterHalvesKeeper(), AnyKeeper(), LaterAnyKeeper(), PacketKeeper(number), LaterPacketKeeper(number),
    MailKeeper(number), OptionalKeeper(number), ChoiceKeeper(), CallKeeper(number), MemoryKeeper(number),
  ]
  let count = 1 + number % 40
  switch number % 7 {
  case 0: keepers.append(BytesKeeper(count))
  case 1: keepers.append(PartsKeeper(count))
  case 2: keepers.append(MailsKeeper(count))
  case 3: keepers.append(AnyArrayKeeper(count))
  case 4: keepers.append(PacketTableKeeper(count))
  case 5: keepers.append(HalvesTableKeeper(count))
  default: keepers.append(ChainKeeper(count))
  }
}

for number in 0..<700 { makeKeepers(number) }
keepers += [BytesKeeper(1000), PartsKeeper(1000), PartsKeeper(1000)]
