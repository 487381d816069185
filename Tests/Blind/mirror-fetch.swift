import Foundation

enum Section: String {
    case source, binary, image
}

struct Artifact: Sendable {
    let name: String
    let chunks: Int
    let chunkDelay: UInt64
}

/// What has been mirrored so far.
final class Ledger: @unchecked Sendable {
    private let lock = NSLock()
    private var digests: [String: UInt32] = [:]
    private var chunksSeen = 0

    func chunk() {
        lock.withLock { chunksSeen += 1 }
    }

    func finished(_ name: String, digest: UInt32) {
        lock.withLock { digests[name] = digest }
    }

    func has(_ names: [String]) -> Bool {
        lock.withLock { names.allSatisfy { digests[$0] != nil } }
    }

    var fingerprint: UInt32 {
        lock.withLock { digests.values.reduce(0, ^) }
    }

    var finishedCount: Int { lock.withLock { digests.count } }
}

final class ArtifactFetch: @unchecked Sendable {
    private let artifact: Artifact
    private let ledger: Ledger
    private var received = 0
    private var digest: UInt32 = 2166136261
    private var window: [UInt8] = []
    private var transfer: Task<Void, Never>?

    init(_ artifact: Artifact, ledger: Ledger) {
        self.artifact = artifact
        self.ledger = ledger
    }

    func begin() {
        transfer = Task {
            while self.received < self.artifact.chunks {
                try? await Task.sleep(nanoseconds: self.artifact.chunkDelay)
                self.absorb(self.nextChunk())
            }
            self.ledger.finished(self.artifact.name, digest: self.digest)
        }
    }

    private func nextChunk() -> [UInt8] {
        let seed = artifact.name.utf8.reduce(received) { $0 &* 31 &+ Int($1) }
        return (0..<64).map { UInt8(truncatingIfNeeded: seed &+ $0 &* 7) }
    }

    private func absorb(_ chunk: [UInt8]) {
        window = chunk
        for byte in chunk { digest = (digest ^ UInt32(byte)) &* 16777619 }
        received += 1
        ledger.chunk()
    }
}

struct Mirror {
    let ledger = Ledger()

    func artifact(_ index: Int) -> (Section, Artifact) {
        let millisecond: UInt64 = 1_000_000
        switch index % 20 {
        case 6:
            return (.image, Artifact(name: "disk-\(index).img", chunks: 60, chunkDelay: 85 * millisecond))
        case 13 where index < 80, 17 where index < 160:
            return (.binary, Artifact(name: "toolchain-\(index).tar", chunks: 25, chunkDelay: 14 * millisecond))
        default:
            return (.source, Artifact(name: "pkg-\(index).tar", chunks: 1 + index % 7, chunkDelay: (4 + UInt64(index % 4)) * millisecond))
        }
    }

    func enqueue(_ index: Int) -> String? {
        let (section, artifact) = artifact(index)
        ArtifactFetch(artifact, ledger: ledger).begin()
        return section == .image ? nil : artifact.name
    }
}

let mirror = Mirror()
var indexNames: [String] = []
for round in 0..<18 {
    for slot in 0..<10 {
        if let name = mirror.enqueue(round * 10 + slot) {
            indexNames.append(name)
        }
    }
    usleep(35_000)
}

// The index is published as soon as all packages are in; images follow with the next run.
while !mirror.ledger.has(indexNames) {
    usleep(5_000)
}
print("index of \(indexNames.count) packages, \(mirror.ledger.finishedCount) on disk")
print("fingerprint \(mirror.ledger.fingerprint)")
