import Foundation
import Dispatch

final class TransferRequest: @unchecked Sendable {
    let id: Int
    let iban: String
    let cents: Int
    private let envelope: [UInt8]

    init(id: Int, iban: String, cents: Int) {
        self.id = id
        self.iban = iban
        self.cents = cents
        self.envelope = Array("\(iban):\(cents)".utf8) + [UInt8](repeating: 0x20, count: 200)
    }

    func signature() -> UInt64 {
        envelope.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}

final class ActiveRequests: @unchecked Sendable {
    static let shared = ActiveRequests()

    private let lock = NSLock()
    private var active: [Int: TransferRequest] = [:]
    private var highWater = 0

    func track<T: Sendable>(_ request: TransferRequest, _ body: (TransferRequest) async throws -> T) async rethrows -> T {
        insert(request)
        defer { remove(request.id) }
        return try await body(request)
    }

    private func insert(_ request: TransferRequest) {
        lock.withLock {
            active[request.id] = request
            highWater = max(highWater, active.count)
        }
    }

    private func remove(_ id: Int) {
        lock.withLock { active[id] = nil }
    }

    var count: Int { lock.withLock { active.count } }
    var peak: Int { lock.withLock { highWater } }
}

enum BankError: Error {
    case rejected, unreachable
}

struct Bank: Sendable {
    func transfer(_ request: TransferRequest) async throws -> UInt64 {
        try await Task.sleep(for: .milliseconds(4))
        switch request.id % 6 {
        case 1: throw BankError.unreachable
        case 4: throw BankError.rejected
        default: return request.signature()
        }
    }

    func awaitSettlement(_ request: TransferRequest, until deadline: ContinuousClock.Instant) async -> Bool {
        try? await Task.sleep(until: deadline, clock: .continuous)
        return request.signature() != 0
    }
}

actor Outcome {
    private(set) var settled = 0
    private(set) var failed = 0
    private(set) var polls = 0

    func settle() { settled += 1 }
    func fail() { failed += 1 }
    func poll(_ ok: Bool) { polls += ok ? 1 : 0 }
}

func relay() async {
    let bank = Bank()
    let outcome = Outcome()
    let deadline = ContinuousClock.now + .milliseconds(900)

    await withTaskGroup(of: Void.self) { polls in
        for n in 0..<25 {
            polls.addTask {
                let request = TransferRequest(id: 10_000 + n, iban: "DE\(n)", cents: 100)
                let ok = await ActiveRequests.shared.track(request) {
                    await bank.awaitSettlement($0, until: deadline)
                }
                await outcome.poll(ok)
            }
        }
        for batch in 0..<7 {
            await withTaskGroup(of: Void.self) { group in
                for n in 0..<30 {
                    group.addTask {
                        let request = TransferRequest(id: batch * 30 + n, iban: "FR\(n * 37)", cents: 500 + n)
                        do {
                            _ = try await ActiveRequests.shared.track(request) { try await bank.transfer($0) }
                            await outcome.settle()
                        } catch {
                            await outcome.fail()
                        }
                    }
                }
            }
            try? await Task.sleep(for: .milliseconds(90))
        }
    }
    try? await Task.sleep(for: .milliseconds(100))
    let active = ActiveRequests.shared.count
    print("settled \(await outcome.settled), failed \(await outcome.failed), polls \(await outcome.polls), active \(active), peak \(ActiveRequests.shared.peak >= 25)")
}

await relay()
