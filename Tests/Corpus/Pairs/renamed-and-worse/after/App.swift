final class Purse {
  var changed: (() -> Void)?
  var coins = [1, 5, 10]
}

@main enum App {
  static func main() { for _ in 0..<24 { openPurse() } }

  @inline(never) static func openPurse() {
    let purse = Purse()
    purse.changed = { note(purse.coins.count) }
    purse.changed?()
  }
}
