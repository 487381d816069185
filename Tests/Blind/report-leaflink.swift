import Foundation

final class ScopeLink {
    let values: [String: String]
    private var parent: ScopeLink?
    private var children: [ScopeLink] = []

    init(values: [String: String]) {
        self.values = values
    }

    func extend(with values: [String: String]) -> ScopeLink {
        let child = ScopeLink(values: values)
        child.parent = self
        children.append(child)
        return child
    }

    func lookup(_ key: String) -> String? {
        if let value = values[key] { return value }
        return parent?.lookup(key)
    }
}

enum Fragment {
    case raw(String)
    case variable(String)
    indirect case loop(count: Int, body: [Fragment])
}

struct Renderer {
    let fragments: [Fragment]

    func render(_ scope: ScopeLink) -> String {
        var output = ""
        emit(fragments, scope, &output)
        return output
    }

    private func emit(_ list: [Fragment], _ scope: ScopeLink, _ output: inout String) {
        for fragment in list {
            switch fragment {
            case .raw(let text):
                output += text
            case .variable(let key):
                output += scope.lookup(key) ?? ""
            case .loop(let count, let body):
                for index in 0..<count {
                    let inner = scope.extend(with: ["index": String(index)])
                    emit(body, inner, &output)
                }
            }
        }
    }
}

let page = Renderer(fragments: [
    .raw("<h1>"), .variable("title"), .raw("</h1><ul>"),
    .loop(count: 4, body: [
        .raw("<li>"), .variable("title"), .raw("-"), .variable("index"), .raw("</li>"),
    ]),
    .raw("</ul>"),
])

func renderPages(_ total: Int) -> Int {
    var length = 0
    for number in 0..<total {
        let root = ScopeLink(values: ["title": "Page \(number)"])
        length += page.render(root).count
        usleep(3_000)
    }
    return length
}

print("rendered 104 pages, \(renderPages(104)) characters")
