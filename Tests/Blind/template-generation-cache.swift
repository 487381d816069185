// Mail merge: compiles message templates and renders them for recipients.
import Foundation

enum Piece {
    case literal(String)
    case field(String)
}

final class CompiledTemplate {
    let source: String
    let pieces: [Piece]

    init(source: String) {
        self.source = source
        var pieces: [Piece] = []
        var rest = Substring(source)
        while let open = rest.range(of: "{{") {
            pieces.append(.literal(String(rest[..<open.lowerBound])))
            rest = rest[open.upperBound...]
            guard let close = rest.range(of: "}}") else { break }
            pieces.append(.field(String(rest[..<close.lowerBound])))
            rest = rest[close.upperBound...]
        }
        pieces.append(.literal(String(rest)))
        self.pieces = pieces
    }

    func render(_ values: [String: String]) -> String {
        pieces.map { piece in
            switch piece {
            case .literal(let text): return text
            case .field(let name): return values[name] ?? "?"
            }
        }.joined()
    }
}

/// Two generations: young entries that are used again survive a rotation.
final class GenerationCache<Value: AnyObject> {
    private var young: [String: Value] = [:]
    private var old: [String: Value] = [:]
    private let limit: Int
    private(set) var rotations = 0

    init(limit: Int) { self.limit = limit }

    func value(for key: String, make: () -> Value) -> Value {
        if let value = young[key] { return value }
        let value = old[key] ?? make()
        young[key] = value
        if young.count >= limit {
            old = young
            young = [:]
            rotations += 1
        }
        return value
    }

    var count: Int { young.count + old.count }
}

final class MailMerge {
    private let templates = GenerationCache<CompiledTemplate>(limit: 50)
    private(set) var compiled = 0
    private(set) var bytes = 0

    func send(_ source: String, to recipient: [String: String]) {
        let template = templates.value(for: source) {
            compiled += 1
            return CompiledTemplate(source: source)
        }
        bytes += template.render(recipient).utf8.count
    }

    var summary: String {
        "compiled \(compiled), rotations \(templates.rotations), cached \(templates.count), bytes \(bytes)"
    }
}

let merge = MailMerge()
let standing = "Dear {{name}}, your membership {{number}} is due."
for campaign in 0..<1200 {
    let source = "Hello {{name}}, offer \(campaign): {{discount}}% until \(campaign % 28 + 1) May."
    for r in 0..<3 {
        merge.send(source, to: ["name": "Member \(r)", "discount": "\(5 + campaign % 20)"])
        merge.send(standing, to: ["name": "Member \(r)", "number": "\(1000 + r)"])
    }
    if campaign % 80 == 0 { usleep(4000) }
}
print("mail merge: \(merge.summary)")
