// A reference that is not counted, to an object whose memory has gone to an object of another class.

private final class Guest {
  var name = 1
  var table = 2
  var orders = 3
}

/// As large as a guest, so that it gets a guest's memory.
private final class Receipt {
  var number = 1
  var total = 2
  var tip = 3
}

private final class Waiter {
  unowned(unsafe) var guest: Guest
  init(_ guest: Guest) { self.guest = guest }
  @inline(never) func takeOrder() { note(guest.orders) }
}

enum ReusedSeat: FaultyProgram {
  nonisolated(unsafe) private static var waiters: [Waiter] = []
  nonisolated(unsafe) private static var guests: [Guest] = []
  nonisolated(unsafe) private static var receipts: [Receipt] = []

  static func faulty() { serve(staying: false) }
  static func correct() { serve(staying: true) }

  private static func serve(staying: Bool) {
    waiters.reserveCapacity(2)
    guests.reserveCapacity(2)
    receipts.reserveCapacity(2)
    for _ in 0..<2 {
      seat(staying: staying)
      pay()
    }
  }

  @inline(never) private static func seat(staying: Bool) {
    let guest = Guest()
    let waiter = Waiter(guest)
    waiter.takeOrder()
    waiters.append(waiter)
    if staying { guests.append(guest) }
    use(guest)
  }

  @inline(never) private static func pay() { receipts.append(Receipt()) }
}
