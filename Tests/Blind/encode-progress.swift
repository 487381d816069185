import Foundation
import Synchronization

final class ProgressBar: @unchecked Sendable {
    static let completed = Atomic<Int>(0)
    let title: String
    private var cells = [Character](repeating: ".", count: 40)

    init(title: String) { self.title = title }

    func update(_ fraction: Double) {
        let n = Int(fraction * 40)
        for i in 0..<min(n, 40) { cells[i] = "#" }
    }

    func complete() { Self.completed.add(1, ordering: .relaxed) }
}

enum EncodeError: Error { case corruptFrame(Int) }

final class Encoder {
    let clip: String
    let progress: AsyncStream<Double>
    private let report: AsyncStream<Double>.Continuation

    init(clip: String) {
        self.clip = clip
        (progress, report) = AsyncStream.makeStream(of: Double.self)
    }

    func encode(frames: Int) throws -> Int {
        var bytes = 0
        for frame in 1...frames {
            if clip.hasSuffix(".avi"), frame == frames / 2 {
                throw EncodeError.corruptFrame(frame)
            }
            bytes += frame * 11
            report.yield(Double(frame) / Double(frames))
        }
        report.finish()
        return bytes
    }
}

func observe(_ stream: AsyncStream<Double>, title: String) {
    let bar = ProgressBar(title: title)
    Task {
        for await fraction in stream {
            bar.update(fraction)
        }
        bar.complete()
    }
}

@main
struct BatchEncoder {
    static func main() async throws {
        var bytes = 0
        var failures = 0
        for round in 1...6 {
            for n in 0..<20 {
                let encoder = Encoder(clip: "take\(round)-\(n)" + (n % 2 == 0 ? ".mov" : ".avi"))
                observe(encoder.progress, title: encoder.clip)
                do {
                    bytes += try encoder.encode(frames: 12)
                } catch {
                    failures += 1
                }
            }
            while ProgressBar.completed.load(ordering: .relaxed) < round * 10 {
                try await Task.sleep(for: .milliseconds(5))
            }
            try await Task.sleep(for: .milliseconds(30))
        }
        try await Task.sleep(for: .milliseconds(150))
        print("encoded \(bytes) bytes, failures \(failures)")
    }
}
