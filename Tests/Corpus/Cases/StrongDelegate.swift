// A delegate, known by its protocol, that is held strongly by what it owns.

protocol PaymentFormDelegate: AnyObject {
  func paymentForm(didEnter number: Int)
}

final class PaymentForm {
  var delegate: (any PaymentFormDelegate)?
  func enter(_ number: Int) { delegate?.paymentForm(didEnter: number) }
}

final class CheckoutCoordinator: PaymentFormDelegate {
  private let form = PaymentForm()
  private var entered = 0

  func start() {
    form.delegate = self
    form.enter(4242)
    note(entered)
  }

  func finish() { form.delegate = nil }
  func paymentForm(didEnter number: Int) { entered = number }
}

enum StrongDelegate: FaultyProgram {
  static func faulty() { for _ in 0..<12 { checkOut() } }
  static func correct() { for _ in 0..<12 { checkOutAndFinish() } }

  @inline(never) private static func checkOut() {
    let coordinator = CheckoutCoordinator()
    coordinator.start()
    use(coordinator)
  }

  @inline(never) private static func checkOutAndFinish() {
    let coordinator = CheckoutCoordinator()
    coordinator.start()
    coordinator.finish()
  }
}
