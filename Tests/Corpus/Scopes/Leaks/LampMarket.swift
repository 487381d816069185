// A market keeps each offer in a table by number and in a shelf by price. A sale removes the offer from both. A
// withdrawal forgets the table. The last day sells the other offers, so offers of any age end.

private final class LampOffer {
  let number: Int
  let price: Int

  init(number: Int, price: Int) {
    self.number = number
    self.price = price
  }
}

private final class LampMarket {
  nonisolated(unsafe) static let shared = LampMarket()
  private var offers: [Int: LampOffer] = [:]
  private var shelves: [Int: [LampOffer]] = [:]

  func add(_ offer: LampOffer) {
    offers[offer.number] = offer
    shelves[offer.price, default: []].append(offer)
  }

  func sell(atMost price: Int) {
    guard let cheapest = shelves.keys.min(), cheapest <= price, let offer = shelves[cheapest]?.first else { return }
    takeFromShelf(offer)
    offers[offer.number] = nil
  }

  func withdraw(_ number: Int, isForgotten: Bool) {
    guard let offer = offers[number] else { return }
    takeFromShelf(offer)
    if !isForgotten { offers[number] = nil }
  }

  private func takeFromShelf(_ offer: LampOffer) {
    shelves[offer.price]?.removeAll { $0 === offer }
    if shelves[offer.price]?.isEmpty == true { shelves[offer.price] = nil }
  }
}

enum LampMarketOffers: FaultyProgram {
  nonisolated(unsafe) private static var isForgotten = false
  nonisolated(unsafe) private static var days = 30

  static func faulty() {
    (isForgotten, days) = (true, 40)
    correct()
  }

  static func correct() {
    for day in 0..<days { trade(day) }
    for _ in 0..<4 * days { LampMarket.shared.sell(atMost: .max) }
    trade(days)
  }

  /// Makes 20 offers. Eight are cheap and sold, eight are withdrawn, and four stay until the last day.
  @inline(never) private static func trade(_ day: Int) {
    for index in 0..<20 {
      let number = day * 20 + index
      LampMarket.shared.add(LampOffer(number: number, price: index < 8 ? 40 + index : 400 + index))
    }
    for _ in 0..<8 { LampMarket.shared.sell(atMost: 100) }
    for index in 8..<16 { LampMarket.shared.withdraw(day * 20 + index, isForgotten: isForgotten) }
    note(day)
  }
}
