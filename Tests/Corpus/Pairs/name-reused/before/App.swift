final class Client {
  var answered: (() -> Void)?
  var requests = [1]
}

@main enum App {
  static func main() { for number in 0..<10 { connect(number) } }

  @inline(never) static func connect(_ number: Int) {
    let client = Client()
    client.answered = { client.requests.append(number) }
    client.answered?()
  }
}
