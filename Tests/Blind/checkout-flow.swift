import Foundation

protocol CartObserver: AnyObject {
    func cartChanged(total: Int)
}

final class ObservationToken {
    private var onCancel: (() -> Void)?
    init(onCancel: @escaping () -> Void) { self.onCancel = onCancel }
    func cancel() {
        onCancel?()
        onCancel = nil
    }
    deinit { cancel() }
}

final class Cart {
    private var observers: [ObjectIdentifier: CartObserver] = [:]
    private var items: [String: Int] = [:]

    func observe(_ observer: CartObserver) -> ObservationToken {
        let key = ObjectIdentifier(observer)
        observers[key] = observer
        return ObservationToken { [weak self] in
            self?.observers.removeValue(forKey: key)
        }
    }

    func add(_ item: String, price: Int) {
        items[item, default: 0] += price
        notify()
    }

    func clear() {
        items.removeAll()
        notify()
    }

    private func notify() {
        let total = items.values.reduce(0, +)
        for observer in observers.values { observer.cartChanged(total: total) }
    }

    var observerCount: Int { observers.count }
}

class CheckoutStep: CartObserver {
    let name: String
    private var token: ObservationToken?
    private(set) var lastTotal = 0

    init(name: String) { self.name = name }

    func open(on cart: Cart) { token = cart.observe(self) }
    func cartChanged(total: Int) { lastTotal = total }
    func close() {
        token?.cancel()
        token = nil
    }
}

final class ShippingStep: CheckoutStep {
    private(set) var fee = 0
    override func cartChanged(total: Int) {
        super.cartChanged(total: total)
        fee = total > 100 ? 0 : 9
    }
}

let cart = Cart()
var paid = 0
var fees = 0
for customer in 0..<40 {
    let address = CheckoutStep(name: "address")
    let shipping = ShippingStep(name: "shipping")
    let payment = CheckoutStep(name: "payment")
    let steps = [address, shipping, payment]
    for (n, step) in steps.enumerated() {
        step.open(on: cart)
        cart.add("item \(customer)-\(n)", price: 20 + n * customer)
    }
    paid += payment.lastTotal
    fees += shipping.fee
    // some customers abandon the flow before payment is closed by the user
    for step in customer % 4 == 0 ? steps.reversed() : steps { step.close() }
    cart.clear()
}
print("paid \(paid) fees \(fees) observers \(cart.observerCount)")
