import Foundation

enum Kind: Int { case scout, soldier, settler, cannon }

final class Unit {
    let serial: Int
    let kind: Kind
    private(set) var owner: Int
    var strength: Int
    var x: Int
    var y: Int

    init(serial: Int, kind: Kind, owner: Int, x: Int, y: Int) {
        self.serial = serial
        self.kind = kind
        self.owner = owner
        self.x = x
        self.y = y
        strength = [3, 10, 1, 16][kind.rawValue]
    }

    func changeSides(to player: Int) {
        owner = player
        strength = max(1, strength / 2)
    }
}

final class Tile {
    let fertile: Bool
    var occupants: [Unit] = []
    var city: City?
    init(fertile: Bool) { self.fertile = fertile }
}

final class City {
    let name: String
    var owner: Int
    var store = 0
    init(name: String, owner: Int) {
        self.name = name
        self.owner = owner
    }
}

final class Player {
    let number: Int
    var army: [Unit] = []
    var veterans: [Int: Unit] = [:]
    var score = 0
    init(number: Int) { self.number = number }

    func strongest() -> Unit? { army.max { $0.strength < $1.strength } }
}

final class Board {
    let side: Int
    private var tiles: [Tile] = []

    init(side: Int) {
        self.side = side
        tiles = (0..<(side * side)).map { Tile(fertile: $0 % 3 == 0) }
    }

    func tile(_ x: Int, _ y: Int) -> Tile {
        tiles[((y + side) % side) * side + (x + side) % side]
    }

    func place(_ unit: Unit) { tile(unit.x, unit.y).occupants.append(unit) }

    func lift(_ unit: Unit) { tile(unit.x, unit.y).occupants.removeAll { $0 === unit } }

    var cityCount: Int { tiles.filter { $0.city != nil }.count }
}

final class Game {
    private let board = Board(side: 12)
    private var players: [Player] = []
    private var serial = 0
    private var seed: UInt64 = 4242
    private(set) var battles = 0
    private(set) var captures = 0

    init(playerCount: Int) {
        for n in 0..<playerCount {
            players.append(Player(number: n))
            board.tile(n * 4, n * 3).city = City(name: "Capital \(n)", owner: n)
        }
    }

    private func draw(_ n: Int) -> Int {
        seed = seed &* 6364136223846793005 &+ 1442695040888963407
        return Int((seed >> 33) % UInt64(n))
    }

    private func recruit(_ player: Player) {
        guard player.army.count < 14 else { return }
        serial += 1
        let unit = Unit(serial: serial, kind: Kind(rawValue: draw(4))!, owner: player.number,
                        x: player.number * 4, y: player.number * 3)
        player.army.append(unit)
        board.place(unit)
    }

    func turn(_ n: Int) {
        for player in players {
            if n % 2 == 0 { recruit(player) }
            for unit in player.army where unit.owner == player.number && unit.strength > 0 {
                board.lift(unit)
                unit.x = (unit.x + draw(3) - 1 + board.side) % board.side
                unit.y = (unit.y + draw(3) - 1 + board.side) % board.side
                board.place(unit)
                arrive(unit, player)
            }
        }
        for player in players {
            player.score += player.army.count + board.cityCount
            if let best = player.strongest() { player.score += best.strength / 4 }
        }
    }

    private func arrive(_ unit: Unit, _ player: Player) {
        let tile = board.tile(unit.x, unit.y)
        if let enemy = tile.occupants.first(where: { $0.owner != unit.owner }) {
            fight(unit, enemy)
        } else if unit.kind == .settler && tile.city == nil && tile.fertile && board.cityCount < 20 {
            tile.city = City(name: "Town \(unit.serial)", owner: player.number)
            disband(unit)
        } else if let city = tile.city, city.owner == player.number {
            unit.strength += 1
            if unit.strength > 16 { player.veterans[unit.serial] = unit }
        } else if let city = tile.city {
            city.owner = player.number
            city.store = 0
        }
    }

    private func fight(_ attacker: Unit, _ defender: Unit) {
        battles += 1
        let a = draw(attacker.strength + 1)
        let d = draw(defender.strength + 1)
        if a == d { return }
        let (winner, loser) = a > d ? (attacker, defender) : (defender, attacker)
        if loser.kind == .cannon && winner.kind == .soldier {
            capture(loser, by: winner.owner)
        } else {
            disband(loser)
        }
        winner.strength = max(1, winner.strength - min(a, d) / 2)
    }

    private func disband(_ unit: Unit) {
        unit.strength = 0
        board.lift(unit)
        let player = players[unit.owner]
        player.army.removeAll { $0 === unit }
        player.veterans[unit.serial] = nil
    }

    private func capture(_ unit: Unit, by winner: Int) {
        captures += 1
        players[unit.owner].army.removeAll { $0 === unit }
        unit.changeSides(to: winner)
        players[winner].army.append(unit)
    }

    func closing() -> [String] {
        players.map { "player \($0.number): \($0.army.count) units, score \($0.score)" }
            + ["\(battles) battles, \(captures) captures, \(serial) recruited"]
    }

    func retire(turn n: Int) {
        for player in players where player.army.count > 10 {
            if let weakest = player.army.min(by: { $0.strength < $1.strength }) { disband(weakest) }
        }
    }
}

let game = Game(playerCount: 3)
for n in 0..<420 {
    game.turn(n)
    if n % 5 == 0 { game.retire(turn: n) }
    usleep(4_000)
}
game.closing().forEach { print($0) }
