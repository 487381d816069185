import Foundation
import Dispatch

final class Letter {
    let recipient: Int
    let campaign: String
    init(recipient: Int, campaign: String) {
        self.recipient = recipient
        self.campaign = campaign
    }
    func render() -> String { "Dear subscriber \(recipient), news from \(campaign)" }
}

final class LetterQueue {
    private let condition = NSCondition()
    private var letters: [Letter] = []
    private var closed = false
    private(set) var highWater = 0

    func push(_ letter: Letter) {
        condition.lock()
        letters.append(letter)
        highWater = max(highWater, letters.count)
        condition.signal()
        condition.unlock()
    }

    func pop() -> Letter? {
        condition.lock()
        defer { condition.unlock() }
        while letters.isEmpty {
            if closed { return nil }
            condition.wait()
        }
        return letters.removeFirst()
    }

    func close() {
        condition.lock()
        closed = true
        condition.broadcast()
        condition.unlock()
    }
}

final class MailWorker {
    private let queue: LetterQueue
    private let done = DispatchSemaphore(value: 0)
    private(set) var sent = 0
    private(set) var bytes = 0

    init(queue: LetterQueue) { self.queue = queue }

    func start() {
        let thread = Thread { [self] in
            while let letter = queue.pop() {
                bytes += letter.render().utf8.count
                sent += 1
                if sent % 40 == 0 { usleep(1000) }
            }
            done.signal()
        }
        thread.start()
    }

    func join() { done.wait() }
}

let queue = LetterQueue()
let worker = MailWorker(queue: queue)
worker.start()

for campaign in ["spring", "summer", "autumn"] {
    for recipient in 0..<500 {
        queue.push(Letter(recipient: recipient, campaign: campaign))
    }
    usleep(2000)
}
queue.close()
worker.join()
print("sent \(worker.sent) bytes \(worker.bytes)")
