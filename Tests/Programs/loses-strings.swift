// Asks the C library for copies of strings, and frees none.

import Glibc

nonisolated(unsafe) var sum = 0

@inline(never) func answer(_ number: Int) {
  guard let copy = strdup("an answer with a number in it, long enough: \(number + 10_000_000)") else { return }
  sum &+= Int(copy[0])
}

for number in 0..<50_000 { answer(number) }
print(sum)
