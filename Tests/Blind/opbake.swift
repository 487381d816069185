import Foundation

struct AssetSpec {
    let name: String
    let bytes: Int
}

final class BakeOperation: Operation, @unchecked Sendable {
    let spec: AssetSpec
    private(set) var digest: UInt32 = 0

    init(spec: AssetSpec) {
        self.spec = spec
        super.init()
    }

    override func main() {
        var hash: UInt32 = 2166136261
        for byte in spec.name.utf8 {
            hash = (hash ^ UInt32(byte)) &* 16777619
        }
        for step in 0..<spec.bytes {
            hash = (hash ^ UInt32(truncatingIfNeeded: step)) &* 16777619
        }
        digest = hash
    }
}

final class AssetBaker {
    private let queue: OperationQueue
    private var previous: BakeOperation?
    private(set) var submitted = 0

    init() {
        queue = OperationQueue()
        queue.name = "asset.bake"
        queue.maxConcurrentOperationCount = 2
    }

    func submit(_ spec: AssetSpec) {
        let operation = BakeOperation(spec: spec)
        if let previous {
            operation.addDependency(previous)
        }
        previous = operation
        submitted += 1
        queue.addOperation(operation)
    }

    func settle() {
        queue.waitUntilAllOperationsAreFinished()
    }

    var newestDigest: UInt32 { previous?.digest ?? 0 }
}

struct AssetCatalogue {
    let folders = ["terrain", "foliage", "actors", "effects", "hud"]

    func batch(_ index: Int) -> [AssetSpec] {
        folders.enumerated().map { offset, folder in
            AssetSpec(name: "\(folder)/asset\(index)", bytes: 400 + offset * 90 + index)
        }
    }
}

let baker = AssetBaker()
let catalogue = AssetCatalogue()
var mixed: UInt32 = 0

for index in 0..<60 {
    for spec in catalogue.batch(index) {
        baker.submit(spec)
    }
    baker.settle()
    mixed ^= baker.newestDigest
    usleep(10_000)
}

print("opbake: \(baker.submitted) assets baked, digest \(String(mixed, radix: 16))")
