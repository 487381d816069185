// Leaks twenty cycles and ends; with the argument `wait` it says `ready PROCESS` and waits. Needs no Foundation.

import Glibc

final class Visit {
  var next: Visit?
  var note = "a note that is too long to stand inside of the string itself"
}

func visit() {
  let (first, second) = (Visit(), Visit())
  first.next = second
  second.next = first
}

for _ in 0..<20 { visit() }
if CommandLine.arguments.contains("wait") {
  setvbuf(stdout, nil, _IONBF, 0)
  print("ready \(getpid())")
  while true { sleep(1000) }
}
