// A build daemon: receives build orders, runs their steps in concurrent tasks and reports the products.

enum StepStatus: Sendable {
    case waiting, running, finished
}

final class BuildStep: @unchecked Sendable {
    let name: String
    weak var parent: BuildStep?
    private(set) var children: [BuildStep] = []
    var status = StepStatus.waiting
    var product: UInt64 = 0

    init(name: String) {
        self.name = name
    }

    func spawn(_ name: String) -> BuildStep {
        let step = BuildStep(name: name)
        step.parent = self
        children.append(step)
        return step
    }

    func finish(_ product: UInt64) {
        self.product = product
        status = .finished
    }
}

struct Toolchain: Sendable {
    let optimise: Bool

    func compile(_ source: String) -> UInt64 {
        var hash: UInt64 = 14_695_981_039_346_656_037
        for _ in 0..<(optimise ? 40 : 10) {
            for byte in source.utf8 {
                hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211
            }
        }
        return hash
    }

    func link(_ objects: [UInt64]) -> UInt64 {
        objects.reduce(0) { $0 ^ $1 }
    }
}

struct Order: Sendable {
    let target: String
    let sources: [String]
}

struct Product: Sendable {
    let target: String
    let digest: UInt64
}

actor Daemon {
    private let root = BuildStep(name: "daemon")
    private let toolchain: Toolchain
    private var digests: [String: UInt64] = [:]
    private(set) var rebuilds = 0

    init(toolchain: Toolchain) {
        self.toolchain = toolchain
    }

    func build(_ order: Order) async -> Product {
        root.status = .running
        let steps = order.sources.map { root.spawn("compile \($0)") }
        let tools = toolchain
        var objects: [UInt64] = []
        await withTaskGroup(of: UInt64.self) { group in
            for (step, source) in zip(steps, order.sources) {
                group.addTask {
                    step.status = .running
                    let object = tools.compile(source)
                    step.finish(object)
                    return object
                }
            }
            for await object in group {
                objects.append(object)
            }
        }
        let digest = tools.link(objects)
        if let former = digests[order.target], former != digest {
            rebuilds += 1
        }
        digests[order.target] = digest
        return Product(target: order.target, digest: digest)
    }

    func targets() -> [String] {
        digests.keys.sorted()
    }
}

@main
struct BuildMain {
    static let daemon = Daemon(toolchain: Toolchain(optimise: true))

    static func main() async {
        var checksum: UInt64 = 0
        for round in 0..<180 {
            let target = ["app", "server", "tests", "tools"][round % 4]
            let sources = (0..<5).map { "\(target)/file\($0)-rev\(round / 8).swift" }
            let product = await daemon.build(Order(target: target, sources: sources))
            checksum = checksum &* 31 &+ product.digest
            if round % 2 == 0 {
                try? await Task.sleep(nanoseconds: 3_000_000)
            }
        }
        print("targets: \(await daemon.targets().joined(separator: ", "))")
        print("rebuilds with changes: \(await daemon.rebuilds), checksum \(String(checksum, radix: 16))")
    }
}
