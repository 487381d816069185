import Synchronization

struct Tally: Sendable {
    let district: Int
    let votes: [Int]
}

actor Election {
    enum Phase { case open, closed }
    private var phase = Phase.open
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var results: [Int: Tally] = [:]

    func untilClosed() async {
        guard phase == .open else { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    func close() {
        phase = .closed
        let all = waiting
        waiting = []
        for continuation in all { continuation.resume() }
    }

    func report(_ tally: Tally) { results[tally.district] = tally }

    var reported: Int { results.count }
    var waitingCount: Int { waiting.count }
    func total(_ party: Int) -> Int { results.values.reduce(0) { $0 + $1.votes[party] } }
}

final class BallotCounter: Sendable {
    let district: Int
    private let box = Mutex<[Int]>([0, 0, 0])

    init(district: Int) { self.district = district }

    func count(for election: Election) {
        Task {
            await election.untilClosed()
            await election.report(Tally(district: district, votes: box.withLock { $0 }))
        }
    }

    func cast(_ party: Int) { box.withLock { $0[party] += 1 } }
}

struct Country {
    let name: String
    let election = Election()
    var counters: [BallotCounter] = []

    init(name: String, districts: Int) {
        self.name = name
        for district in 0..<districts {
            let counter = BallotCounter(district: district)
            counter.count(for: election)
            counters.append(counter)
        }
    }

    func vote(round: Int) {
        for counter in counters {
            for voter in 0..<20 {
                counter.cast((voter * (counter.district + 3) + round) % 3)
            }
        }
    }
}

struct Outcome {
    let country: String
    let totals: [Int]

    var winner: Int { totals.indices.max { (totals[$0], -$0) < (totals[$1], -$1) }! }
}

@main
struct ElectionNight {
    static func hold(_ name: String, districts: Int, rounds: Int) async throws -> Outcome {
        var country = Country(name: name, districts: districts)
        let election = country.election
        for round in 0..<rounds {
            country.vote(round: round)
            try await Task.sleep(for: .milliseconds(10))
        }
        while await election.waitingCount < districts { try await Task.sleep(for: .milliseconds(2)) }
        country.counters.removeAll()
        await election.close()
        while await election.reported < districts { try await Task.sleep(for: .milliseconds(2)) }
        var totals: [Int] = []
        for party in 0..<3 { totals.append(await election.total(party)) }
        return Outcome(country: name, totals: totals)
    }

    static func main() async throws {
        var outcomes: [Outcome] = []
        outcomes.append(try await hold("Norland", districts: 45, rounds: 8))
        outcomes.append(try await hold("Sudmark", districts: 60, rounds: 6))
        for village in 1...12 {
            outcomes.append(try await hold("Village \(village)", districts: 2, rounds: 3))
        }
        let votes = outcomes.reduce(0) { $0 + $1.totals.reduce(0, +) }
        print("\(outcomes.count) elections, \(votes) votes, winners \(outcomes.map(\.winner))")
        try await Task.sleep(for: .milliseconds(20))
    }
}
