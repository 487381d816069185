import Foundation

final class AuditEvent {
    let action: String
    let actor: Int
    let previous: AuditEnvelope?

    init(action: String, actor: Int, previous: AuditEnvelope?) {
        self.action = action
        self.actor = actor
        self.previous = previous
    }
}

final class AuditEnvelope {
    let event: AuditEvent
    let signature: UInt64

    init(event: AuditEvent, key: UInt64) {
        self.event = event
        var hash = event.previous?.signature ?? 14695981039346656037
        for byte in event.action.utf8 { hash = (hash ^ UInt64(byte)) &* 1099511628211 }
        self.signature = hash ^ (UInt64(event.actor) &* key)
    }
}

final class Document {
    let name: String
    private var paragraphs: [String] = []
    init(name: String) { self.name = name }

    func append(_ text: String) { paragraphs.append(text) }
    var length: Int { paragraphs.reduce(0) { $0 + $1.count } }
}

final class AuditTrail {
    private let key: UInt64
    private var head: AuditEnvelope?

    init(key: UInt64) { self.key = key }

    func record(_ action: String, actor: Int) {
        let event = AuditEvent(action: action, actor: actor, previous: head)
        head = AuditEnvelope(event: event, key: key)
    }

    var lastSignature: UInt64 { head?.signature ?? 0 }
}

protocol Editor {
    var id: Int { get }
    func edit(_ document: Document, round: Int) -> String
}

struct Author: Editor {
    let id: Int
    func edit(_ document: Document, round: Int) -> String {
        document.append("paragraph \(round) by author \(id)")
        return "append:\(document.name)"
    }
}

struct Reviewer: Editor {
    let id: Int
    func edit(_ document: Document, round: Int) -> String {
        "review:\(document.name):\(document.length)"
    }
}

let trail = AuditTrail(key: 0x9e3779b97f4a7c15)
let editors: [Editor] = [Author(id: 1), Author(id: 2), Reviewer(id: 3), Author(id: 4), Reviewer(id: 5)]
var characters = 0

for round in 0..<20 {
    let document = Document(name: "draft-\(round)")
    for pass in 0..<5 {
        for editor in editors {
            trail.record(editor.edit(document, round: pass), actor: editor.id)
        }
    }
    characters += document.length
}
print("characters \(characters) signature \(String(trail.lastSignature, radix: 16))")
