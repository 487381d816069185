// An auction that keeps a list of offers for each lot, and all the lists in a dictionary. The lists of sold lots stay
// in it. No list is long.

final class Offer {
  let paddle: Int
  let amount: Int

  init(paddle: Int, amount: Int) {
    self.paddle = paddle
    self.amount = amount
  }
}

final class AuctionRoom {
  private var offers: [Int: [Offer]] = [:]
  private let keepsRecords: Bool
  private(set) var turnover = 0

  init(keepsRecords: Bool) { self.keepsRecords = keepsRecords }

  @inline(never) func offer(_ amount: Int, for lot: Int, by paddle: Int) {
    offers[lot, default: []].append(Offer(paddle: paddle, amount: amount))
  }

  @inline(never) func sell(_ lot: Int) {
    turnover += offers[lot]?.map(\.amount).max() ?? 0
    if !keepsRecords { offers[lot] = nil }
  }
}

enum OffersByLot: FaultyProgram {
  nonisolated(unsafe) private static var room: AuctionRoom?

  static func faulty() { run(keepsRecords: true) }
  static func correct() { run(keepsRecords: false) }

  private static func run(keepsRecords: Bool) {
    let room = AuctionRoom(keepsRecords: keepsRecords)
    Self.room = room
    for lot in 0..<60 { auction(lot, in: room) }
    note(room.turnover)
  }

  @inline(never) private static func auction(_ lot: Int, in room: AuctionRoom) {
    for paddle in 0..<6 { room.offer(100 + lot * 3 + paddle * 10, for: lot, by: paddle) }
    room.sell(lot)
  }
}
