// A lazy property whose value is a closure over self: no cycle before it is first asked for.

final class InvoiceFormatter {
  private let currency: String
  init(currency: String) { self.currency = currency }

  lazy var format: (Int) -> String = { "\($0) \(self.currency)" }
  lazy var formatUnowned: (Int) -> String = { [unowned self] in "\($0) \(self.currency)" }
}

enum LazyClosure: FaultyProgram {
  static func faulty() { for amount in 0..<5 { printInvoice(amount) } }
  static func correct() { for amount in 0..<5 { printInvoiceUnowned(amount) } }

  @inline(never) private static func printInvoice(_ amount: Int) {
    let formatter = InvoiceFormatter(currency: "EUR")
    use(formatter)
    note(formatter.format(amount).count)
  }

  @inline(never) private static func printInvoiceUnowned(_ amount: Int) {
    let formatter = InvoiceFormatter(currency: "EUR")
    note(formatter.formatUnowned(amount).count)
  }
}
