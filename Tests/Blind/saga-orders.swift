import Foundation

final class StepRecord: @unchecked Sendable {
    let name: String
    var undone = false
    init(name: String) { self.name = name }
}

final class OrderSaga: @unchecked Sendable {
    let orderID: Int
    var undoAttempt = 0
    var steps: [StepRecord] = []
    init(orderID: Int) { self.orderID = orderID }

    var undoKey: String { "\(orderID)/\(undoAttempt)" }
}

enum StepFailure: Error { case rejected }

struct Services: Sendable {
    func perform(_ step: String, order: Int) async throws {
        await Task.yield()
        if step == "charge" && order % 7 == 3 { throw StepFailure.rejected }
    }

    func undo(_ step: String, order: Int, attempt: Int) async -> Bool {
        await Task.yield()
        return !(step == "reserve" && order % 28 == 17 && attempt == 0)
    }
}

actor SagaCoordinator {
    private var running: [Int: OrderSaga] = [:]
    private var undoing: [String: OrderSaga] = [:]
    private let services = Services()
    private(set) var shipped = 0
    private(set) var reverted = 0

    func place(_ orderID: Int) async {
        let saga = OrderSaga(orderID: orderID)
        running[orderID] = saga
        do {
            for step in ["validate", "price", "reserve", "charge", "ship"] {
                try await services.perform(step, order: orderID)
                saga.steps.append(StepRecord(name: step))
            }
            running.removeValue(forKey: orderID)
            shipped += 1
        } catch {
            running.removeValue(forKey: orderID)
            await rollBack(saga)
        }
    }

    private func rollBack(_ saga: OrderSaga) async {
        undoing[saga.undoKey] = saga
        for record in saga.steps.reversed() where !record.undone {
            record.undone = await services.undo(record.name, order: saga.orderID, attempt: saga.undoAttempt)
            if !record.undone {
                saga.undoAttempt += 1
                await rollBack(saga)
                return
            }
        }
        undoing.removeValue(forKey: saga.undoKey)
        reverted += 1
    }
}

@main
struct SagaOrdersApp {
    static let coordinator = SagaCoordinator()

    static func main() async {
        for batch in 0..<25 {
            await withTaskGroup(of: Void.self) { group in
                for n in 0..<28 {
                    group.addTask { await coordinator.place(batch * 28 + n) }
                }
            }
            try? await Task.sleep(nanoseconds: 35_000_000)
        }
        print("shipped \(await coordinator.shipped) reverted \(await coordinator.reverted)")
    }
}
