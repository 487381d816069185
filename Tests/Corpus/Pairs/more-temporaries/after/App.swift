@main enum App {
  static func main() {
    kept.reserveCapacity(200)
    for number in 0..<200 { kept.append(Line(Array(0..<number % 8 + 40))) }
    for line in kept { note(longest(line)) }
  }

  @inline(never) static func longest(_ line: Line) -> Int {
    var result = 0
    for word in even(line.words) { result = max(result, word) }
    return result
  }

  @inline(never) static func even(_ words: [Int]) -> Set<Int> {
    var result = Set<Int>(minimumCapacity: words.count)
    for word in words where word & 1 == 0 { result.insert(word) }
    return result
  }
}
