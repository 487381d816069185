import Foundation
import Synchronization

struct LeaseKey: Hashable, CustomStringConvertible {
    let bucket: String
    let slot: Int
    var description: String { "\(bucket)/\(slot)" }
}

enum RenewOutcome {
    case extended(untilTick: Int)
    case unknownLease
}

actor Coordinator {
    private struct Record {
        var owner: String
        var epoch: Int
        var untilTick: Int
    }

    private var records: [LeaseKey: Record] = [:]
    private var tick = 0
    private(set) var grants = 0

    func grant(_ key: LeaseKey, to owner: String) -> Int? {
        guard records[key] == nil else { return nil }
        grants += 1
        records[key] = Record(owner: owner, epoch: grants, untilTick: tick + 20)
        return grants
    }

    func renew(_ key: LeaseKey, epoch: Int) -> RenewOutcome {
        tick += 1
        guard var record = records[key], record.epoch == epoch else { return .unknownLease }
        record.untilTick = tick + 20
        records[key] = record
        return .extended(untilTick: record.untilTick)
    }

    func drop(_ key: LeaseKey, epoch: Int) {
        if records[key]?.epoch == epoch { records[key] = nil }
    }

    func reassign(_ key: LeaseKey, epoch: Int, to owner: String) {
        guard records[key]?.epoch == epoch else { return }
        records[key] = nil
        handedOver[owner, default: 0] += 1
    }

    private(set) var handedOver: [String: Int] = [:]
}

final class LeaseHandle: @unchecked Sendable {
    let key: LeaseKey
    let epoch: Int
    private let coordinator: Coordinator
    private let lastDeadline = Mutex(0)
    private let fencingToken: [UInt8]
    private var renewal: Task<Void, Never>?

    init(key: LeaseKey, epoch: Int, coordinator: Coordinator) {
        self.key = key
        self.epoch = epoch
        self.coordinator = coordinator
        self.fencingToken = (0..<96).map { UInt8(truncatingIfNeeded: $0 &* epoch) }
    }

    func startRenewing(every interval: Duration) {
        renewal = Task {
            while !Task.isCancelled {
                await self.renewOnce()
                try? await Task.sleep(for: interval)
            }
        }
    }

    private func renewOnce() async {
        if case .extended(let until) = await coordinator.renew(key, epoch: epoch) {
            lastDeadline.withLock { $0 = until }
        }
    }

    func stopRenewing() {
        renewal?.cancel()
        renewal = nil
    }

    func sign(_ write: String) -> Int {
        write.utf8.reduce(epoch) { ($0 &* 31) &+ Int($1 ^ fencingToken[Int($1) % fencingToken.count]) } & 0xffff
    }
}

actor LockClient {
    private let node: String
    private let coordinator: Coordinator
    private var held: [LeaseKey: LeaseHandle] = [:]
    private(set) var checksum = 0

    init(node: String, coordinator: Coordinator) {
        self.node = node
        self.coordinator = coordinator
    }

    var heldCount: Int { held.count }

    func acquire(_ key: LeaseKey) async -> Bool {
        guard let epoch = await coordinator.grant(key, to: node) else { return false }
        let handle = LeaseHandle(key: key, epoch: epoch, coordinator: coordinator)
        handle.startRenewing(every: .milliseconds(40))
        held[key] = handle
        return true
    }

    func write(_ text: String, under key: LeaseKey) {
        guard let handle = held[key] else { return }
        checksum = (checksum &+ handle.sign(text)) & 0xffffff
    }

    func release(_ key: LeaseKey) async {
        guard let handle = held.removeValue(forKey: key) else { return }
        handle.stopRenewing()
        await coordinator.drop(key, epoch: handle.epoch)
    }

    func handOver(_ key: LeaseKey, to peer: String) async {
        guard let handle = held.removeValue(forKey: key) else { return }
        await coordinator.reassign(key, epoch: handle.epoch, to: peer)
    }
}

let coordinator = Coordinator()
let client = LockClient(node: "node-a", coordinator: coordinator)
let peers = ["node-b", "node-c"]

for round in 0..<70 {
    let keys = (0..<6).map { LeaseKey(bucket: "vol\(round % 7)", slot: round * 6 + $0) }
    for key in keys {
        guard await client.acquire(key) else { fatalError("lease \(key) is taken") }
    }
    for key in keys {
        await client.write("block \(key) v\(round)", under: key)
    }
    try await Task.sleep(for: .milliseconds(8))
    for (index, key) in keys.enumerated() {
        if index % 3 == 2 {
            await client.handOver(key, to: peers[round % 2])
        } else {
            await client.release(key)
        }
    }
}

try await Task.sleep(for: .milliseconds(150))
let moved = await coordinator.handedOver.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
print("grants \(await coordinator.grants), held \(await client.heldCount), handed over \(moved.joined(separator: " "))")
print("checksum \(await client.checksum)")
