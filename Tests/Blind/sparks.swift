import Foundation

final class Spark {
    var x = 0.0
    var y = 0.0
    var vx = 0.0
    var vy = 0.0
    var framesLeft = 0

    func ignite(x: Double, y: Double, angle: Double, frames: Int) {
        self.x = x
        self.y = y
        vx = cos(angle) * 2
        vy = sin(angle) * 2
        framesLeft = frames
    }

    func advance() {
        x += vx
        y += vy
        vy += 0.05
        framesLeft -= 1
    }
}

struct SparkPool {
    private var idle: [Spark] = []
    private(set) var manufactured = 0
    let ceiling: Int

    init(ceiling: Int) {
        self.ceiling = ceiling
        idle.reserveCapacity(ceiling)
    }

    mutating func take() -> Spark? {
        if let spark = idle.popLast() { return spark }
        guard manufactured < ceiling else { return nil }
        manufactured += 1
        return Spark()
    }

    mutating func give(back spark: Spark) {
        idle.append(spark)
    }
}

final class FireworkScene {
    private var pool = SparkPool(ceiling: 256)
    private var burning: [Spark] = []
    private(set) var launched = 0
    private(set) var skipped = 0
    private(set) var heat = 0.0

    func burst(x: Double, y: Double, count: Int) {
        for index in 0..<count {
            guard let spark = pool.take() else {
                skipped += 1
                continue
            }
            let angle = Double(index) / Double(count) * 2 * Double.pi
            spark.ignite(x: x, y: y, angle: angle, frames: 8 + index % 12)
            burning.append(spark)
            launched += 1
        }
    }

    func frame() {
        var survivors: [Spark] = []
        survivors.reserveCapacity(burning.count)
        for spark in burning {
            spark.advance()
            heat += abs(spark.vx) + abs(spark.vy)
            if spark.framesLeft > 0 {
                survivors.append(spark)
            } else {
                pool.give(back: spark)
            }
        }
        burning = survivors
    }

    var poolSize: Int { pool.manufactured }
    var burningCount: Int { burning.count }
}

let scene = FireworkScene()

for tick in 0..<300 {
    if tick % 3 == 0 {
        scene.burst(x: Double(tick % 40), y: 20, count: 30 + tick % 25)
    }
    scene.frame()
    if tick % 3 == 0 { usleep(6_000) }
}

print("sparks: launched \(scene.launched), skipped \(scene.skipped), pool \(scene.poolSize), burning \(scene.burningCount), heat \(Int(scene.heat))")
