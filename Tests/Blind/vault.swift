import Foundation
import Synchronization

enum Decision: Sendable {
    case granted(until: Int)
    case refused
}

/// A visitor asks to open a safe deposit box.
final class AccessRequest: @unchecked Sendable {
    let number: Int
    let box: Int
    private var trail: [String] = []

    init(number: Int, box: Int) {
        self.number = number
        self.box = box
        trail.append("asked for \(box)")
    }

    func note(_ decision: Decision) {
        switch decision {
        case .granted(let until): trail.append("open until \(until)")
        case .refused: trail.append("refused")
        }
    }

    var trailLength: Int { trail.count }
}

/// A clerk looks at each request a moment later.
final class ApprovalDesk: Sendable {
    private let pending = Mutex<[Int: UnsafeContinuation<Decision, Never>]>([:])
    private let clerk = DispatchQueue(label: "vault.clerk")

    func decision(for number: Int, box: Int) async -> Decision {
        await withUnsafeContinuation { continuation in
            pending.withLock { $0[number] = continuation }
            clerk.asyncAfter(deadline: .now() + .milliseconds(4)) {
                self.review(number, box: box)
            }
        }
    }

    private func review(_ number: Int, box: Int) {
        guard let waiting = pending.withLock({ $0.removeValue(forKey: number) }) else { return }
        if isSealed(box) {
            return
        }
        waiting.resume(returning: .granted(until: number + 900))
    }

    private func isSealed(_ box: Int) -> Bool { box % 6 == 5 }
}

actor VaultLog {
    private(set) var opened = 0
    private(set) var lines = 0

    func add(_ request: AccessRequest) {
        opened += 1
        lines += request.trailLength
    }
}

struct Vault: Sendable {
    let desk = ApprovalDesk()
    let log = VaultLog()

    func serve(_ request: AccessRequest) async {
        let decision = await desk.decision(for: request.number, box: request.box)
        request.note(decision)
        await log.add(request)
    }
}

let vault = Vault()
for number in 0..<90 {
    let request = AccessRequest(number: number, box: number % 36)
    Task.detached {
        await vault.serve(request)
    }
    try await Task.sleep(for: .milliseconds(6))
}
try await Task.sleep(for: .milliseconds(60))
let opened = await vault.log.opened
let lines = await vault.log.lines
print("opened \(opened) boxes, \(lines) lines in the log")
