import Dispatch
import Foundation

final class ChangeSet {
    let revision: Int
    let paths: [String]

    init(revision: Int, paths: [String]) {
        self.revision = revision
        self.paths = paths
    }

    var checksum: Int {
        paths.reduce(revision) { sum, path in
            path.utf8.reduce(sum) { ($0 &* 33 &+ Int($1)) & 0xff_ffff }
        }
    }
}

final class Mirror {
    enum State {
        case online
        case offline
    }

    let host: String
    private(set) var state = State.online
    private let queue: DispatchQueue
    private var applied = 0
    private var digest = 0

    init(host: String) {
        self.host = host
        queue = DispatchQueue(label: "mirror.\(host)")
    }

    func submit(revision: Int, paths: [String]) {
        let change = ChangeSet(revision: revision, paths: paths)
        queue.async { [unowned self] in
            digest = (digest &* 31 &+ change.checksum) & 0xffff
            applied += 1
        }
    }

    func healthCheck(reachable: Bool) {
        switch (state, reachable) {
        case (.online, false):
            queue.suspend()
            state = .offline
        case (.offline, true):
            state = .online
            queue.resume()
        default:
            break
        }
    }

    func drain() {
        if state == .online { queue.sync {} }
    }

    func summary() -> String {
        guard state == .online else { return "\(host): offline" }
        return queue.sync { "\(host): \(applied) changes, digest \(digest)" }
    }
}

struct Publisher {
    let mirrors: [Mirror]
    private(set) var revision = 0

    init(hosts: [String]) {
        mirrors = hosts.map(Mirror.init(host:))
    }

    mutating func publish(_ paths: [String]) {
        revision += 1
        for mirror in mirrors {
            mirror.submit(revision: revision, paths: paths)
        }
    }
}

func reachable(_ host: String, hour: Int) -> Bool {
    switch host {
    case "oslo": return !(40..<52).contains(hour)
    case "lima": return hour < 30
    default: return true
    }
}

var publisher = Publisher(hosts: ["oslo", "lima", "kyoto", "accra"])

for hour in 0..<240 {
    for mirror in publisher.mirrors {
        mirror.drain()
        mirror.healthCheck(reachable: reachable(mirror.host, hour: hour))
    }
    for batch in 0..<6 {
        publisher.publish(["docs/\(hour)/index.html", "img/\(hour)-\(batch).png"])
    }
    usleep(1500)
}

publisher.mirrors.forEach { $0.drain() }
print("revision \(publisher.revision)")
for mirror in publisher.mirrors {
    print(mirror.summary())
}
