import Foundation

// Spam guard of a community bot: looks at the recent messages of each member and mutes members
// who repeat themselves or write too fast.

struct Entry {
    let time: Int
    let fingerprint: UInt32
    let links: Int
}

enum Verdict: String, CaseIterable { case pass, tooFast, repeated, links, muted }

struct GuardSettings {
    let window: Int
    let burst: Int
    let copies: Int
    let muteFor: Int
}

final class MemberBook {
    private let settings: GuardSettings
    private var entries: [String: [Entry]] = [:]
    private var mutedUntil: [String: Int] = [:]
    private(set) var verdicts: [Verdict: Int] = [:]

    init(settings: GuardSettings) { self.settings = settings }

    func inspect(member: String, text: String, at time: Int) -> Verdict {
        let verdict = judge(member: member, text: text, at: time)
        verdicts[verdict, default: 0] += 1
        if verdict != .pass, verdict != .muted { mutedUntil[member] = time + settings.muteFor }
        return verdict
    }

    private func judge(member: String, text: String, at time: Int) -> Verdict {
        if let until = mutedUntil[member] {
            if until > time { return .muted }
            mutedUntil[member] = nil
        }
        var list = entries[member] ?? []
        list.removeAll { $0.time <= time - settings.window }
        let entry = Entry(time: time, fingerprint: fingerprint(text), links: text.components(separatedBy: "http").count - 1)
        list.append(entry)
        entries[member] = list
        if list.count > settings.burst { return .tooFast }
        if list.filter({ $0.fingerprint == entry.fingerprint }).count >= settings.copies { return .repeated }
        return list.reduce(0) { $0 + $1.links } > 4 ? .links : .pass
    }

    /// Members without any message in the window have no entry.
    func sweep(at time: Int) {
        for (member, list) in entries where list.allSatisfy({ $0.time <= time - settings.window }) {
            entries[member] = nil
        }
    }

    private func fingerprint(_ text: String) -> UInt32 {
        text.lowercased().utf8.filter { $0 >= 97 && $0 <= 122 }.reduce(2166136261) { ($0 ^ UInt32($1)) &* 16777619 }
    }
}

struct ChatScript {
    private let texts = [
        "good morning everyone", "has anybody tried the new map?", "look at http://example.org/patch",
        "my score was %d yesterday", "buy gold at http://gold.example", "see you at the raid %d",
        "who needs a healer", "patch %d broke my macros",
    ]

    func line(member: Int, serial: Int) -> String {
        let index = member % 9 == 0 ? 4 : (serial * 5 + member) % texts.count
        return texts[index].replacingOccurrences(of: "%d", with: word(serial))
    }

    private func word(_ number: Int) -> String {
        String(number, radix: 26).map { String(UnicodeScalar(UInt8(97 + (Int(String($0), radix: 26) ?? 0)))) }.joined()
    }
}

let book = MemberBook(settings: GuardSettings(window: 12, burst: 9, copies: 4, muteFor: 20))
let script = ChatScript()
var relayed = 0
var bytes = 0

for second in 0..<165 {
    for slot in 0..<20 {
        let serial = second * 20 + slot
        let member = (serial * 7 + second / 30) % 45
        let text = script.line(member: member, serial: serial)
        if book.inspect(member: "member-\(member)", text: text, at: second) == .pass {
            relayed += 1
            bytes += text.utf8.count
        }
    }
    if second % 5 == 4 { book.sweep(at: second) }
    usleep(5_000)
}
let parts = Verdict.allCases.map { "\($0.rawValue) \(book.verdicts[$0] ?? 0)" }
print(parts.joined(separator: ", "))
print("relayed \(relayed) messages, \(bytes) bytes")
