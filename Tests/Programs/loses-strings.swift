// Asks the C library for copies of strings, and frees none. If asked to, loses one of the same size at its start.

import Glibc

nonisolated(unsafe) var sum = 0

@inline(never) func answer(_ number: Int) {
  guard let copy = strdup("an answer with a number in it, long enough: \(number + 10_000_000)") else { return }
  sum &+= Int(copy[0])
}

@inline(never) func configure() {
  guard let copy = strdup("a setting whose text is as long as that of an answer, or nearly so") else { return }
  sum &+= Int(copy[0])
}

/// More allocations than a recorder samples all of.
final class Entry {
  let number: Int
  init(_ number: Int) { self.number = number }
}
nonisolated(unsafe) var entries: [Entry] = []

if CommandLine.arguments.dropFirst().first == "early" {
  configure()
  for number in 0..<20_000 { entries.append(Entry(number)) }
  for number in 0..<1_500 { answer(number) }
} else {
  for number in 0..<50_000 { answer(number) }
}
print(sum, entries.count)
