import Foundation

protocol PeerDelegate: AnyObject {
    func peer(_ peer: MediaPeer, didReceive octets: Int)
}

final class MediaPeer {
    enum Link {
        case waiting
        case paired(MediaPeer)
        case closed
    }

    let name: String
    weak var delegate: PeerDelegate?
    private var link = Link.waiting
    private var jitter: [Int] = []

    init(name: String, delegate: PeerDelegate) {
        self.name = name
        self.delegate = delegate
    }

    func pair(with other: MediaPeer) {
        link = .paired(other)
        other.link = .paired(self)
    }

    func close() {
        if case .paired(let other) = link {
            other.link = .closed
        }
        link = .closed
    }

    func send(_ frame: [UInt8]) {
        guard case .paired(let other) = link else { return }
        other.deliver(frame)
    }

    private func deliver(_ frame: [UInt8]) {
        jitter.append(frame.reduce(0) { $0 + Int($1) })
        if jitter.count > 20 {
            jitter.removeFirst(10)
        }
        delegate?.peer(self, didReceive: frame.count)
    }
}

final class ConferenceRoom: PeerDelegate {
    let title: String
    private var pairs: [(MediaPeer, MediaPeer)] = []
    private(set) var octets = 0

    init(title: String) {
        self.title = title
    }

    func admit(_ first: String, _ second: String) {
        let left = MediaPeer(name: first, delegate: self)
        let right = MediaPeer(name: second, delegate: self)
        left.pair(with: right)
        pairs.append((left, right))
    }

    func peer(_ peer: MediaPeer, didReceive count: Int) {
        octets += count
    }

    func exchange(rounds: Int) {
        for round in 0..<rounds {
            let frame = [UInt8](repeating: UInt8(round & 0x7f), count: 160)
            for (left, right) in pairs {
                (round % 2 == 0 ? left : right).send(frame)
            }
        }
    }

    func dissolve() {
        for (left, _) in pairs {
            left.close()
        }
        pairs.removeAll()
    }
}

final class ConferenceServer {
    private let standing = ConferenceRoom(title: "all hands")
    private(set) var total = 0
    private(set) var rooms = 0

    init(members: Int) {
        for n in 0..<members {
            standing.admit("m\(n)", "relay\(n)")
        }
    }

    func hold(_ title: String, participants: Int) {
        let room = ConferenceRoom(title: title)
        for n in 0..<participants {
            room.admit("\(title)-a\(n)", "\(title)-b\(n)")
        }
        room.exchange(rounds: 150)
        standing.exchange(rounds: 20)
        total += room.octets
        rooms += 1
        room.dissolve()
    }

    func shutdown() {
        total += standing.octets
        standing.dissolve()
    }
}

@main
enum Conference {
    static func main() {
        let server = ConferenceServer(members: 10)
        for hour in 0..<10 {
            for slot in 0..<3 {
                server.hold("h\(hour)s\(slot)", participants: 2)
            }
            Thread.sleep(forTimeInterval: 0.07)
        }
        server.shutdown()
        print("rooms \(server.rooms), octets \(server.total)")
    }
}
