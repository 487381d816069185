import Foundation

final class LogLine: @unchecked Sendable {
    enum Level: Int { case debug, info, warning, error }
    let sequence: Int
    let level: Level
    let text: String
    init(sequence: Int, level: Level, text: String) {
        self.sequence = sequence
        self.level = level
        self.text = text
    }
}

final class EnrichedLine: @unchecked Sendable {
    let line: LogLine
    let host: String
    let tags: [String: String]
    init(line: LogLine, host: String, tags: [String: String]) {
        self.line = line
        self.host = host
        self.tags = tags
    }
}

actor LogSink {
    private var tail: [EnrichedLine] = []
    private var incidents: [EnrichedLine] = []
    private var perHost: [String: Int] = [:]

    func write(_ line: EnrichedLine) {
        tail.append(line)
        if tail.count > 500 { tail.removeFirst(100) }
        if line.line.level == .error { incidents.append(line) }
        perHost[line.host, default: 0] += 1
    }

    func incidentReport() -> String {
        let first = incidents.first?.line.sequence ?? -1
        let last = incidents.last?.line.sequence ?? -1
        let tagged = incidents.filter { $0.tags["zone"] == "b" }.count
        return "incidents \(incidents.count) from \(first) to \(last), zone b \(tagged), hosts \(perHost.count)"
    }
}

struct Enricher {
    let sink: LogSink

    func run(_ input: AsyncStream<LogLine>) async {
        for await line in input {
            let host = "node-\(line.sequence % 6)"
            let tags = ["zone": line.sequence % 2 == 0 ? "a" : "b", "level": "\(line.level)"]
            await sink.write(EnrichedLine(line: line, host: host, tags: tags))
        }
    }
}

@main
struct LogPipelineApp {
    static let sink = LogSink()

    static func main() async {
        let (stream, feed) = AsyncStream.makeStream(of: LogLine.self, bufferingPolicy: .bufferingNewest(2_000))
        let pump = Task { await Enricher(sink: sink).run(stream) }
        var sequence = 0
        for _ in 0..<60 {
            for _ in 0..<50 {
                let level: LogLine.Level = sequence % 60 == 17 ? .error : (sequence % 7 == 0 ? .warning : .info)
                feed.yield(LogLine(sequence: sequence, level: level,
                                   text: "request \(sequence) handled in \(sequence % 90) ms"))
                sequence += 1
            }
            try? await Task.sleep(nanoseconds: 15_000_000)
        }
        feed.finish()
        await pump.value
        print("lines \(sequence)")
        print(await sink.incidentReport())
    }
}
