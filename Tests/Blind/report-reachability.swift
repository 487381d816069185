import Foundation

typealias LinkCallback = @convention(c) (UInt32, UnsafeMutableRawPointer?) -> Void

struct LinkContext {
    var info: UnsafeMutableRawPointer?
    var callback: LinkCallback?
}

/// Mimics the system's link monitor with its C style context.
struct LinkMonitor {
    private var contexts: [Int: LinkContext] = [:]
    private var serial = 0

    mutating func open() -> Int {
        serial += 1
        return serial
    }

    mutating func setCallback(_ handle: Int, _ context: LinkContext?) {
        contexts[handle] = context
    }

    func report(flags: UInt32) {
        for handle in contexts.keys.sorted() {
            guard let context = contexts[handle] else { continue }
            context.callback?(flags, context.info)
        }
    }

    var listenerCount: Int { contexts.count }
}

nonisolated(unsafe) var monitor = LinkMonitor()

enum LinkStatus: Equatable {
    case unknown
    case offline
    case online(cellular: Bool)

    init(flags: UInt32) {
        guard flags & 1 != 0 else {
            self = .offline
            return
        }
        self = .online(cellular: flags & 2 != 0)
    }
}

final class ReachabilityManager {
    private let handle: Int
    private var listener: ((LinkStatus) -> Void)?
    private var status = LinkStatus.unknown

    init() {
        handle = monitor.open()
    }

    deinit {
        stopListening()
    }

    func startListening(_ listener: @escaping (LinkStatus) -> Void) {
        stopListening()
        self.listener = listener
        let info = Unmanaged.passUnretained(self).toOpaque()
        let context = LinkContext(info: info) { flags, info in
            guard let info else { return }
            Unmanaged<ReachabilityManager>.fromOpaque(info).takeUnretainedValue().notify(flags)
        }
        monitor.setCallback(handle, context)
    }

    func stopListening() {
        monitor.setCallback(handle, nil)
        listener = nil
    }

    private func notify(_ flags: UInt32) {
        let current = LinkStatus(flags: flags)
        guard current != status else { return }
        status = current
        listener?(current)
    }
}

func watchLinks(_ rounds: Int) -> Int {
    var changes = 0
    for round in 0..<rounds {
        let manager = ReachabilityManager()
        manager.startListening { _ in changes += 1 }
        for step in 0..<6 { monitor.report(flags: UInt32((round + step / 2) % 4)) }
        if round % 2 == 0 { manager.stopListening() }
        monitor.report(flags: 0)
        usleep(3_000)
    }
    return changes
}

let changes = watchLinks(140)
print("140 rounds, \(changes) status changes, \(monitor.listenerCount) listeners")
