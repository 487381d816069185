// A Swift program of many parts: classes, closures, strings, generics, weak references, errors, JSON.
import Foundation

struct Record: Codable { var id: Int; var name: String; var tags: [String] }
enum Refusal: Error { case no(Int) }

final class Node {
  var children: [Node] = []
  weak var parent: Node?
  let label: String
  init(_ label: String, parent: Node? = nil) { self.label = label; self.parent = parent }
}

func tree(_ depth: Int, _ parent: Node?) -> Node {
  let node = Node("a node at the depth of \(depth)", parent: parent)
  if depth > 0 { node.children = (0..<3).map { _ in tree(depth - 1, node) } }
  return node
}

let root = tree(6, nil)
var counted = 0
func visit(_ node: Node) {
  counted += node.parent?.children.count ?? 0
  node.children.forEach(visit)
}
visit(root)

var refusals = 0
for number in 0..<200 {
  do { if number % 3 == 0 { throw Refusal.no(number) } } catch { refusals += 1 }
}

let records = (0..<500).map { Record(id: $0, name: "record number \($0)", tags: ["one", "two", "a much longer tag \($0)"]) }
let data = try JSONEncoder().encode(records)
let back = try JSONDecoder().decode([Record].self, from: data)
let makers = (0..<100).map { number in { number * counted } }
print(counted, refusals, data.count, back.last!.name, makers.reduce(0) { $0 + $1() })
FileHandle.standardError.write(Data("written to standard error\n".utf8))
