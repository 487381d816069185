// The protocol of the corpus's programs; see Tests/Corpus/Program.swift.

protocol FaultyProgram {
  static func faulty()
  static func correct()
}

nonisolated(unsafe) private var workDone = 0

@inline(never) func note(_ value: Int) { workDone = workDone &* 31 &+ value }
