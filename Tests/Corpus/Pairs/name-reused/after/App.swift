// `Client` is now called `Transport`, and a new class has the name `Client`.

final class Transport {
  var answered: (() -> Void)?
  var requests = [1]
}

final class Client {
  var parent: Client?
  let number: Int
  init(_ number: Int) { self.number = number }
}

@main enum App {
  static func main() {
    for number in 0..<10 { connect(number) }
    for number in 0..<4 { introduce(number) }
  }

  @inline(never) static func connect(_ number: Int) {
    let client = Transport()
    client.answered = { client.requests.append(number) }
    client.answered?()
  }

  @inline(never) static func introduce(_ number: Int) {
    let first = Client(number), second = Client(-number)
    first.parent = second
    second.parent = first
  }
}
