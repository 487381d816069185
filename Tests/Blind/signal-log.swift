struct Signal {
    let junction: Int
    let aspect: String
    let second: Int
}

final class LogNode {
    let sequence: Int
    let signal: Signal
    var next: LogNode?

    init(sequence: Int, signal: Signal) {
        self.sequence = sequence
        self.signal = signal
    }
}

final class Reader {
    let name: String
    private let stride: Int
    private var position: LogNode
    private(set) var isOpen = true
    private(set) var seen = 0
    private(set) var reds = 0

    init(name: String, stride: Int, from node: LogNode) {
        self.name = name
        self.stride = stride
        position = node
    }

    func advance() {
        guard isOpen else { return }
        for _ in 0..<stride {
            guard let next = position.next else { return }
            position = next
            seen += 1
            if next.signal.aspect == "red" { reds += 1 }
        }
    }

    func close() {
        isOpen = false
    }
}

final class SignalLog {
    private var tail: LogNode
    private var readers: [Reader] = []

    init() {
        tail = LogNode(sequence: 0, signal: Signal(junction: 0, aspect: "off", second: 0))
    }

    func append(_ signal: Signal) {
        let node = LogNode(sequence: tail.sequence + 1, signal: signal)
        tail.next = node
        tail = node
    }

    func open(_ name: String, stride: Int) -> Reader {
        let reader = Reader(name: name, stride: stride, from: tail)
        readers.append(reader)
        return reader
    }

    func poll() {
        for reader in readers {
            reader.advance()
        }
    }

    func report() -> [String] {
        readers.map { reader in
            let state = reader.isOpen ? "open" : "closed"
            return "\(reader.name) (\(state)): \(reader.seen) signals, \(reader.reds) red"
        }
    }

    var length: Int { tail.sequence }
}

let log = SignalLog()
let control = log.open("control", stride: 64)
let maintenance = log.open("maintenance", stride: 64)
let inspection = log.open("inspection", stride: 64)
let aspects = ["green", "amber", "red", "green", "red"]

for second in 0..<700 {
    for junction in 0..<5 {
        let aspect = aspects[(second / 3 + junction * 2) % aspects.count]
        log.append(Signal(junction: junction, aspect: aspect, second: second))
    }
    log.poll()
    if second == 120 { inspection.close() }
}

print("signals written: \(log.length)")
for line in log.report() {
    print(line)
}
