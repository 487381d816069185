import Foundation

struct Basket {
    let number: Int
    let cents: [Int]
    var total: Int { cents.reduce(0, +) }
}

enum CheckoutOutcome {
    case paid(Int)
    case abandoned
}

class Screen {
    let title: String
    private(set) var isVisible = false

    init(title: String) {
        self.title = title
    }

    func present() { isVisible = true }
    func dismiss() { isVisible = false }
}

final class CheckoutScreen: Screen {
    let basket: Basket
    var onConfirm: ((Int) -> Void)?
    var onBack: (() -> Void)?

    init(basket: Basket) {
        self.basket = basket
        super.init(title: "Checkout \(basket.number)")
    }

    func tapConfirm() { onConfirm?(basket.total) }
    func tapBack() { onBack?() }
}

final class CheckoutCoordinator {
    let basket: Basket
    weak var parent: StoreCoordinator?
    private var screen: CheckoutScreen?

    init(basket: Basket, parent: StoreCoordinator) {
        self.basket = basket
        self.parent = parent
    }

    func start() {
        let screen = CheckoutScreen(basket: basket)
        screen.onConfirm = { cents in
            self.finish(.paid(cents))
        }
        screen.onBack = { [weak self] in
            self?.finish(.abandoned)
        }
        self.screen = screen
        screen.present()
    }

    func simulateShopper() {
        guard let screen else { return }
        if basket.number % 7 == 3 {
            screen.tapBack()
        } else {
            screen.tapConfirm()
        }
    }

    private func finish(_ outcome: CheckoutOutcome) {
        screen?.dismiss()
        parent?.checkout(self, ended: outcome)
    }
}

final class StoreCoordinator {
    private var children: [CheckoutCoordinator] = []
    private(set) var revenue = 0
    private(set) var abandoned = 0

    func openCheckout(for basket: Basket) {
        let child = CheckoutCoordinator(basket: basket, parent: self)
        children.append(child)
        child.start()
        child.simulateShopper()
    }

    func checkout(_ child: CheckoutCoordinator, ended outcome: CheckoutOutcome) {
        children.removeAll { $0 === child }
        switch outcome {
        case .paid(let cents): revenue += cents
        case .abandoned: abandoned += 1
        }
    }

    var openFlows: Int { children.count }
}

@main
struct StoreApp {
    static let store = StoreCoordinator()

    static func main() {
        for number in 1...140 {
            let cents = (0..<(1 + number % 4)).map { 199 + $0 * 50 + number }
            store.openCheckout(for: Basket(number: number, cents: cents))
            if number % 4 == 0 {
                Thread.sleep(forTimeInterval: 0.015)
            }
        }
        print("navflow: revenue \(store.revenue) abandoned \(store.abandoned) open \(store.openFlows)")
    }
}
