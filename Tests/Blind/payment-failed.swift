import Foundation

final class PendingCharge: Sendable {
    let order: Int
    let cents: Int
    let cardHash: [UInt8]
    init(order: Int, cents: Int) {
        self.order = order
        self.cents = cents
        cardHash = (0..<32).map { UInt8(($0 * order) & 0xff) }
    }
}

enum BankError: Error { case declined(Int) }

struct Bank: Sendable {
    func authorize(_ charge: PendingCharge) async throws -> String {
        await Task.yield()
        if charge.order % 5 == 0 { throw BankError.declined(charge.order) }
        return "auth-\(charge.order)-\(charge.cents)"
    }
}

actor PaymentGateway {
    static let shared = PaymentGateway()
    private let bank = Bank()
    private var pending: [Int: PendingCharge] = [:]
    private(set) var revenue = 0

    func charge(order: Int, cents: Int) async throws -> String {
        let charge = PendingCharge(order: order, cents: cents)
        // Protects from a double click while we wait for the bank.
        pending[order] = charge
        let code = try await bank.authorize(charge)
        revenue += cents
        pending[order] = nil
        return code
    }

    func isPending(_ order: Int) -> Bool { pending[order] != nil }
}

actor Receipts {
    static let shared = Receipts()
    private(set) var printed = 0
    private(set) var declined = 0
    func print(_ code: String) { printed += 1 }
    func decline(_ order: Int) { declined += 1 }
}

func checkout(_ order: Int) async {
    do {
        let code = try await PaymentGateway.shared.charge(order: order, cents: 100 + order)
        await Receipts.shared.print(code)
    } catch {
        await Receipts.shared.decline(order)
    }
}

@main
struct WebShop {
    static func main() async throws {
        var order = 0
        for _ in 0..<6 {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<50 {
                    order += 1
                    let number = order
                    group.addTask { await checkout(number) }
                }
                await group.waitForAll()
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        print("receipts \(await Receipts.shared.printed), declined \(await Receipts.shared.declined)")
    }
}
