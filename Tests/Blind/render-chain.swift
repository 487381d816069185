import Foundation

struct Scene {
    let title: String
    let frames: Int
    let seed: UInt32
}

final class FrameOperation: Operation, @unchecked Sendable {
    let index: Int
    private let seed: UInt32
    private let predecessor: FrameOperation?
    private(set) var brightness = 0

    init(index: Int, seed: UInt32, after predecessor: FrameOperation?) {
        self.index = index
        self.seed = seed
        self.predecessor = predecessor
        super.init()
        if let predecessor { addDependency(predecessor) }
    }

    override func main() {
        var noise = seed &+ UInt32(index)
        var sum = 0
        for _ in 0..<256 {
            noise = noise &* 1664525 &+ 1013904223
            sum += Int(noise >> 24)
        }
        let fresh = sum / 256
        if let predecessor {
            brightness = (predecessor.brightness * 3 + fresh) / 4
        } else {
            brightness = fresh
        }
    }
}

final class RenderPipeline {
    private let queue: OperationQueue
    private var newest: FrameOperation?
    private(set) var submitted = 0

    init(width: Int) {
        queue = OperationQueue()
        queue.name = "render"
        queue.maxConcurrentOperationCount = width
    }

    func enqueue(frame: Int, of scene: Scene) {
        let operation = FrameOperation(index: frame, seed: scene.seed, after: newest)
        newest = operation
        submitted += 1
        queue.addOperation(operation)
    }

    func settle() {
        queue.waitUntilAllOperationsAreFinished()
    }

    var exposure: Int { newest?.brightness ?? 0 }
}

let scenes = [
    Scene(title: "harbour", frames: 420, seed: 11),
    Scene(title: "market", frames: 300, seed: 2077),
    Scene(title: "rooftops", frames: 480, seed: 90210),
]

let pipeline = RenderPipeline(width: 2)

for scene in scenes {
    var samples: [Int] = []
    for frame in 0..<scene.frames {
        pipeline.enqueue(frame: frame, of: scene)
        if frame % 20 == 19 {
            pipeline.settle()
            samples.append(pipeline.exposure)
        }
    }
    pipeline.settle()
    let mean = samples.reduce(0, +) / max(1, samples.count)
    print("\(scene.title): \(scene.frames) frames, mean exposure \(mean)")
}
print("submitted \(pipeline.submitted)")
