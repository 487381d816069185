import Foundation

final class Patch {
    let position: Int
    let text: String
    var base: Revision?

    init(position: Int, text: String, base: Revision?) {
        self.position = position
        self.text = text
        self.base = base
    }
}

final class Revision {
    let number: Int
    var snapshot: String?
    var patch: Patch?

    init(number: Int, patch: Patch?) {
        self.number = number
        self.patch = patch
    }

    func content() -> String {
        if let snapshot { return snapshot }
        guard let patch else { return "" }
        var text = patch.base?.content() ?? ""
        let index = text.index(text.startIndex, offsetBy: min(patch.position, text.count))
        text.insert(contentsOf: patch.text, at: index)
        return text
    }
}

final class WikiPage {
    let title: String
    private var head = Revision(number: 0, patch: nil)

    init(title: String) { self.title = title }

    func edit(position: Int, text: String) {
        let patch = Patch(position: position, text: text, base: head)
        head = Revision(number: head.number + 1, patch: patch)
        if head.number % 20 == 0 { compact() }
    }

    private func compact() {
        head.snapshot = String(head.content().suffix(200))
        head.patch = nil
    }

    var revision: Int { head.number }
    func text() -> String { head.content() }

    var depth: Int {
        var count = 1
        var current = head
        while let base = current.patch?.base {
            count += 1
            current = base
        }
        return count
    }
}

let pages = ["Swift", "Linux", "Memory"].map { WikiPage(title: $0) }
var read = 0
for edit in 0..<167 {
    for (n, page) in pages.enumerated() {
        page.edit(position: (edit * 7 + n) % 50, text: "<\(edit)>")
        if edit % 10 == n { read += page.text().count }
    }
}
let depth = pages.map(\.depth).max() ?? 0
print("revisions \(pages.reduce(0) { $0 + $1.revision }) read \(read) depth \(depth)")
