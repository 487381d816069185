@main enum App {
  static func main() {
    kept.reserveCapacity(200)
    for number in 0..<200 { kept.append(Line(Array(0..<number % 8 + 40))) }
    for line in kept { note(longest(line)) }
  }

  @inline(never) static func longest(_ line: Line) -> Int {
    var result = 0
    for word in line.words where word & 1 == 0 { result = max(result, word) }
    return result
  }
}
