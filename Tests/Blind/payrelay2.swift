import Foundation

final class PaymentRequest: @unchecked Sendable {
    let id: Int
    let merchant: String
    let cents: Int
    private let envelope: [UInt8]

    init(id: Int, merchant: String, cents: Int) {
        self.id = id
        self.merchant = merchant
        self.cents = cents
        self.envelope = Array("\(merchant):\(cents)".utf8) + [UInt8](repeating: 0x20, count: 200)
    }

    func signature() -> UInt64 {
        envelope.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}

final class RunningRequests: @unchecked Sendable {
    static let shared = RunningRequests()

    private let lock = NSLock()
    private var running: [Int: PaymentRequest] = [:]
    private var highWater = 0

    func begin(_ request: PaymentRequest) {
        lock.withLock {
            running[request.id] = request
            highWater = max(highWater, running.count)
        }
    }

    func finish(_ id: Int) {
        lock.withLock { running[id] = nil }
    }

    var peak: Int { lock.withLock { highWater } }
}

enum AcquirerError: Error {
    case unreachable(host: String)
}

enum Decision: Sendable {
    case approved(code: UInt64)
    case declined
}

struct Acquirer: Sendable {
    let host: String

    func decide(_ request: PaymentRequest) async throws -> Decision {
        try await Task.sleep(for: .milliseconds(4))
        switch request.id % 6 {
        case 1: throw AcquirerError.unreachable(host: host)
        case 4: return .declined
        default: return .approved(code: request.signature() % 1_000_000)
        }
    }
}

actor Settlement {
    private(set) var approved = 0
    private(set) var declined = 0
    private(set) var failed = 0
    private(set) var volume = 0

    func record(_ decision: Decision, cents: Int) {
        switch decision {
        case .approved:
            approved += 1
            volume += cents
        case .declined:
            declined += 1
        }
    }

    func recordFailure() {
        failed += 1
    }
}

struct PaymentRelay: Sendable {
    let acquirer: Acquirer
    let settlement: Settlement

    func authorize(id: Int, merchant: String, cents: Int) async {
        let request = PaymentRequest(id: id, merchant: merchant, cents: cents)
        RunningRequests.shared.begin(request)
        do {
            let decision = try await acquirer.decide(request)
            RunningRequests.shared.finish(request.id)
            await settlement.record(decision, cents: cents)
        } catch {
            await settlement.recordFailure()
        }
    }
}

func serve() async throws {
    let settlement = Settlement()
    let relay = PaymentRelay(acquirer: Acquirer(host: "acq-1.example.net"), settlement: settlement)
    for batch in 0..<7 {
        await withTaskGroup(of: Void.self) { group in
            for n in 0..<30 {
                group.addTask {
                    await relay.authorize(id: batch * 30 + n, merchant: "M\(n % 9)", cents: 500 + n * 31)
                }
            }
        }
        try await Task.sleep(for: .milliseconds(110))
    }
    let approved = await settlement.approved
    let declined = await settlement.declined
    print("approved \(approved), declined \(declined), failed \(await settlement.failed), volume \(await settlement.volume), peak ok \(RunningRequests.shared.peak > 0)")
}

try await serve()
