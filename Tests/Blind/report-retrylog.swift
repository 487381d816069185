import Foundation

final class UploadRequest {
    let document: String
    var payload: [UInt8]
    private(set) var attempts = 0
    private var validators: [(Int) -> Bool] = []

    init(document: String, size: Int) {
        self.document = document
        payload = [UInt8](repeating: 1, count: size)
    }

    func validate(_ rule: @escaping (Int) -> Bool) {
        validators.append(rule)
    }

    func beginAttempt() { attempts += 1 }

    func accepts(status: Int) -> Bool {
        validators.allSatisfy { $0(status) }
    }
}

protocol RetryPolicy {
    func shouldRetry(_ request: UploadRequest, status: Int) -> Bool
}

struct LimitedRetry: RetryPolicy {
    let limit: Int
    func shouldRetry(_ request: UploadRequest, status: Int) -> Bool {
        status == 503 && request.attempts < limit
    }
}

final class SessionDelegate {
    private var requests: [Int: UploadRequest] = [:]
    private var lastTaskID = 0
    private let policy: any RetryPolicy
    private(set) var finished = 0
    private(set) var retried = 0

    init(policy: any RetryPolicy) {
        self.policy = policy
    }

    func start(_ request: UploadRequest) -> Int {
        lastTaskID += 1
        request.beginAttempt()
        requests[lastTaskID] = request
        return lastTaskID
    }

    func didComplete(taskID: Int, status: Int) -> Int? {
        guard let request = requests[taskID] else { return nil }
        if !request.accepts(status: status), policy.shouldRetry(request, status: status) {
            retried += 1
            return start(request)
        }
        requests[taskID] = nil
        finished += 1
        return nil
    }
}

final class Uploader {
    let delegate = SessionDelegate(policy: LimitedRetry(limit: 3))

    func upload(number: Int) {
        let request = UploadRequest(document: "scan-\(number).pdf", size: 4_096)
        request.validate { (200..<300).contains($0) }
        var taskID: Int? = delegate.start(request)
        var failuresLeft = number % 3
        while let current = taskID {
            let status = failuresLeft > 0 ? 503 : 201
            failuresLeft -= 1
            taskID = delegate.didComplete(taskID: current, status: status)
        }
    }
}

let uploader = Uploader()
for number in 0..<108 {
    uploader.upload(number: number)
    usleep(4_000)
}
print("finished \(uploader.delegate.finished), retried \(uploader.delegate.retried)")
