import Foundation
import Dispatch

enum Frame {
    case text(String)
    case ping(Int)
    case close(code: Int)
}

struct Hello {
    let user: String
    let version: Int
    let script: [String]
}

final class Transcript {
    private let lock = NSLock()
    private var texts = 0
    private var pings = 0
    private var closes: [Int: Int] = [:]

    func record(_ frame: Frame) {
        lock.lock()
        defer { lock.unlock() }
        switch frame {
        case .text: texts += 1
        case .ping: pings += 1
        case .close(let code): closes[code, default: 0] += 1
        }
    }

    var summary: String {
        lock.lock()
        defer { lock.unlock() }
        let codes = closes.keys.sorted().map { "\($0):\(closes[$0]!)" }.joined(separator: " ")
        return "texts=\(texts) closes=[\(codes)]"
    }
}

/// One client connection. Everything runs on the gateway's queue.
final class Link {
    let id: Int
    let user: String
    private let keepalive: DispatchSourceTimer
    private let transcript: Transcript
    private var sequence = 0
    private var recent: [Frame] = []

    init(id: Int, user: String, queue: DispatchQueue, transcript: Transcript) {
        self.id = id
        self.user = user
        self.transcript = transcript
        keepalive = DispatchSource.makeTimerSource(queue: queue)
    }

    func open() {
        keepalive.schedule(deadline: .now() + .milliseconds(8), repeating: .milliseconds(12))
        keepalive.setEventHandler {
            self.sequence += 1
            self.send(.ping(self.sequence))
        }
        keepalive.resume()
    }

    func send(_ frame: Frame) {
        recent.append(frame)
        if recent.count > 16 { recent.removeFirst() }
        transcript.record(frame)
    }

    func close(code: Int) {
        send(.close(code: code))
        keepalive.cancel()
    }
}

final class Gateway {
    let queue = DispatchQueue(label: "gateway")
    let transcript = Transcript()
    private var links: [Int: Link] = [:]
    private var nextID = 1
    private let supported = 3...4
    private(set) var refused: [String] = []

    func accept(_ hello: Hello) -> Int? {
        let link = Link(id: nextID, user: hello.user, queue: queue, transcript: transcript)
        nextID += 1
        link.open()
        guard supported.contains(hello.version) else {
            refused.append(hello.user)
            link.send(.close(code: 1002))
            return nil
        }
        links[link.id] = link
        return link.id
    }

    func deliver(_ text: String, to id: Int) {
        links[id]?.send(.text(text))
    }

    func hangUp(_ id: Int, code: Int = 1000) {
        guard let link = links.removeValue(forKey: id) else { return }
        link.close(code: code)
    }

    var openCount: Int { links.count }
}

/// Plays a client's script into the gateway, then hangs up.
struct Client {
    let hello: Hello
    let pause: Int

    func run(against gateway: Gateway, done: DispatchGroup) {
        done.enter()
        gateway.queue.async {
            guard let id = gateway.accept(hello) else {
                done.leave()
                return
            }
            for (index, line) in hello.script.enumerated() {
                gateway.queue.asyncAfter(deadline: .now() + .milliseconds(pause * (index + 1))) {
                    gateway.deliver(line, to: id)
                    if index == hello.script.count - 1 {
                        gateway.hangUp(id)
                        done.leave()
                    }
                }
            }
        }
    }
}

let gateway = Gateway()
let clientsDone = DispatchGroup()

let bridges: [Int] = gateway.queue.sync {
    ["irc", "matrix", "xmpp", "mail"].compactMap {
        gateway.accept(Hello(user: "bridge-\($0)", version: 4, script: []))
    }
}

for round in 0..<24 {
    for slot in 0..<10 {
        let number = round * 10 + slot
        let lines = (0...(number % 5)).map { "line \($0) from \(number)" }
        let hello = Hello(user: "user\(number)", version: number % 8 == 5 ? 2 : 3 + number % 2, script: lines)
        Client(hello: hello, pause: 4 + number % 7).run(against: gateway, done: clientsDone)
    }
    gateway.queue.async {
        for id in bridges { gateway.deliver("digest \(round)", to: id) }
    }
    usleep(25_000)
}

clientsDone.wait()
gateway.queue.sync {
    for id in bridges { gateway.hangUp(id, code: 1001) }
}
usleep(40_000)
gateway.queue.sync {
    print("open=\(gateway.openCount) refused=\(gateway.refused.count)")
}
print(gateway.transcript.summary)
