import Foundation

final class Attachment {
    let name: String
    let data: [UInt8]
    init(name: String, size: Int) {
        self.name = name
        data = [UInt8](repeating: 0x41, count: size)
    }
}

final class Message {
    let id: Int
    let thread: Int
    let received: Int
    let attachment: Attachment?
    var flagged = false
    var read = false
    init(id: Int, thread: Int, received: Int, attachment: Attachment?) {
        self.id = id
        self.thread = thread
        self.received = received
        self.attachment = attachment
    }
}

final class Conversation {
    let subject: String
    private(set) var messages: [Message] = []
    init(subject: String) { self.subject = subject }

    func add(_ message: Message) { messages.append(message) }
    func expire(before day: Int) { messages.removeAll { $0.received < day && !$0.flagged } }
    var isEmpty: Bool { messages.isEmpty }
}

final class Mailbox {
    private var conversations: [Int: Conversation] = [:]
    private var flaggedIDs: [Int: Message] = [:]
    let retentionDays = 12
    private(set) var delivered = 0

    func deliver(_ message: Message) {
        delivered += 1
        if conversations[message.thread] == nil {
            conversations[message.thread] = Conversation(subject: "Subject \(message.thread)")
        }
        conversations[message.thread]!.add(message)
    }

    func flag(_ message: Message) {
        message.flagged = true
        flaggedIDs[message.id] = message
    }

    func unflag(_ id: Int) {
        flaggedIDs.removeValue(forKey: id)?.flagged = false
    }

    func endOfDay(_ day: Int) {
        for (key, conversation) in conversations {
            conversation.expire(before: day - retentionDays)
            if conversation.isEmpty { conversations[key] = nil }
        }
    }

    func find(_ id: Int) -> Message? {
        for conversation in conversations.values {
            if let hit = conversation.messages.first(where: { $0.id == id }) { return hit }
        }
        return nil
    }

    func printout() -> (flagged: Int, bytes: Int, conversations: Int) {
        let bytes = flaggedIDs.values.reduce(0) { $0 + ($1.attachment?.data.count ?? 0) }
        return (flaggedIDs.count, bytes, conversations.count)
    }
}

let mailbox = Mailbox()
var nextID = 0
for day in 0..<160 {
    for slot in 0..<14 {
        let file = nextID % 6 == 0 ? Attachment(name: "scan\(nextID).pdf", size: 2048) : nil
        let message = Message(id: nextID, thread: day / 5 * 10 + slot % 10, received: day, attachment: file)
        mailbox.deliver(message)
        if nextID % 12 == 0 { mailbox.flag(message) }
        nextID += 1
    }
    if day % 4 == 3, let message = mailbox.find(nextID - 5) { message.read = true }
    if day >= 20 && day % 2 == 0 {
        let old = (nextID - 260) / 12 * 12
        mailbox.unflag(old)
    }
    mailbox.endOfDay(day)
    usleep(6000)
}
let page = mailbox.printout()
print("delivered \(mailbox.delivered)")
print("flagged \(page.flagged) with \(page.bytes) bytes, conversations \(page.conversations)")
