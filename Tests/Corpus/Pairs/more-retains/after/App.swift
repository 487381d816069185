@main enum App {
  static func main() {
    let first = makeList(100)
    let cursor = Cursor(first)
    for _ in 0..<20 { note(sum(first, cursor)) }
    note(cursor.current.value)
  }

  @inline(never) static func sum(_ first: Node, _ cursor: Cursor) -> Int {
    var result = 0
    cursor.current = first
    while true {
      result += cursor.current.value
      guard let next = cursor.current.next else { return result }
      cursor.previous = cursor.current
      cursor.current = next
    }
  }
}
