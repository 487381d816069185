import Foundation

// textdiff: Myers difference between two versions of a file, printed as
// unified hunks and checked by applying the patch again.

final class Line {
    let text: String
    let hash: Int
    init(_ text: String) {
        self.text = text
        var hasher = Hasher()
        hasher.combine(text)
        hash = hasher.finalize()
    }

    func matches(_ other: Line) -> Bool { hash == other.hash && text == other.text }
}

enum Edit {
    case keep(Line)
    case insert(Line)
    case delete(Line)
}

/// One point of the search; it refers to where it came from.
final class Trail {
    let edit: Edit
    let previous: Trail?
    init(_ edit: Edit, previous: Trail?) {
        self.edit = edit
        self.previous = previous
    }
}

struct MyersDiff {
    let old: [Line]
    let new: [Line]

    func edits() -> [Edit] {
        let limit = old.count + new.count
        var furthest = [Int: (x: Int, trail: Trail?)]()
        furthest[1] = (0, nil)
        for d in 0...limit {
            for k in stride(from: -d, through: d, by: 2) {
                var x: Int
                var trail: Trail?
                let down = k == -d || (k != d && (furthest[k - 1]?.x ?? -1) < (furthest[k + 1]?.x ?? -1))
                if down {
                    let origin = furthest[k + 1]!
                    x = origin.x
                    let y = x - k
                    trail = origin.trail
                    if y > 0, y <= new.count { trail = Trail(.insert(new[y - 1]), previous: trail) }
                } else {
                    let origin = furthest[k - 1]!
                    x = origin.x + 1
                    trail = origin.trail
                    if x <= old.count { trail = Trail(.delete(old[x - 1]), previous: trail) }
                }
                var y = x - k
                while x < old.count, y < new.count, old[x].matches(new[y]) {
                    trail = Trail(.keep(old[x]), previous: trail)
                    x += 1
                    y += 1
                }
                if x >= old.count, y >= new.count { return collect(trail) }
                furthest[k] = (x, trail)
            }
        }
        return []
    }

    private func collect(_ last: Trail?) -> [Edit] {
        var result: [Edit] = []
        var current = last
        while let trail = current {
            result.append(trail.edit)
            current = trail.previous
        }
        return result.reversed()
    }
}

final class Hunk {
    var oldStart: Int
    var newStart: Int
    var edits: [Edit] = []
    init(oldStart: Int, newStart: Int) {
        self.oldStart = oldStart
        self.newStart = newStart
    }

    var text: String {
        let body = edits.map { edit -> String in
            switch edit {
            case .keep(let line): return " " + line.text
            case .insert(let line): return "+" + line.text
            case .delete(let line): return "-" + line.text
            }
        }
        return "@@ -\(oldStart + 1) +\(newStart + 1) @@\n" + body.joined(separator: "\n")
    }
}

func hunks(_ edits: [Edit], context: Int) -> [Hunk] {
    var result: [Hunk] = []
    var open: Hunk?
    var recent: [Edit] = []
    var quiet = 0, oldLine = 0, newLine = 0
    for edit in edits {
        if case .keep = edit {
            if let hunk = open {
                hunk.edits.append(edit)
                quiet += 1
                if quiet == context { open = nil; recent = [] }
            } else {
                recent.append(edit)
                if recent.count > context { recent.removeFirst() }
            }
            oldLine += 1
            newLine += 1
        } else {
            if open == nil {
                let hunk = Hunk(oldStart: oldLine - recent.count, newStart: newLine - recent.count)
                hunk.edits = recent
                result.append(hunk)
                open = hunk
            }
            quiet = 0
            open?.edits.append(edit)
            if case .insert = edit { newLine += 1 } else { oldLine += 1 }
        }
    }
    return result
}

func apply(_ hunks: [Hunk], to lines: [Line]) -> [String] {
    var output: [String] = []
    var position = 0
    for hunk in hunks {
        while position < hunk.oldStart { output.append(lines[position].text); position += 1 }
        for edit in hunk.edits {
            switch edit {
            case .keep(let line): output.append(line.text); position += 1
            case .insert(let line): output.append(line.text)
            case .delete: position += 1
            }
        }
    }
    output += lines[position...].map(\.text)
    return output
}

struct Mutator {
    var seed: UInt64
    mutating func roll(_ sides: UInt64) -> Int {
        seed = seed &* 2_862_933_555_777_941_757 &+ 3_037_000_493
        return Int(seed >> 32 % sides)
    }

    mutating func revise(_ lines: [String], revision: Int) -> [String] {
        var result: [String] = []
        for line in lines {
            switch roll(24) {
            case 0: continue
            case 1: result += [line, "added in revision \(revision), \(roll(1000))"]
            case 2: result.append(line + " (rev \(revision))")
            default: result.append(line)
            }
        }
        return result
    }
}

var mutator = Mutator(seed: 11)
var current = (0..<600).map { "line \($0): \(String(UInt64($0) &* 2_654_435_761, radix: 36))" }
var added = 0, removed = 0, hunkCount = 0, patchBytes = 0, verified = 0
for revision in 1...300 {
    let next = mutator.revise(current, revision: revision)
    let diff = MyersDiff(old: current.map(Line.init), new: next.map(Line.init))
    let edits = diff.edits()
    for edit in edits {
        if case .insert = edit { added += 1 }
        if case .delete = edit { removed += 1 }
    }
    let patch = hunks(edits, context: 3)
    hunkCount += patch.count
    patchBytes += patch.reduce(0) { $0 + $1.text.utf8.count }
    if apply(patch, to: diff.old) == next { verified += 1 }
    current = next
}
print("revisions verified \(verified), +\(added) -\(removed), hunks \(hunkCount), patch \(patchBytes) bytes, final \(current.count) lines")
