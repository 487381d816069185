final class Spark {
    var x = 0.0, y = 0.0, dx = 0.0, dy = 0.0
    var life = 0
    var next: Spark?
    func reset(_ seed: Int) {
        x = 0; y = 0
        dx = Double(seed % 7) - 3
        dy = Double(seed % 5) + 1
        life = 5 + seed % 6
    }
    func move() { x += dx; y += dy; dy -= 0.2; life -= 1 }
}

final class SparkPool {
    private var free: Spark?
    private(set) var made = 0
    private(set) var idle = 0
    func take() -> Spark {
        if let s = free {
            free = s.next
            s.next = nil
            idle -= 1
            return s
        }
        made += 1
        return Spark()
    }
    func give(_ s: Spark) {
        s.next = free
        free = s
        idle += 1
    }
}

final class Burst {
    let power: Int
    private(set) var fired = 0
    init(power: Int) { self.power = power }
    func light(_ pool: SparkPool, into live: inout [Spark]) {
        for i in 0..<power {
            let s = pool.take()
            s.reset(i * 13 + power)
            live.append(s)
            fired += 1
        }
    }
}

final class Show {
    private let pool = SparkPool()
    private var live: [Spark] = []
    private(set) var fired = 0
    private(set) var highest = 0.0

    func play(frames: Int, power: (Int) -> Int) {
        for f in 0..<frames {
            let b = Burst(power: power(f))
            b.light(pool, into: &live)
            fired += b.fired
            var still: [Spark] = []
            for s in live {
                s.move()
                highest = max(highest, s.y)
                if s.life > 0 { still.append(s) } else { pool.give(s) }
            }
            live = still
        }
    }
    var made: Int { pool.made }
    var idle: Int { pool.idle }
    var burning: Int { live.count }
}

let show = Show()
for act in 1...6 {
    // the fourth act is the climax; after it the pool has plenty of spare sparks
    let strength = [10, 25, 60, 140, 50, 20][act - 1]
    show.play(frames: 30) { strength + $0 % 10 }
}
print("fired \(show.fired) made \(show.made) idle \(show.idle) burning \(show.burning)")
