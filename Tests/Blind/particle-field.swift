import Foundation

// Particle collisions of an arcade game: a uniform grid finds candidates and a contact table
// remembers since which step a pair touches, so that sparks fly only on first contact.

final class Particle: Hashable {
    var x: Double
    var y: Double
    var vx: Double
    var vy: Double
    var energy: Double
    let serial: Int

    init(serial: Int, x: Double, y: Double, angle: Double) {
        self.serial = serial
        self.x = x
        self.y = y
        vx = cos(angle) * 2
        vy = sin(angle) * 2
        energy = 60
    }

    func move(in size: Double) {
        x += vx
        y += vy
        if x < 0 || x > size { vx.negate() }
        if y < 0 || y > size { vy.negate() }
        x = min(max(x, 0), size)
        y = min(max(y, 0), size)
        energy -= 1
    }

    static func == (a: Particle, b: Particle) -> Bool { a === b }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

struct Grid {
    private let cell: Double
    private let columns: Int
    private var cells: [[Particle]]

    init(size: Double, cell: Double) {
        self.cell = cell
        columns = Int(size / cell) + 1
        cells = Array(repeating: [], count: columns * columns)
    }

    mutating func fill(_ particles: [Particle]) {
        for index in cells.indices { cells[index].removeAll(keepingCapacity: true) }
        for particle in particles { cells[Int(particle.y / cell) * columns + Int(particle.x / cell)].append(particle) }
    }

    func pairs(within radius: Double, _ body: (Particle, Particle) -> Void) {
        for members in cells where members.count > 1 {
            for i in members.indices {
                for j in (i + 1)..<members.count {
                    let dx = members[i].x - members[j].x, dy = members[i].y - members[j].y
                    if dx * dx + dy * dy < radius * radius { body(members[i], members[j]) }
                }
            }
        }
    }
}

final class Field {
    private let size = 160.0
    private var grid = Grid(size: 160, cell: 16)
    private var particles: [Particle] = []
    private var contacts: [Particle: [Particle: Int]] = [:]
    private var serial = 0
    private(set) var sparks = 0
    private(set) var faded = 0

    func emit(_ count: Int, step: Int) {
        for _ in 0..<count {
            serial += 1
            let angle = Double(serial) * 2.399963
            particles.append(Particle(serial: serial, x: Double(serial * 37 % 160), y: Double(step * 11 % 160), angle: angle))
        }
    }

    func advance(step: Int) {
        for particle in particles { particle.move(in: size) }
        grid.fill(particles)
        grid.pairs(within: 5) { first, second in
            if contacts[first]?[second] == nil {
                sparks += 1
                swap(&first.vx, &second.vx)
                swap(&first.vy, &second.vy)
            }
            contacts[first, default: [:]][second] = step
        }
        for (first, partners) in contacts {
            let current = partners.filter { $0.value == step && $0.key.energy > 0 }
            contacts[first] = current.isEmpty || first.energy <= 0 ? nil : current
        }
        let before = particles.count
        particles.removeAll { $0.energy <= 0 }
        faded += before - particles.count
    }

    var status: String { "particles \(particles.count), touching \(contacts.count), sparks \(sparks), faded \(faded)" }
}

let field = Field()
for step in 0..<240 {
    field.emit(5, step: step)
    field.advance(step: step)
    if step % 80 == 79 { print("step \(step + 1)") }
    usleep(3_500)
}
print(field.sparks > 0 && field.faded > 0 ? "finished" : "nothing happened")
