final class Line {
  let words: [Int]
  init(_ words: [Int]) { self.words = words }
}

nonisolated(unsafe) var kept: [Line] = []
