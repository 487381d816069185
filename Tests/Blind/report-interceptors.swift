import Foundation

enum ResponsePart {
    case metadata([String: String])
    case message(Int)
    case end(status: Int)
}

typealias Interceptor = (ResponsePart, (ResponsePart) -> Void) -> Void

final class EventLoop {
    private var queued: [() -> Void] = []

    func execute(_ work: @escaping () -> Void) { queued.append(work) }

    func turn() {
        let batch = queued
        queued.removeAll()
        batch.forEach { $0() }
    }
}

final class InterceptorPipeline {
    private let interceptors: [Interceptor]
    private let onSend: (ResponsePart) -> Void
    private let onFinish: () -> Void

    init(
        interceptors: [Interceptor],
        onSend: @escaping (ResponsePart) -> Void,
        onFinish: @escaping () -> Void
    ) {
        self.interceptors = interceptors
        self.onSend = onSend
        self.onFinish = onFinish
    }

    func send(_ part: ResponsePart) {
        pass(part, from: interceptors.startIndex)
        if case .end = part { onFinish() }
    }

    private func pass(_ part: ResponsePart, from index: Int) {
        guard index < interceptors.endIndex else {
            onSend(part)
            return
        }
        interceptors[index](part) { self.pass($0, from: index + 1) }
    }
}

final class RpcHandler {
    private let loop: EventLoop
    private var pipeline: InterceptorPipeline?
    private(set) var sentParts = 0
    private(set) var status: Int?

    init(loop: EventLoop, interceptors: [Interceptor]) {
        self.loop = loop
        pipeline = InterceptorPipeline(interceptors: interceptors) { part in
            self.sentParts += 1
            if case .end(let code) = part { self.status = code }
        } onFinish: {
            self.loop.execute { self.pipeline = nil }
        }
    }

    func receive(_ value: Int) {
        pipeline?.send(.message(value * 2))
    }

    func receiveEnd() {
        pipeline?.send(.end(status: 0))
    }

    func receiveError(_ code: Int) {
        status = code
        loop.execute { self.pipeline = nil }
    }
}

func run(calls: Int) -> [Int: Int] {
    let loop = EventLoop()
    var statuses: [Int: Int] = [:]
    let pass: Interceptor = { part, next in next(part) }
    let dropNegative: Interceptor = { part, next in
        if case .message(let value) = part, value < 0 { return }
        next(part)
    }
    for call in 0..<calls {
        let handler = RpcHandler(loop: loop, interceptors: [pass, dropNegative])
        for value in -1..<4 { handler.receive(value) }
        call % 4 == 3 ? handler.receiveError(14) : handler.receiveEnd()
        loop.turn()
        statuses[handler.status ?? -1, default: 0] += handler.sentParts
        usleep(2_500)
    }
    return statuses
}

let statuses = run(calls: 160)
print("160 calls:", statuses.sorted { $0.key < $1.key }.map { "status \($0.key) sent \($0.value)" }.joined(separator: ", "))
