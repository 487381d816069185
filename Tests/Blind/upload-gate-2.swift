import Foundation
import Synchronization

enum UploadState: Equatable {
    case queued, transferring, stored, abandoned
}

final class UploadTicket: Sendable {
    let number: Int
    let bytes: Int
    private let current = Mutex(UploadState.queued)
    private let digestSeed: [Int]

    init(number: Int, bytes: Int) {
        self.number = number
        self.bytes = bytes
        self.digestSeed = (0..<20).map { ($0 &* 37) ^ number }
    }

    var state: UploadState { current.withLock { $0 } }

    func move(to next: UploadState) {
        current.withLock { $0 = next }
    }

    func digest() -> Int {
        digestSeed.reduce(bytes) { ($0 &* 33 ^ $1) & 0xffff }
    }
}

actor UploadGate {
    private struct Waiter {
        let ticket: UploadTicket
        let continuation: CheckedContinuation<Bool, Never>
    }

    private var free: Int
    private var waiters: [Waiter] = []
    private var cancelledEarly: Set<Int> = []
    private(set) var withdrawn = 0

    init(slots: Int) { free = slots }

    var queueLength: Int { waiters.count }

    func enter(_ ticket: UploadTicket) async -> Bool {
        await withTaskCancellationHandler {
            await waitForSlot(ticket)
        } onCancel: {
            Task { await self.withdraw(ticket) }
        }
    }

    private func waitForSlot(_ ticket: UploadTicket) async -> Bool {
        if cancelledEarly.remove(ticket.number) != nil { return false }
        if free > 0 {
            free -= 1
            return true
        }
        return await withCheckedContinuation { waiters.append(Waiter(ticket: ticket, continuation: $0)) }
    }

    private func withdraw(_ ticket: UploadTicket) {
        guard let place = waiters.firstIndex(where: { $0.ticket === ticket }) else {
            if ticket.state == .queued { cancelledEarly.insert(ticket.number) }
            return
        }
        withdrawn += 1
        waiters.remove(at: place).continuation.resume(returning: false)
    }

    func leave() {
        if waiters.isEmpty {
            free += 1
        } else {
            waiters.removeFirst().continuation.resume(returning: true)
        }
    }
}

actor UploadAudit {
    private(set) var stored = 0
    private(set) var abandoned = 0
    private(set) var reviewed = 0
    private var digests = 0

    func review(_ ticket: UploadTicket) {
        reviewed += 1
        digests = (digests + ticket.digest()) & 0xffffff
        switch ticket.state {
        case .stored: stored += 1
        case .abandoned: abandoned += 1
        case .queued, .transferring: break
        }
    }

    var signature: Int { digests }
}

struct UploadService: Sendable {
    let gate: UploadGate
    let audit: UploadAudit
    let patience: Duration

    func start(_ ticket: UploadTicket) -> Task<Void, Never> {
        let transfer = Task {
            guard await gate.enter(ticket) else {
                ticket.move(to: .abandoned)
                return
            }
            ticket.move(to: .transferring)
            try? await Task.sleep(for: .microseconds(300))
            ticket.move(to: .stored)
            await gate.leave()
        }
        Task {
            try? await Task.sleep(for: patience)
            if ticket.state != .stored { transfer.cancel() }
            _ = await transfer.value
            await audit.review(ticket)
        }
        return transfer
    }
}

let gate = UploadGate(slots: 3)
let audit = UploadAudit()
let service = UploadService(gate: gate, audit: audit, patience: .milliseconds(550))
var issued = 0

for round in 0..<60 {
    var transfers: [Task<Void, Never>] = []
    for item in 0..<8 {
        transfers.append(service.start(UploadTicket(number: issued, bytes: 1_000 + round * 40 + item)))
        issued += 1
    }
    for transfer in transfers { await transfer.value }
    try await Task.sleep(for: .milliseconds(6))
}

let maintenanceSlots = 3
for slot in 0..<maintenanceSlots {
    _ = await gate.enter(UploadTicket(number: 10_000 + slot, bytes: 0))
}
for item in 0..<40 {
    _ = service.start(UploadTicket(number: issued, bytes: 500 + item))
    issued += 1
}
while await audit.reviewed < issued {
    try await Task.sleep(for: .milliseconds(10))
}
for _ in 0..<maintenanceSlots { await gate.leave() }
try await Task.sleep(for: .milliseconds(60))

print("issued \(issued), stored \(await audit.stored), abandoned \(await audit.abandoned)")
print("withdrawn \(await gate.withdrawn), queued \(await gate.queueLength), signature \(await audit.signature)")
