import Foundation

struct Message: Sendable {
    let from: String
    let body: String
}

actor Switchboard {
    private var lines: [Int: AsyncStream<Message>.Continuation] = [:]

    func plugIn(_ number: Int) -> AsyncStream<Message> {
        let (stream, continuation) = AsyncStream.makeStream(of: Message.self)
        lines[number] = continuation
        return stream
    }

    func unplug(_ number: Int) {
        lines.removeValue(forKey: number)?.finish()
    }

    func speak(_ message: Message, to number: Int) {
        lines[number]?.yield(message)
    }

    var plugged: Int { lines.count }
}

final class SupportSession: @unchecked Sendable {
    let number: Int
    let customer: String
    private let lock = NSLock()
    private var heard: [String] = []
    private var task: Task<Void, Never>?

    init(number: Int, customer: String) {
        self.number = number
        self.customer = customer
    }

    func begin(_ incoming: AsyncStream<Message>) {
        task = Task {
            for await message in incoming {
                self.note("\(message.from): \(message.body)")
            }
        }
    }

    func end() async {
        task?.cancel()
        await task?.value
        task = nil
    }

    private func note(_ text: String) {
        lock.withLock { heard.append(text) }
    }

    var count: Int { lock.withLock { heard.count } }
}

final class SupportDesk {
    private let board = Switchboard()
    private var sessions: [Int: SupportSession] = [:]
    private var counter = 100
    private(set) var ejected: [String] = []
    private(set) var served = 0

    func call(from customer: String) async -> Int {
        counter += 1
        let session = SupportSession(number: counter, customer: customer)
        sessions[counter] = session
        session.begin(await board.plugIn(counter))
        await board.speak(Message(from: "desk", body: "Hello \(customer)"), to: counter)
        return counter
    }

    func reply(_ body: String, to number: Int) async {
        await board.speak(Message(from: "agent", body: body), to: number)
    }

    func hangUp(_ number: Int) async {
        await close(number)
        served += 1
    }

    func eject(_ number: Int) async {
        if let customer = sessions[number]?.customer {
            ejected.append(customer)
        }
        await close(number)
    }

    private func close(_ number: Int) async {
        guard let session = sessions.removeValue(forKey: number) else { return }
        await board.unplug(number)
        await session.end()
    }

    func heard(_ number: Int, atLeast count: Int) async {
        while let session = sessions[number], session.count < count {
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    var open: [String] { sessions.values.map(\.customer).sorted() }
    func lineCount() async -> Int { await board.plugged }
}

let desk = SupportDesk()
var numbers: [Int] = []
for index in 1...18 {
    numbers.append(await desk.call(from: "customer-\(index)"))
}
for number in numbers {
    await desk.reply("Have you tried turning it off and on?", to: number)
}
for number in numbers {
    await desk.heard(number, atLeast: 2)
}
for (index, number) in numbers.enumerated() {
    switch index % 6 {
    case 0, 1, 3, 4: await desk.hangUp(number)
    case 2: await desk.eject(number)
    default: await desk.reply("One moment, I am asking a colleague", to: number)
    }
}
print("served \(desk.served), ejected \(desk.ejected.joined(separator: ", "))")
print("open lines \(await desk.lineCount()): \(desk.open.joined(separator: ", "))")
