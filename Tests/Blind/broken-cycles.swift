import Foundation

/// Keeps itself alive while it works; the cycle is broken in finish().
final class RenderJob {
    let frame: Int
    private var onProgress: ((Int) -> Void)?
    private var onFinish: ((RenderJob) -> Void)?
    private(set) var percent = 0

    init(frame: Int, onFinish: @escaping (RenderJob) -> Void) {
        self.frame = frame
        self.onFinish = onFinish
    }

    func start(on engine: RenderEngine) {
        onProgress = { value in
            self.percent = value
            if value >= 100 { self.finish() }
        }
        engine.enqueue { step in
            self.onProgress?(step * 25)
        }
    }

    private func finish() {
        let handler = onFinish
        onFinish = nil
        onProgress = nil
        handler?(self)
    }
}

final class RenderEngine {
    private var work: [(Int) -> Void] = []
    var idle: (() -> Void)?

    func enqueue(_ item: @escaping (Int) -> Void) { work.append(item) }

    func runAll() {
        let batch = work
        work.removeAll()
        for step in 1...4 {
            for item in batch { item(step) }
        }
        idle?()
    }
}

final class SceneNode {
    static var alive = 0
    unowned let scene: Scene
    weak var parent: SceneNode?
    private(set) var children: [SceneNode] = []
    lazy var path: () -> String = { [weak self] in
        guard let self else { return "" }
        return (self.parent?.path() ?? "") + "/\(self.children.count)"
    }

    init(scene: Scene, parent: SceneNode?) {
        self.scene = scene
        self.parent = parent
        Self.alive += 1
        parent?.children.append(self)
    }

    deinit { Self.alive -= 1 }
}

final class Scene {
    private(set) var root: SceneNode!
    let name: String

    init(name: String, depth: Int) {
        self.name = name
        root = SceneNode(scene: self, parent: nil)
        var node = root!
        for _ in 0..<depth { node = SceneNode(scene: self, parent: node) }
        longest = node.path().count
    }

    private(set) var longest = 0
}

@main
struct Renderer {
    static let engine = RenderEngine()
    static var idleCount = 0

    static func main() {
        engine.idle = { idleCount += 1 }
        var finished = 0
        var lengths = 0
        for round in 0..<6 {
            for frame in 0..<30 {
                RenderJob(frame: round * 30 + frame) { job in
                    finished += job.percent == 100 ? 1 : 0
                }.start(on: engine)
            }
            engine.runAll()
            for depth in 1...5 { lengths += Scene(name: "s\(depth)", depth: depth).longest }
            Thread.sleep(forTimeInterval: 0.03)
        }
        print("frames \(finished), nodes \(SceneNode.alive), idle \(idleCount), \(lengths)")
    }
}
