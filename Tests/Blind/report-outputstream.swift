import Foundation

final class OutputChunk: Sendable {
    let sequence: Int
    let bytes: [UInt8]

    init(sequence: Int, bytes: [UInt8]) {
        self.sequence = sequence
        self.bytes = bytes
    }

    var lineCount: Int { bytes.reduce(0) { $0 + ($1 == 10 ? 1 : 0) } }
}

/// Stands in for the pipe of a child process.
struct PipeSource {
    private var written = 0

    mutating func readAvailable() -> [UInt8] {
        written += 1
        let text = (0..<(written % 4 + 1)).map { "line \(written).\($0)\n" }.joined()
        return Array(text.utf8)
    }
}

final class ChildProcess {
    let output: AsyncStream<OutputChunk>
    private let continuation: AsyncStream<OutputChunk>.Continuation
    private var pipe = PipeSource()
    private var produced = 0

    init() {
        (output, continuation) = AsyncStream<OutputChunk>.makeStream()
    }

    /// Called by the IO handler when the pipe is readable.
    func pipeIsReadable(times: Int) {
        for _ in 0..<times {
            let chunk = OutputChunk(sequence: produced, bytes: pipe.readAvailable())
            produced += 1
            continuation.yield(chunk)
        }
    }

    var chunksProduced: Int { produced }
}

final class LogIndexer {
    private(set) var lines = 0
    private(set) var lastSequence = -1

    func index(_ chunk: OutputChunk) async {
        lines += chunk.lineCount
        lastSequence = chunk.sequence
        try? await Task.sleep(nanoseconds: 4_000_000)
    }
}

let child = ChildProcess()

func indexOutput(of child: ChildProcess, rounds: Int) async -> LogIndexer {
    let indexer = LogIndexer()
    var reader = child.output.makeAsyncIterator()
    for _ in 0..<rounds {
        child.pipeIsReadable(times: 5)
        guard let chunk = await reader.next() else { break }
        await indexer.index(chunk)
    }
    return indexer
}

let indexer = await indexOutput(of: child, rounds: 80)
print("produced \(child.chunksProduced) chunks, indexed \(indexer.lines) lines up to chunk \(indexer.lastSequence)")
exit(0)
