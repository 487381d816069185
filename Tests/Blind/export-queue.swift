import Foundation

final class Rendering {
    let pages: [[UInt8]]
    init(pages: Int) { self.pages = (0..<pages).map { [UInt8](repeating: UInt8($0), count: 1_000) } }
}

final class ExportJob {
    let number: Int
    let title: String
    var progress = 0.0
    init(number: Int) {
        self.number = number
        self.title = "report \(number)"
    }
}

final class JobTracker {
    private let lock = NSLock()
    private var jobs: [Int: ExportJob] = [:]
    private var uploaded = 0
    private var failed = 0

    func begin(_ job: ExportJob) { lock.withLock { jobs[job.number] = job } }

    func finish(_ job: ExportJob) {
        lock.withLock {
            jobs.removeValue(forKey: job.number)
            uploaded += 1
        }
    }

    func markFailed(_ job: ExportJob) { lock.withLock { failed += 1 } }

    var status: String { lock.withLock { "uploaded \(uploaded), failed \(failed)" } }
}

final class RenderOperation: Operation, @unchecked Sendable {
    let job: ExportJob
    private(set) var output: Rendering?
    init(job: ExportJob) { self.job = job }

    override func main() {
        guard job.number % 25 != 8 else { return }
        output = Rendering(pages: 1 + job.number % 4)
        job.progress = 0.5
    }

    func takeOutput() -> Rendering? {
        defer { output = nil }
        return output
    }
}

final class UploadOperation: Operation, @unchecked Sendable {
    let source: RenderOperation
    let tracker: JobTracker
    init(source: RenderOperation, tracker: JobTracker) {
        self.source = source
        self.tracker = tracker
        super.init()
        addDependency(source)
    }

    override func main() {
        guard let rendering = source.takeOutput() else {
            tracker.markFailed(source.job)
            return
        }
        source.job.progress = Double(rendering.pages.count)
        tracker.finish(source.job)
    }
}

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 2
let tracker = JobTracker()
for round in 0..<20 {
    autoreleasing {
        for n in 0..<15 {
            let job = ExportJob(number: round * 15 + n)
            tracker.begin(job)
            let render = RenderOperation(job: job)
            queue.addOperation(render)
            queue.addOperation(UploadOperation(source: render, tracker: tracker))
        }
        queue.waitUntilAllOperationsAreFinished()
    }
    Thread.sleep(forTimeInterval: 0.045)
}
print(tracker.status)

func autoreleasing(_ body: () -> Void) { body() }
