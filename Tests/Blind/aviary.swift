import Foundation

/// A bird that was ringed; its observer owns it.
final class RingedBird {
    let ring: Int
    let species: String
    private(set) var sightings = 0

    init(ring: Int, species: String) {
        self.ring = ring
        self.species = species
    }

    func sighted() { sightings += 1 }
}

private final class RingSlot {
    weak var bird: RingedBird?
    let since: Int

    init(bird: RingedBird, since: Int) {
        self.bird = bird
        self.since = since
    }
}

/// Finds birds by ring without keeping them.
final class RingRegister {
    private var slots: [Int: RingSlot] = [:]
    private(set) var swept = 0

    func note(_ bird: RingedBird, season: Int) {
        slots[bird.ring] = RingSlot(bird: bird, since: season)
    }

    func lookUp(_ ring: Int) -> RingedBird? { slots[ring]?.bird }

    func sweep() {
        let before = slots.count
        slots = slots.filter { $0.value.bird != nil }
        swept += before - slots.count
    }

    func oldestEntry() -> Int? { slots.values.map(\.since).min() }

    var size: Int { slots.count }
}

final class Hide {
    private(set) var birds: [RingedBird] = []

    func ring(_ count: Int, first: Int, register: RingRegister, season: Int) {
        let species = ["wren", "dunnock", "siskin", "dipper"]
        for index in 0..<count {
            let bird = RingedBird(ring: first + index, species: species[index % species.count])
            register.note(bird, season: season)
            birds.append(bird)
        }
    }

    func release(keepEvery step: Int) {
        birds = birds.enumerated().filter { $0.offset % step == 0 }.map(\.element)
        if birds.count > 30 { birds.removeFirst(birds.count - 30) }
    }
}

let register = RingRegister()
let hide = Hide()
var nextRing = 1
var found = 0
var missed = 0
for season in 0..<30 {
    hide.ring(25, first: nextRing, register: register, season: season)
    nextRing += 25
    for ring in stride(from: max(1, nextRing - 120), to: nextRing, by: 7) {
        if let bird = register.lookUp(ring) {
            bird.sighted()
            found += 1
        } else {
            missed += 1
        }
    }
    Thread.sleep(forTimeInterval: 0.015)
    hide.release(keepEvery: 3)
    register.sweep()
}
let sightings = hide.birds.reduce(0) { $0 + $1.sightings }
print("ringed \(nextRing - 1), found \(found), missed \(missed), swept \(register.swept), register \(register.size), oldest \(register.oldestEntry() ?? -1), sightings \(sightings)")
