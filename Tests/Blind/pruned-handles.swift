import Foundation

final class Transcript: Sendable {
    let call: Int
    let words: [String]
    init(call: Int) {
        self.call = call
        words = (0..<12).map { "word\($0 * call % 97)" }
    }
}

enum SpeechError: Error { case silence(Int) }

actor Transcriber {
    static let shared = Transcriber()
    private var running: [Int: Task<Transcript, Error>] = [:]
    private var nextID = 0
    private(set) var words = 0
    private(set) var cancelled = 0

    func transcribe(_ call: Int) async throws -> Transcript {
        nextID += 1
        let id = nextID
        let task = Task<Transcript, Error> {
            try await Task.sleep(for: .milliseconds(2))
            if call % 11 == 0 { throw SpeechError.silence(call) }
            return Transcript(call: call)
        }
        running[id] = task
        defer { running[id] = nil }
        let transcript = try await task.value
        words += transcript.words.count
        return transcript
    }

    func cancelAll() {
        cancelled += running.count
        for task in running.values { task.cancel() }
    }

    var active: Int { running.count }
}

/// Fire-and-forget jobs remove their own handle.
actor BackgroundJobs {
    static let shared = BackgroundJobs()
    private var tasks: [UUID: Task<Void, Never>] = [:]
    private(set) var done = 0

    func launch(_ body: @escaping @Sendable () async -> Void) {
        let id = UUID()
        tasks[id] = Task {
            await body()
            self.finished(id)
        }
    }

    private func finished(_ id: UUID) {
        tasks[id] = nil
        done += 1
    }

    var open: Int { tasks.count }
}

@main
struct CallCenter {
    static func main() async throws {
        let transcriber = Transcriber.shared
        var call = 0
        var failed = 0
        for round in 0..<8 {
            failed += await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<50 {
                    call += 1
                    let number = call
                    group.addTask { (try? await transcriber.transcribe(number)) != nil }
                }
                if round == 5 { await transcriber.cancelAll() }
                return await group.reduce(0) { $0 + ($1 ? 0 : 1) }
            }
            for _ in 0..<10 {
                await BackgroundJobs.shared.launch { try? await Task.sleep(for: .milliseconds(5)) }
            }
            try await Task.sleep(for: .milliseconds(25))
        }
        while await BackgroundJobs.shared.open > 0 { try await Task.sleep(for: .milliseconds(5)) }
        print("failures seen \(failed > 0), active \(await transcriber.active), jobs \(await BackgroundJobs.shared.done)")
    }
}
