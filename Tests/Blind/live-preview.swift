import Foundation
import Dispatch

// Markdown preview: each change re-renders the page after a short quiet period.

enum Block {
    case heading(level: Int, text: String)
    case item(String)
    case paragraph(String)
    case code([String])
}

struct MarkdownParser {
    func parse(_ source: String) -> [Block] {
        var blocks: [Block] = []
        var fence: [String]?
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let lines = fence {
                    blocks.append(.code(lines))
                    fence = nil
                } else {
                    fence = []
                }
            } else if fence != nil {
                fence?.append(String(line))
            } else if line.hasPrefix("#") {
                let level = line.prefix { $0 == "#" }.count
                blocks.append(.heading(level: level, text: line.dropFirst(level).trimmingCharacters(in: .whitespaces)))
            } else if line.hasPrefix("- ") {
                blocks.append(.item(String(line.dropFirst(2))))
            } else if !line.isEmpty {
                blocks.append(.paragraph(String(line)))
            }
        }
        return blocks
    }

    func html(_ blocks: [Block]) -> String {
        blocks.map { block in
            switch block {
            case .heading(let level, let text): return "<h\(level)>\(text)</h\(level)>"
            case .item(let text): return "<li>\(inline(text))</li>"
            case .paragraph(let text): return "<p>\(inline(text))</p>"
            case .code(let lines): return "<pre>\(lines.joined(separator: "\n"))</pre>"
            }
        }.joined(separator: "\n")
    }

    private func inline(_ text: String) -> String {
        text.components(separatedBy: "**").enumerated()
            .map { $0.offset % 2 == 1 ? "<b>\($0.element)</b>" : $0.element }.joined()
    }
}

final class PreviewController: @unchecked Sendable {
    private let queue = DispatchQueue(label: "preview.render")
    private let parser = MarkdownParser()
    private let quietPeriod: DispatchTimeInterval
    private var source: [String] = []
    private var pendingRender: DispatchWorkItem?
    private var page = ""
    private var renders = 0

    init(quietPeriod: DispatchTimeInterval) { self.quietPeriod = quietPeriod }

    func replaceLine(_ number: Int, with text: String) {
        queue.sync {
            while source.count <= number { source.append("") }
            source[number] = text
            pendingRender?.cancel()
            let render = DispatchWorkItem { [weak self] in self?.render() }
            pendingRender = render
            queue.asyncAfter(deadline: .now() + quietPeriod, execute: render)
        }
    }

    private func render() {
        page = parser.html(parser.parse(source.joined(separator: "\n")))
        renders += 1
        pendingRender = nil
    }

    func finish() -> (lines: Int, bytes: Int, rendered: Bool) {
        queue.sync {
            let before = renders
            pendingRender?.cancel()
            render()
            return (source.count, page.utf8.count, before > 0)
        }
    }
}

let preview = PreviewController(quietPeriod: .milliseconds(15))
let nouns = ["gateway", "cluster", "volume", "replica", "snapshot"]

for step in 0..<160 {
    let line = (step * 7) % 60
    for key in 0..<8 {
        let noun = nouns[(step + key) % nouns.count]
        let text: String
        switch line % 6 {
        case 0: text = "## The \(noun) \(step)"
        case 3: text = "- check the **\(noun)** \(key) times"
        default: text = "A paragraph on the \(noun) with **bold \(key)** words."
        }
        preview.replaceLine(line, with: text)
    }
    usleep(step % 20 == 19 ? 25_000 : 4_500)
}
let result = preview.finish()
print("lines \(result.lines), page \(result.bytes) bytes, live \(result.rendered)")
