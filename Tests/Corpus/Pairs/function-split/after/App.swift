final class Ticket {
  var cancelled: (() -> Void)?
  var seats: [Int]
  init(_ seats: Int) { self.seats = Array(0..<seats) }
}

@main enum App {
  static func main() { for number in 1...10 { book(number) } }

  @inline(never) static func book(_ number: Int) {
    let ticket = reserve(number)
    ticket.cancelled = { ticket.seats = [] }
    note(ticket.seats.count)
  }

  @inline(never) static func reserve(_ number: Int) -> Ticket { Ticket(number) }
}
