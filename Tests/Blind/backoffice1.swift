import Foundation

extension Notification.Name {
    static let invoicePaid = Notification.Name("billing.invoicePaid")
    static let ratesChanged = Notification.Name("billing.ratesChanged")
}

struct Invoice {
    let number: Int
    let customer: Int
    var cents: Int
    var paid = false
}

final class BillingStore {
    private(set) var invoices: [Int: Invoice] = [:]
    private(set) var rate = 100

    func issue(number: Int, customer: Int, cents: Int) {
        invoices[number] = Invoice(number: number, customer: customer, cents: cents)
    }

    func pay(_ number: Int) {
        guard invoices[number]?.paid == false else { return }
        invoices[number]!.paid = true
        NotificationCenter.default.post(name: .invoicePaid, object: self, userInfo: ["number": number])
    }

    func setRate(_ newRate: Int) {
        rate = newRate
        NotificationCenter.default.post(name: .ratesChanged, object: self)
    }

    func open(for customer: Int) -> [Invoice] {
        invoices.values.filter { $0.customer == customer && !$0.paid }.sorted { $0.number < $1.number }
    }
}

final class InvoicePanel {
    let customer: Int
    private let store: BillingStore
    private var rows: [String] = []
    private var tokens: [NSObjectProtocol] = []
    private var isVisible = true
    private(set) var reloads = 0

    init(customer: Int, store: BillingStore) {
        self.customer = customer
        self.store = store
        let center = NotificationCenter.default
        tokens.append(center.addObserver(forName: .invoicePaid, object: store, queue: nil) { note in
            guard let number = note.userInfo?["number"] as? Int else { return }
            self.invoiceChanged(number)
        })
        tokens.append(center.addObserver(forName: .ratesChanged, object: store, queue: nil) { [weak self] _ in
            self?.reload()
        })
        reload()
    }

    private func invoiceChanged(_ number: Int) {
        guard isVisible, store.invoices[number]?.customer == customer else { return }
        reload()
    }

    private func reload() {
        guard isVisible else { return }
        reloads += 1
        rows = store.open(for: customer).map { invoice in
            let amount = invoice.cents * store.rate / 100
            return "#\(invoice.number)  \(amount / 100).\(amount % 100)"
        }
    }

    func close() -> Int {
        isVisible = false
        rows.removeAll()
        return reloads
    }

    deinit {
        for token in tokens {
            NotificationCenter.default.removeObserver(token)
        }
    }
}

final class Workspace {
    private let store: BillingStore
    private var panels: [InvoicePanel] = []
    private(set) var reloads = 0

    init(store: BillingStore) {
        self.store = store
    }

    func open(_ customers: [Int]) {
        panels = customers.map { InvoicePanel(customer: $0, store: store) }
    }

    func closeAll() {
        reloads += panels.reduce(0) { $0 + $1.close() }
        panels.removeAll()
    }
}

func workday() -> String {
    let store = BillingStore()
    let workspace = Workspace(store: store)
    for number in 0..<900 {
        store.issue(number: number, customer: number % 45, cents: 1_000 + number * 37 % 5_000)
    }
    for shift in 0..<9 {
        workspace.open((0..<5).map { shift * 5 + $0 })
        for number in stride(from: shift, to: 900, by: 9) {
            store.pay(number)
        }
        store.setRate(100 + shift)
        Thread.sleep(forTimeInterval: 0.08)
        workspace.closeAll()
    }
    let paid = store.invoices.values.filter(\.paid).count
    return "paid \(paid), reloads \(workspace.reloads), rate \(store.rate)"
}

print(workday())
