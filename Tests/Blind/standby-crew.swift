import Foundation

actor AsyncSemaphore {
    private var permits: Int
    private var queue: [CheckedContinuation<Void, Never>] = []

    init(permits: Int) { self.permits = permits }

    func acquire() async {
        if permits > 0 {
            permits -= 1
            return
        }
        await withCheckedContinuation { queue.append($0) }
    }

    func release() {
        if queue.isEmpty {
            permits += 1
        } else {
            queue.removeFirst().resume()
        }
    }

    var parked: Int { queue.count }
}

final class Tool: @unchecked Sendable {
    let serial: Int
    var uses = 0
    init(serial: Int) { self.serial = serial }
}

final class CrewMember: @unchecked Sendable {
    let name: String
    var toolbox: [Tool] = []
    var handled = 0

    init(name: String) {
        self.name = name
        toolbox = (0..<6).map { Tool(serial: $0) }
    }

    func standBy(_ alarm: AsyncSemaphore, log: CallLog) async {
        while !Task.isCancelled {
            await alarm.acquire()
            let call = Callout(crew: name, number: handled)
            handled += 1
            toolbox[handled % toolbox.count].uses += 1
            await log.close(call)
        }
    }
}

final class Callout: @unchecked Sendable {
    let crew: String
    let number: Int
    let notes: [String]
    init(crew: String, number: Int) {
        self.crew = crew
        self.number = number
        self.notes = (0..<8).map { "step \($0) by \(crew)" }
    }
}

actor CallLog {
    private(set) var closed = 0
    private var latest: [Callout] = []

    func close(_ call: Callout) {
        closed += 1
        latest.append(call)
        if latest.count > 20 { latest.removeFirst() }
    }

    func lastCrew() -> Int { Set(latest.map { $0.crew }).count }
}

@main
struct StandbyApp {
    static let alarm = AsyncSemaphore(permits: 0)
    static let log = CallLog()

    static func main() async {
        for n in 0..<60 {
            let member = CrewMember(name: "crew-\(n)")
            Task { await member.standBy(alarm, log: log) }
        }
        var raised = 0
        for _ in 0..<40 {
            for _ in 0..<15 {
                await alarm.release()
                raised += 1
            }
            try? await Task.sleep(nanoseconds: 25_000_000)
        }
        for _ in 0..<200 where await log.closed < raised { try? await Task.sleep(nanoseconds: 5_000_000) }
        print("raised \(raised) closed \(await log.closed) standing by \(await alarm.parked) crews seen \(await log.lastCrew() > 0)")
    }
}
