// An island world made of chunks; chunks are generated when the player first comes near them.

struct ChunkPosition: Hashable {
    let x: Int
    let z: Int

    func offset(_ dx: Int, _ dz: Int) -> ChunkPosition {
        ChunkPosition(x: x + dx, z: z + dz)
    }
}

struct Noise {
    let seed: Int

    func value(_ x: Int, _ z: Int, _ salt: Int = 0) -> Int {
        var h = UInt64(bitPattern: Int64(x &* 374_761_393 &+ z &* 668_265_263 &+ seed &* 31 &+ salt))
        h = (h ^ (h >> 13)) &* 1_274_126_177
        h ^= h >> 16
        return Int(h % 256)
    }
}

class Entity {
    let kind: String
    var health: Int

    init(kind: String, health: Int) {
        self.kind = kind
        self.health = health
    }

    func update(tick: Int) {}
    var drops: Int { 1 }
}

final class Palm: Entity {
    private(set) var coconuts = 0

    init() {
        super.init(kind: "palm", health: 20)
    }

    override func update(tick: Int) {
        if tick % 5 == 0 && coconuts < 8 {
            coconuts += 1
        }
    }

    override var drops: Int { 2 + coconuts }
}

final class Crab: Entity {
    private var direction = 1

    init() {
        super.init(kind: "crab", health: 4)
    }

    override func update(tick: Int) {
        direction = tick % 3 == 0 ? -direction : direction
        health = max(1, health + direction)
    }
}

final class Chunk {
    let position: ChunkPosition
    let heights: [UInt8]
    var entities: [Entity] = []
    private(set) var visits = 0

    init(position: ChunkPosition, noise: Noise) {
        self.position = position
        var cells = [UInt8]()
        cells.reserveCapacity(64)
        for z in 0..<8 {
            for x in 0..<8 {
                cells.append(UInt8(noise.value(position.x * 8 + x, position.z * 8 + z)))
            }
        }
        heights = cells
        for salt in 1...3 where noise.value(position.x, position.z, salt) > 90 {
            entities.append(salt == 3 ? Crab() : Palm())
        }
    }

    func tick(_ number: Int) {
        visits += 1
        for entity in entities {
            entity.update(tick: number)
        }
    }

    var fingerprint: Int {
        let ground = heights.reduce(0) { ($0 &* 33 &+ Int($1)) & 0xFFFFFF }
        return entities.reduce(ground) { ($0 &* 7 &+ $1.health &+ $1.drops) & 0xFFFFFF }
    }
}

final class World {
    private var chunks: [ChunkPosition: Chunk] = [:]
    private let noise: Noise
    let viewDistance: Int

    init(seed: Int, viewDistance: Int) {
        noise = Noise(seed: seed)
        self.viewDistance = viewDistance
    }

    func chunk(at position: ChunkPosition) -> Chunk {
        if let known = chunks[position] { return known }
        let fresh = Chunk(position: position, noise: noise)
        chunks[position] = fresh
        return fresh
    }

    func simulate(around centre: ChunkPosition, tick: Int) {
        for dz in -viewDistance...viewDistance {
            for dx in -viewDistance...viewDistance {
                chunk(at: centre.offset(dx, dz)).tick(tick)
            }
        }
    }

    func save() -> (chunks: Int, entities: Int, checksum: Int) {
        var checksum = 0
        var entities = 0
        for chunk in chunks.values.sorted(by: { ($0.position.x, $0.position.z) < ($1.position.x, $1.position.z) }) {
            checksum = (checksum &* 131 &+ chunk.fingerprint &+ chunk.visits) & 0xFFFFFFFF
            entities += chunk.entities.count
        }
        return (chunks.count, entities, checksum)
    }
}

let world = World(seed: 88, viewDistance: 3)
var player = ChunkPosition(x: 0, z: 0)
let directions = [(1, 0), (0, 1), (-1, 0), (0, -1)]
var heading = 0
var leg = 4
var tick = 0

for turn in 0..<20 {
    for _ in 0..<leg {
        player = player.offset(directions[heading].0, directions[heading].1)
        tick += 1
        world.simulate(around: player, tick: tick)
    }
    heading = (heading + 1) % directions.count
    leg += turn % 2 == 1 ? 4 : 0
    if turn % 5 == 4 {
        let state = world.save()
        print("turn \(turn + 1): player at \(player.x),\(player.z), \(state.chunks) chunks, \(state.entities) entities")
    }
}
let saved = world.save()
print("saved \(saved.chunks) chunks, checksum \(String(saved.checksum, radix: 16))")
