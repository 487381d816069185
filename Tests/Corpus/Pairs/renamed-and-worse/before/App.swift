final class Wallet {
  var changed: (() -> Void)?
  var coins = [1, 5, 10]
}

@main enum App {
  static func main() { for _ in 0..<8 { openWallet() } }

  @inline(never) static func openWallet() {
    let wallet = Wallet()
    wallet.changed = { note(wallet.coins.count) }
    wallet.changed?()
  }
}
