import Foundation
import Dispatch

// Text editor core: edits go into a gap buffer, and a save is scheduled after each edit so that
// a pause in typing writes the document.

struct GapBuffer {
    private var storage: [UInt8?]
    private var gap: Range<Int>

    init(capacity: Int) {
        storage = Array(repeating: nil, count: capacity)
        gap = 0..<capacity
    }

    var cursor: Int { gap.lowerBound }
    var length: Int { storage.count - gap.count }

    mutating func insert(_ byte: UInt8) {
        if gap.isEmpty {
            let at = gap.lowerBound
            storage.insert(contentsOf: repeatElement(nil, count: 256), at: at)
            gap = at..<(at + 256)
        }
        storage[gap.lowerBound] = byte
        gap = (gap.lowerBound + 1)..<gap.upperBound
    }

    mutating func deleteBackward() {
        guard gap.lowerBound > 0 else { return }
        storage[gap.lowerBound - 1] = nil
        gap = (gap.lowerBound - 1)..<gap.upperBound
    }

    mutating func move(to target: Int) {
        while cursor > target, gap.lowerBound > 0 {
            storage[gap.upperBound - 1] = storage[gap.lowerBound - 1]
            gap = (gap.lowerBound - 1)..<(gap.upperBound - 1)
        }
        while cursor < target, gap.upperBound < storage.count {
            storage[gap.lowerBound] = storage[gap.upperBound]
            gap = (gap.lowerBound + 1)..<(gap.upperBound + 1)
        }
    }

    var contents: [UInt8] {
        (Array(storage[..<gap.lowerBound]) + Array(storage[gap.upperBound...])).compactMap { $0 }
    }
}

final class Document: @unchecked Sendable {
    private let queue = DispatchQueue(label: "editor.document")
    private let saveDelay: DispatchTimeInterval
    private var buffer = GapBuffer(capacity: 512)
    private var scheduledSaves: [DispatchWorkItem] = []
    private var savedDigest: UInt32 = 0
    private var saves = 0

    init(saveDelay: DispatchTimeInterval) { self.saveDelay = saveDelay }

    func type(_ text: String) {
        for byte in text.utf8 { edit { $0.insert(byte) } }
    }

    func backspace() { edit { $0.deleteBackward() } }

    func moveCursor(by offset: Int) {
        queue.sync { buffer.move(to: max(0, min(buffer.length, buffer.cursor + offset))) }
    }

    private func edit(_ change: (inout GapBuffer) -> Void) {
        queue.sync {
            change(&buffer)
            scheduledSaves.last?.cancel()
            let save = DispatchWorkItem { [weak self] in self?.write() }
            scheduledSaves.append(save)
            queue.asyncAfter(deadline: .now() + saveDelay, execute: save)
        }
    }

    private func write() {
        saves += 1
        savedDigest = buffer.contents.reduce(2166136261) { ($0 ^ UInt32($1)) &* 16777619 }
    }

    func close() -> String {
        queue.sync {
            scheduledSaves.forEach { $0.cancel() }
            write()
            return "length \(buffer.length), digest \(String(savedDigest, radix: 16))"
        }
    }

    var hasSaved: Bool { queue.sync { saves > 0 } }
}

let document = Document(saveDelay: .milliseconds(25))
let words = ["layout", "buffer", "cursor", "window", "editor", "syntax", "indent"]

// Each burst is eight typed keys and two corrections.
for burst in 0..<150 {
    document.type(words[burst % words.count] + (burst % 9 == 8 ? ".\n" : ", "))
    document.backspace()
    document.backspace()
    if burst % 12 == 5 { document.moveCursor(by: -30) }
    if burst % 12 == 7 { document.moveCursor(by: 30) }
    Thread.sleep(forTimeInterval: burst % 15 == 14 ? 0.035 : 0.005)
}
print(document.hasSaved ? "autosave active" : "no autosave yet")
print(document.close())
