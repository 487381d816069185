import Foundation

struct Vec {
    var x = 0.0
    var y = 0.0
    static func + (a: Vec, b: Vec) -> Vec { Vec(x: a.x + b.x, y: a.y + b.y) }
    static func * (a: Vec, k: Double) -> Vec { Vec(x: a.x * k, y: a.y * k) }
}

final class Texture {
    let name: String
    let size: Int
    init(name: String, size: Int) { self.name = name; self.size = size }
}

final class TextureLibrary {
    private var loaded: [String: Texture] = [:]
    private(set) var requests = 0
    func texture(_ name: String) -> Texture {
        requests += 1
        if let t = loaded[name] { return t }
        let t = Texture(name: name, size: 64 + name.count * 8)
        loaded[name] = t
        return t
    }
    var memory: Int { loaded.values.reduce(0) { $0 + $1.size * $1.size } }
}

class SceneNode {
    let name: String
    var offset: Vec
    private(set) var children: [SceneNode] = []
    weak var parent: SceneNode?

    init(name: String, offset: Vec) {
        self.name = name
        self.offset = offset
    }

    func add(_ child: SceneNode) {
        child.removeFromParent()
        children.append(child)
        child.parent = self
    }

    func removeFromParent() {
        parent?.children.removeAll { $0 === self }
        parent = nil
    }

    var world: Vec { parent.map { $0.world + offset } ?? offset }

    func draw(_ r: Renderer) {
        for c in children { c.draw(r) }
    }

    func update(_ dt: Double) {
        for c in children { c.update(dt) }
    }
}

final class Sprite: SceneNode {
    let texture: Texture
    var spin = 0.0
    init(name: String, offset: Vec, texture: Texture) {
        self.texture = texture
        super.init(name: name, offset: offset)
    }
    override func draw(_ r: Renderer) {
        r.quad(at: world, size: texture.size)
        super.draw(r)
    }
    override func update(_ dt: Double) {
        spin += dt
        offset = offset + Vec(x: cos(spin), y: sin(spin)) * 0.3
        super.update(dt)
    }
}

final class Particle {
    var position = Vec()
    var velocity = Vec()
    var life = 0.0
}

final class ParticlePool {
    private var idle: [Particle] = []
    private let bound: Int
    private(set) var created = 0
    private(set) var reused = 0
    init(bound: Int) { self.bound = bound }

    func take() -> Particle {
        if let p = idle.popLast() {
            reused += 1
            return p
        }
        created += 1
        return Particle()
    }

    func give(_ p: Particle) {
        if idle.count < bound { idle.append(p) }
    }
}

final class Emitter: SceneNode {
    private let pool: ParticlePool
    private var alive: [Particle] = []
    private var phase = 0.0

    init(name: String, offset: Vec, pool: ParticlePool) {
        self.pool = pool
        super.init(name: name, offset: offset)
    }

    func shutDown() {
        for p in alive { pool.give(p) }
        alive.removeAll()
    }

    override func update(_ dt: Double) {
        phase += dt
        for i in 0..<3 {
            let p = pool.take()
            p.position = world
            p.velocity = Vec(x: cos(phase + Double(i)), y: sin(phase * 2))
            p.life = 0.4
            alive.append(p)
        }
        for p in alive {
            p.position = p.position + p.velocity * dt
            p.life -= dt
            if p.life <= 0 { pool.give(p) }
        }
        alive.removeAll { $0.life <= 0 }
        super.update(dt)
    }

    override func draw(_ r: Renderer) {
        for p in alive { r.point(at: p.position) }
        super.draw(r)
    }
}

final class Renderer {
    private(set) var quads = 0
    private(set) var points = 0
    private var hash = 0
    func quad(at v: Vec, size: Int) {
        quads += 1
        hash = (hash &* 31 &+ Int(v.x * 10) &+ size) & 0xffffff
    }
    func point(at v: Vec) {
        points += 1
        hash = (hash &+ Int(v.y * 10)) & 0xffffff
    }
    var signature: String { String(hash, radix: 16) }
}

final class Level {
    let root: SceneNode
    private var emitters: [Emitter] = []

    init(number: Int, library: TextureLibrary, pool: ParticlePool) {
        root = SceneNode(name: "level\(number)", offset: Vec())
        for g in 0..<5 {
            let group = SceneNode(name: "group\(g)", offset: Vec(x: Double(g) * 10, y: Double(number)))
            root.add(group)
            for s in 0..<8 {
                let t = library.texture("tex\((number + s) % 14)")
                group.add(Sprite(name: "s\(s)", offset: Vec(x: Double(s), y: 2), texture: t))
            }
        }
        for e in 0..<(1 + number % 3) {
            let emitter = Emitter(name: "fire\(e)", offset: Vec(x: 3, y: Double(e)), pool: pool)
            root.children[e].add(emitter)
            emitters.append(emitter)
        }
    }

    func frame(_ n: Int, _ r: Renderer) {
        if n % 9 == 0, let a = root.children.first, let b = root.children.last, let s = a.children.first(where: { $0 is Sprite }) {
            b.add(s)
        }
        root.update(1.0 / 30)
        root.draw(r)
    }

    func unload() {
        for e in emitters { e.shutDown() }
    }
}

func play() {
    let library = TextureLibrary()
    let pool = ParticlePool(bound: 80)
    let renderer = Renderer()
    for number in 0..<18 {
        let level = Level(number: number, library: library, pool: pool)
        for f in 0..<35 {
            level.frame(f, renderer)
            usleep(3_000)
        }
        level.unload()
    }
    print("quads \(renderer.quads) points \(renderer.points) signature \(renderer.signature)")
    print("pool created \(pool.created) reused \(pool.reused), textures \(library.memory) bytes, \(library.requests) requests")
}

play()
