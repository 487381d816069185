// Conveyor belt camera: frames go through a backlog to a defect detector.
import Foundation

final class VideoFrame: Sendable {
    let number: Int
    let luma: [UInt8]

    init(number: Int, luma: [UInt8]) {
        self.number = number
        self.luma = luma
    }
}

enum AnalysisError: Error {
    case corruptHeader(frame: Int)
}

actor FrameBacklog {
    private var frames: [VideoFrame] = []
    private var waiting: CheckedContinuation<VideoFrame?, Never>?
    private var ended = false

    func push(_ frame: VideoFrame) {
        if let consumer = waiting {
            waiting = nil
            consumer.resume(returning: frame)
        } else {
            frames.append(frame)
        }
    }

    func next() async -> VideoFrame? {
        if !frames.isEmpty { return frames.removeFirst() }
        if ended { return nil }
        return await withCheckedContinuation { waiting = $0 }
    }

    func finish() {
        ended = true
        waiting?.resume(returning: nil)
        waiting = nil
    }
}

actor DefectReport {
    private(set) var analysed = 0
    private(set) var defects = 0

    func add(defect: Bool) {
        analysed += 1
        if defect { defects += 1 }
    }
}

struct Detector {
    func inspect(_ frame: VideoFrame) throws -> Bool {
        guard frame.luma.first != 0xFF else { throw AnalysisError.corruptHeader(frame: frame.number) }
        var edges = 0
        for i in 1..<frame.luma.count where abs(Int(frame.luma[i]) - Int(frame.luma[i - 1])) > 60 {
            edges += 1
        }
        return edges > 4
    }
}

struct Camera {
    func capture(_ number: Int) -> VideoFrame {
        var luma = (0..<256).map { UInt8(($0 * 3 + number * 7) % 200) }
        if number == 61 { luma[0] = 0xFF } else { luma[0] = 0x10 }
        return VideoFrame(number: number, luma: luma)
    }
}

func analyse(_ backlog: FrameBacklog, into report: DefectReport) async throws {
    let detector = Detector()
    while let frame = await backlog.next() {
        let defect = try detector.inspect(frame)
        await report.add(defect: defect)
    }
}

let backlog = FrameBacklog()
let report = DefectReport()
let analysis = Task.detached {
    try await analyse(backlog, into: report)
}

let camera = Camera()
for number in 0..<900 {
    await backlog.push(camera.capture(number))
    if number % 30 == 29 {
        try? await Task.sleep(nanoseconds: 10_000_000)
    }
}
await backlog.finish()
_ = await analysis.result

let analysed = await report.analysed
let defects = await report.defects
print("captured 900 frames, analysed \(analysed), defects \(defects)")
