final class Visit {
  var left: (() -> Void)?
  let number: Int
  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) var visits: [Int: Visit] = [:]

@main enum App {
  static func main() {
    for number in 0..<300 { visit(number) }
    note(visits.count)
  }

  @inline(never) static func visit(_ number: Int) {
    let visit = Visit(number)
    visits[number] = visit
    visit.left = { [unowned visit] in note(visit.number) }
    visits[number]?.left?()
    if number % 10 != 0 { visits[number] = nil }
  }
}
