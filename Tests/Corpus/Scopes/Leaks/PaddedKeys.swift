// Holds on cabins are stored under padded keys. A release without padding misses the cabins below 100. Holds on
// the last ship take more work.

private final class CabinHold {
  let cabin: Int
  let berths: [Int]

  init(cabin: Int, hasBerths: Bool) {
    self.cabin = cabin
    berths = hasBerths ? Array(0...(cabin % 4)) : []
  }
}

private final class HoldTable {
  nonisolated(unsafe) static let shared = HoldTable()
  private var holds: [String: CabinHold] = [:]

  func add(_ hold: CabinHold, _ key: String) { holds[key] = hold }
  func remove(_ key: String) { holds[key] = nil }
}

enum PaddedKeys: FaultyProgram {
  nonisolated(unsafe) private static var isPadded = true

  static func faulty() {
    isPadded = false
    correct()
  }

  /// Two voyages of 210 cabins, and one of 310.
  static func correct() {
    for number in 0..<730 {
      let voyage = min(number / 210, 2)
      hold(number - 210 * voyage + 1, voyage)
    }
  }

  @inline(never) private static func hold(_ cabin: Int, _ voyage: Int) {
    let ship = "Northern Lass of Stromness \(voyage)"
    let hold = CabinHold(cabin: cabin, hasBerths: voyage == 2)
    let padded = "\(ship)/" + String(repeating: "0", count: 3 - "\(cabin)".count) + "\(cabin)"
    HoldTable.shared.add(hold, padded)
    note(hold.berths.count)
    HoldTable.shared.remove(isPadded ? padded : "\(ship)/\(cabin)")
  }
}
