import Dispatch
import Foundation

// Tiled ray tracer: tiles are rendered on a concurrent dispatch queue, the
// finished tiles are collected and put together into a picture at the end.

struct Vector {
    var x: Double, y: Double, z: Double
    static func + (a: Vector, b: Vector) -> Vector { Vector(x: a.x + b.x, y: a.y + b.y, z: a.z + b.z) }
    static func - (a: Vector, b: Vector) -> Vector { Vector(x: a.x - b.x, y: a.y - b.y, z: a.z - b.z) }
    static func * (a: Vector, s: Double) -> Vector { Vector(x: a.x * s, y: a.y * s, z: a.z * s) }
    func dot(_ b: Vector) -> Double { x * b.x + y * b.y + z * b.z }
    var normalized: Vector { self * (1 / dot(self).squareRoot()) }
}

struct Ray {
    let origin: Vector
    let direction: Vector
}

class Surface {
    let shade: Double
    let reflection: Double
    init(shade: Double, reflection: Double) {
        self.shade = shade
        self.reflection = reflection
    }
    func intersect(_ ray: Ray) -> Double? { nil }
    func normal(at point: Vector) -> Vector { Vector(x: 0, y: 1, z: 0) }
}

final class Sphere: Surface {
    let centre: Vector
    let radius: Double
    init(centre: Vector, radius: Double, shade: Double, reflection: Double) {
        self.centre = centre
        self.radius = radius
        super.init(shade: shade, reflection: reflection)
    }

    override func intersect(_ ray: Ray) -> Double? {
        let offset = ray.origin - centre
        let b = offset.dot(ray.direction)
        let discriminant = b * b - offset.dot(offset) + radius * radius
        guard discriminant > 0 else { return nil }
        let distance = -b - discriminant.squareRoot()
        return distance > 1e-4 ? distance : nil
    }

    override func normal(at point: Vector) -> Vector { (point - centre).normalized }
}

final class Floor: Surface {
    let height: Double
    init(height: Double) {
        self.height = height
        super.init(shade: 0.6, reflection: 0.1)
    }

    override func intersect(_ ray: Ray) -> Double? {
        guard abs(ray.direction.y) > 1e-6 else { return nil }
        let distance = (height - ray.origin.y) / ray.direction.y
        return distance > 1e-4 ? distance : nil
    }
}

final class Stage: @unchecked Sendable {
    let surfaces: [Surface]
    let light = Vector(x: -4, y: 8, z: -5)

    init(time: Double) {
        var list: [Surface] = [Floor(height: -1)]
        for n in 0..<9 {
            let angle = time + Double(n) * 0.7
            list.append(Sphere(centre: Vector(x: cos(angle) * 2.4, y: sin(angle * 2) * 0.6, z: 6 + sin(angle) * 2.4), radius: 0.5 + Double(n % 3) * 0.2,
                               shade: 0.3 + Double(n) / 14, reflection: n % 2 == 0 ? 0.4 : 0.1))
        }
        surfaces = list
    }

    func colour(_ ray: Ray, depth: Int) -> Double {
        var nearest = Double.infinity
        var hit: Surface?
        for surface in surfaces {
            if let distance = surface.intersect(ray), distance < nearest {
                nearest = distance
                hit = surface
            }
        }
        guard let hit else { return 0.2 + 0.3 * max(0, ray.direction.y) }
        let point = ray.origin + ray.direction * nearest
        let normal = hit.normal(at: point)
        let toLight = (light - point).normalized
        let shadowed = surfaces.contains { $0.intersect(Ray(origin: point, direction: toLight)) != nil }
        var value = hit.shade * (0.15 + (shadowed ? 0 : 0.85 * max(0, normal.dot(toLight))))
        if depth > 0, hit.reflection > 0.2 {
            let mirrored = ray.direction - normal * (2 * normal.dot(ray.direction))
            value = value * (1 - hit.reflection) + colour(Ray(origin: point, direction: mirrored), depth: depth - 1) * hit.reflection
        }
        return value
    }
}

final class Tile: Sendable {
    let column: Int, row: Int
    let size: Int
    let pixels: [UInt8]
    init(column: Int, row: Int, size: Int, pixels: [UInt8]) {
        self.column = column
        self.row = row
        self.size = size
        self.pixels = pixels
    }
}

final class TileCollector: @unchecked Sendable {
    private let lock = NSLock()
    private var tiles: [Tile] = []

    func add(_ tile: Tile) { lock.withLock { tiles.append(tile) } }

    func take() -> [Tile] {
        lock.withLock {
            defer { tiles.removeAll() }
            return tiles
        }
    }
}

final class Picture {
    let width: Int, height: Int
    private(set) var pixels: [UInt8]
    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        pixels = Array(repeating: 0, count: width * height)
    }

    func paste(_ tile: Tile) {
        for y in 0..<tile.size {
            let start = (tile.row * tile.size + y) * width + tile.column * tile.size
            pixels.replaceSubrange(start..<(start + tile.size), with: tile.pixels[(y * tile.size)..<((y + 1) * tile.size)])
        }
    }

    var histogram: [Int] { pixels.reduce(into: [Int](repeating: 0, count: 4)) { $0[Int($1) / 64] += 1 } }
    var digest: UInt32 { pixels.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 } }
}

func render(_ stage: Stage, width: Int, height: Int, tileSize: Int) -> Picture {
    let collector = TileCollector()
    let queue = DispatchQueue(label: "render", attributes: .concurrent)
    let group = DispatchGroup()
    for row in 0..<(height / tileSize) {
        for column in 0..<(width / tileSize) {
            queue.async(group: group) {
                var pixels: [UInt8] = []
                pixels.reserveCapacity(tileSize * tileSize)
                for y in 0..<tileSize {
                    for x in 0..<tileSize {
                        let u = Double(column * tileSize + x) / Double(width) * 2 - 1
                        let v = 1 - Double(row * tileSize + y) / Double(height) * 2
                        let ray = Ray(origin: Vector(x: 0, y: 0.5, z: -2), direction: Vector(x: u, y: v * 0.7, z: 1.4).normalized)
                        pixels.append(UInt8(min(255, stage.colour(ray, depth: 2) * 255)))
                    }
                }
                collector.add(Tile(column: column, row: row, size: tileSize, pixels: pixels))
            }
        }
    }
    group.wait()
    let picture = Picture(width: width, height: height)
    for tile in collector.take() { picture.paste(tile) }
    return picture
}

var frames: [Picture] = []
for frame in 0..<32 {
    frames.append(render(Stage(time: Double(frame) / 6), width: 256, height: 160, tileSize: 32))
}
for (index, picture) in frames.enumerated() where index % 8 == 7 {
    print("frame \(index): digest \(String(picture.digest, radix: 16)), histogram \(picture.histogram)")
}
