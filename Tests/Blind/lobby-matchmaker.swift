import Foundation

enum MatchError: Error {
    case ratingGap(Int)
    case regionMismatch
}

final class PlayerTicket: @unchecked Sendable {
    let id: Int
    let player: String
    let rating: Int
    let region: String

    init(id: Int, player: String, rating: Int, region: String) {
        self.id = id
        self.player = player
        self.rating = rating
        self.region = region
    }
}

struct Match: Sendable {
    let players: [String]
    let spread: Int
}

actor Matchmaker {
    private var tickets: [Int: PlayerTicket] = [:]
    private var nextId = 1

    func enqueue(player: String, rating: Int, region: String) -> Int {
        let id = nextId
        nextId += 1
        tickets[id] = PlayerTicket(id: id, player: player, rating: rating, region: region)
        return id
    }

    func pair(_ a: Int, _ b: Int) throws -> Match {
        guard let first = tickets[a], let second = tickets[b] else {
            preconditionFailure("no such ticket")
        }
        guard first.region == second.region else { throw MatchError.regionMismatch }
        let gap = abs(first.rating - second.rating)
        guard gap <= 400 else { throw MatchError.ratingGap(gap) }
        return Match(players: [first.player, second.player], spread: gap)
    }

    func dequeue(_ ids: Int...) {
        for id in ids { tickets[id] = nil }
    }
}

struct JoinRequest {
    let player: String
    let rating: Int
    let region: String
}

struct LobbyHandler {
    let matchmaker: Matchmaker

    func join(_ left: JoinRequest, _ right: JoinRequest) async throws -> Match {
        let a = await matchmaker.enqueue(player: left.player, rating: left.rating, region: left.region)
        let b = await matchmaker.enqueue(player: right.player, rating: right.rating, region: right.region)
        let match = try await matchmaker.pair(a, b)
        await matchmaker.dequeue(a, b)
        return match
    }
}

struct Statistics {
    var matches = 0
    var totalSpread = 0
    var gaps = 0
    var widestGap = 0
    var regionErrors = 0
    var firstMatch: Match?
}

@main
struct Lobby {
    static let matchmaker = Matchmaker()

    static func request(_ n: Int) -> JoinRequest {
        let regions = ["eu-west", "eu-west", "eu-west", "us-east"]
        let h = (n * 7919 + 13) % 10007
        return JoinRequest(player: "player\(n % 611)",
                           rating: 900 + h % 900,
                           region: regions[(h / 31) % 4])
    }

    static func main() async {
        let handler = LobbyHandler(matchmaker: matchmaker)
        var stats = Statistics()
        for round in 0..<700 {
            do {
                let match = try await handler.join(request(2 * round), request(2 * round + 1))
                stats.matches += 1
                stats.totalSpread += match.spread
                if stats.firstMatch == nil { stats.firstMatch = match }
            } catch MatchError.ratingGap(let gap) {
                stats.gaps += 1
                stats.widestGap = max(stats.widestGap, gap)
            } catch MatchError.regionMismatch {
                stats.regionErrors += 1
            } catch {
                print("unexpected: \(error)")
            }
        }
        print("matches \(stats.matches), mean spread \(stats.totalSpread / max(stats.matches, 1))")
        print("first match: \(stats.firstMatch?.players.joined(separator: " vs ") ?? "none")")
        print("rejected: \(stats.gaps) by rating (widest \(stats.widestGap)), \(stats.regionErrors) by region")
    }
}
