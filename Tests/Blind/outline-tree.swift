import Foundation

final class OutlineNode {
    let title: String
    var isExpanded = false
    private(set) var badge = 0

    init(title: String) { self.title = title }

    func update(badge: Int) { self.badge = badge }
}

final class NodeListener {
    private let node: OutlineNode
    private let keyword: String

    init(node: OutlineNode, keyword: String) {
        self.node = node
        self.keyword = keyword
    }

    func contentChanged(_ text: String) {
        if text.contains(keyword) { node.update(badge: node.badge + 1) }
    }
}

final class OutlineRoot {
    private(set) var children: [OutlineNode] = []
    private var listeners: [NodeListener] = []

    func add(_ node: OutlineNode, keyword: String) {
        children.append(node)
        listeners.append(NodeListener(node: node, keyword: keyword))
    }

    func remove(_ node: OutlineNode) {
        children.removeAll { $0 === node }
    }

    func contentChanged(_ text: String) {
        for listener in listeners { listener.contentChanged(text) }
    }

    var badges: Int { children.reduce(0) { $0 + $1.badge } }
}

final class SearchPane {
    private let root: OutlineRoot
    private var shown: [OutlineNode] = []

    init(root: OutlineRoot) { self.root = root }

    func show(results: [String]) {
        for node in shown { root.remove(node) }
        shown = results.map { OutlineNode(title: $0) }
        for node in shown {
            node.isExpanded = node.title.count % 2 == 0
            root.add(node, keyword: String(node.title.suffix(2)))
        }
    }

    func clear() { show(results: []) }
}

let root = OutlineRoot()
let pane = SearchPane(root: root)
var badges = 0
for query in 0..<26 {
    pane.show(results: (0..<5).map { "result \(query).\($0)" })
    for edit in 0..<4 {
        root.contentChanged("edited section \(query).\(edit)")
    }
    badges += root.badges
}
pane.clear()
print("badges \(badges) visible \(root.children.count)")
