import Foundation

struct Caret {
    var paragraph: Int
    var column: Int
}

final class EditSnapshot {
    let serial: Int
    let paragraphs: [String]
    let caret: Caret

    init(serial: Int, paragraphs: [String], caret: Caret) {
        self.serial = serial
        self.paragraphs = paragraphs
        self.caret = caret
    }
}

final class Manuscript {
    private(set) var paragraphs: [String]
    private(set) var caret = Caret(paragraph: 0, column: 0)
    private var past: [EditSnapshot] = []
    private var future: [EditSnapshot] = []
    private var serial = 0
    private var depth = 0
    let reachableSteps = 30

    init(opening: [String]) {
        paragraphs = opening
    }

    private func capture() -> EditSnapshot {
        serial += 1
        return EditSnapshot(serial: serial, paragraphs: paragraphs, caret: caret)
    }

    func insert(_ text: String, paragraph: Int) {
        past.append(capture())
        future.removeAll(keepingCapacity: true)
        depth = min(depth + 1, reachableSteps)
        let target = paragraph % paragraphs.count
        paragraphs[target] += text
        if paragraphs[target].count > 240 {
            paragraphs[target] = String(paragraphs[target].suffix(120))
        }
        caret = Caret(paragraph: target, column: paragraphs[target].count)
    }

    func undo() -> Bool {
        guard depth > 0, let step = past.popLast() else { return false }
        future.append(capture())
        depth -= 1
        paragraphs = step.paragraphs
        caret = step.caret
        return true
    }

    func redo() -> Bool {
        guard let step = future.popLast() else { return false }
        past.append(capture())
        depth = min(depth + 1, reachableSteps)
        paragraphs = step.paragraphs
        caret = step.caret
        return true
    }

    var wordCount: Int {
        paragraphs.reduce(0) { $0 + $1.split(separator: " ").count }
    }
}

struct Typist {
    var state: UInt64
    let vocabulary = ["lantern", "harbour", "quietly", "the", "stairs", "and", "winter", "returned"]

    mutating func nextWord() -> String {
        state = state &* 6364136223846793005 &+ 1442695040888963407
        return vocabulary[Int(state >> 33) % vocabulary.count]
    }
}

let manuscript = Manuscript(opening: ["Chapter one.", "It began", "On the pier", "Nobody"])
var typist = Typist(state: 17)
var undone = 0
var redone = 0

for stroke in 1...840 {
    manuscript.insert(" " + typist.nextWord(), paragraph: stroke)
    if stroke % 40 == 0 {
        for _ in 0..<2 where manuscript.undo() { undone += 1 }
        if manuscript.redo() { redone += 1 }
    }
    if stroke % 12 == 0 {
        usleep(8_000)
    }
}

print("novelpad: \(manuscript.wordCount) words, \(undone) undone, \(redone) redone, caret \(manuscript.caret.paragraph):\(manuscript.caret.column)")
