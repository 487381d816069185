import Foundation

struct Posting {
    let account: Int
    let cents: Int
    let memo: String
}

final class DocumentNode {
    let title: String
    private weak var parent: DocumentNode?
    private(set) var children: [DocumentNode] = []
    private var postings: [Posting] = []

    lazy var path: String = {
        guard let parent = self.parent else { return self.title }
        return parent.path + " / " + self.title
    }()

    lazy var total: Int = {
        postings.reduce(0) { $0 + $1.cents } + children.reduce(0) { $0 + $1.total }
    }()

    lazy var formatPosting: (Posting) -> String = { [unowned self] posting in
        let amount = "\(posting.cents / 100).\(posting.cents % 100)"
        return "\(self.path.count)|\(posting.account)|\(amount)|\(posting.memo)"
    }

    init(title: String) {
        self.title = title
    }

    func addChild(_ title: String) -> DocumentNode {
        let child = DocumentNode(title: title)
        child.parent = self
        children.append(child)
        return child
    }

    func post(_ posting: Posting) {
        postings.append(posting)
    }

    func render(into text: inout String, depth: Int = 0) {
        let indent = String(repeating: "  ", count: depth)
        text += "\(indent)\(path)  \(total)\n"
        for posting in postings {
            text += indent + "  " + formatPosting(posting) + "\n"
        }
        for child in children {
            child.render(into: &text, depth: depth + 1)
        }
    }
}

struct StatementBuilder {
    func build(period: Int, departments: Int) -> DocumentNode {
        let root = DocumentNode(title: "Statement \(period)")
        for department in 0..<departments {
            let node = root.addChild("Department \(department)")
            for team in 0..<3 {
                let leaf = node.addChild("Team \(team)")
                for n in 0..<8 {
                    leaf.post(Posting(account: 4_000 + n, cents: (n * 7_919 + period * 131) % 90_000, memo: "posting \(n)"))
                }
            }
        }
        return root
    }
}

func yearEnd() -> String {
    let builder = StatementBuilder()
    var characters = 0
    var volume = 0
    for period in 0..<10 {
        let document = builder.build(period: period, departments: 5)
        var text = ""
        document.render(into: &text)
        characters += text.count
        volume += document.total
        Thread.sleep(forTimeInterval: 0.06)
    }
    return "periods 10, characters \(characters), volume \(volume)"
}

print(yearEnd())
