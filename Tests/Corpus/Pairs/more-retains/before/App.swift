@main enum App {
  static func main() {
    let first = makeList(100)
    let cursor = Cursor(first)
    for _ in 0..<20 { note(sum(first)) }
    note(cursor.current.value)
  }

  @inline(never) static func sum(_ node: Node) -> Int {
    guard let next = node.next else { return node.value }
    return node.value + sum(next)
  }
}
