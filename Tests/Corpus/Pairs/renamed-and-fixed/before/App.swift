final class Basket {
  var changed: (() -> Void)?
  var fruit = [1, 2, 3]
}

nonisolated(unsafe) var last: Basket?

@main enum App {
  static func main() { for number in 0..<80 { fill(number) } }

  @inline(never) static func fill(_ number: Int) {
    let basket = Basket()
    basket.changed = { basket.fruit.append(number) }
    basket.changed?()
    last = basket
  }
}
