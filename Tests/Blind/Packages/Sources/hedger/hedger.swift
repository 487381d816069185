import AsyncAlgorithms
import Foundation

struct Answer: Sendable {
    let replica: Int
    let value: Int
}

final class Replica: Sendable {
    let number: Int
    let delay: Duration

    init(number: Int) {
        self.number = number
        delay = .microseconds(200 + number * 1500)
    }

    func read(_ key: Int) async -> Int {
        try? await Task.sleep(for: delay)
        return key &* 31 &+ number
    }
}

/// One question put to one replica.
final class Attempt: Sendable {
    let key: Int
    let replica: Replica
    let scratch: [UInt64]

    init(key: Int, replica: Replica) {
        self.key = key
        self.replica = replica
        scratch = [UInt64](repeating: UInt64(key), count: 32)
    }

    func run() async -> Answer {
        let value = await replica.read(key)
        return Answer(replica: replica.number, value: value &+ Int(truncatingIfNeeded: scratch[key % 32]))
    }
}

struct HedgedReader: Sendable {
    let replicas: [Replica]

    /// Asks every replica and takes the answer that comes first.
    func read(_ key: Int) async -> Answer? {
        let answers = AsyncChannel<Answer>()
        for replica in replicas {
            let attempt = Attempt(key: key, replica: replica)
            Task {
                let answer = await attempt.run()
                await answers.send(answer)
                await Statistics.shared.note(attempt, used: true)
            }
        }
        for await answer in answers {
            return answer
        }
        return nil
    }
}

actor Statistics {
    static let shared = Statistics()
    private var perReplica: [Int: Int] = [:]
    private var lookups = 0

    func note(_ attempt: Attempt, used: Bool) {
        if used { perReplica[attempt.replica.number, default: 0] += 1 }
    }

    func countLookup() { lookups += 1 }

    var text: String { "\(lookups) lookups" }
}

@main
struct Hedger {
    static func main() async throws {
        let reader = HedgedReader(replicas: (0..<3).map(Replica.init))
        var sum = 0
        // Warm-up with a single client, then several clients at once.
        for key in 0..<30 {
            if let answer = await reader.read(key) { sum &+= answer.value }
            await Statistics.shared.countLookup()
        }
        sum &+= await withTaskGroup(of: Int.self) { clients in
            for client in 0..<6 {
                clients.addTask {
                    var part = 0
                    for key in 0..<20 {
                        if let answer = await reader.read(client * 100 + key) { part &+= answer.value }
                        await Statistics.shared.countLookup()
                    }
                    return part
                }
            }
            var total = 0
            for await part in clients { total &+= part }
            return total
        }
        // Quiet time before the process ends.
        try await Task.sleep(for: .milliseconds(700))
        print("\(await Statistics.shared.text), sum > 0: \(sum > 0)")
    }
}
