// Keeps a known amount of memory, and writes the heap profile that the library makes of it to a file.

import Glibc
import LeakTrace

@inline(never) func keepForever(_ count: Int) -> [UnsafeMutableRawPointer] {
  (0..<count).map { _ in malloc(10_000)! }
}

@inline(never) func throwAway(_ count: Int) {
  for block in keepForever(count) { free(block) }
}

let kept = keepForever(2_000)
throwAway(1_000)
let profile = LeakTrace.heapProfile()
if let profile {
  let file = fopen(CommandLine.arguments[1], "w")!
  fwrite(profile, 1, profile.count, file)
  fclose(file)
}
print(profile == nil ? "no profile" : "a profile", kept.count)
