// Leaks cycles, and waits in a named thread and in the main one; needs no more than the C library and Swift's own.
// ready PROCESS

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

func standInContainer() -> Never { while true { sleep(1000) } }

for _ in 0..<20 { visit() }
var thread = pthread_t()
pthread_create(&thread, nil, { _ in standInContainer() }, nil)
setvbuf(stdout, nil, _IONBF, 0)
print("ready \(getpid())")
while true { sleep(1000) }
