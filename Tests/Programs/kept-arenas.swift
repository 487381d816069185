// Keeps little of what it allocated, so that its allocator holds much, and waits while it is looked at from outside.
// Prints what the allocator says of itself. Argument: pinned (one object stands behind all that is free), arenas (threads
// have freed what they had), or mapped (large blocks are in use).

import Foundation

final class Pin {
  let number: Int
  init(_ number: Int) { self.number = number }
}

nonisolated(unsafe) var pins: [Pin] = []
nonisolated(unsafe) var blocks: [UnsafeMutableRawPointer] = []
let lock = NSLock()

func makeBlocks(_ count: Int, size: Int) -> [UnsafeMutableRawPointer] {
  (0..<count).map { _ in
    let block = malloc(size)!
    memset(block, 1, size)
    return block
  }
}

let kind = CommandLine.arguments[1]
setvbuf(stdout, nil, _IONBF, 0)
pins.reserveCapacity(100)
switch kind {
case "pinned":
  let freed = makeBlocks(128 * 1024, size: 1000)
  pins.append(Pin(1))
  freed.forEach { free($0) }
case "arenas":
  let (began, finished) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  for number in 1...12 {
    Thread.detachNewThread {
      let freed = makeBlocks(10 * 1024, size: 1000)
      lock.withLock { pins.append(Pin(number)) }
      began.signal()
      // Each has an arena of its own only while all are there.
      finished.wait()
      freed.forEach { free($0) }
      began.signal()
      while true { sleep(1000) }
    }
  }
  for _ in 1...12 { began.wait() }
  for _ in 1...12 { finished.signal() }
  for _ in 1...12 { began.wait() }
default:
  // The limit above which blocks are mapped rises when such a block is freed.
  mallopt(M_MMAP_THRESHOLD, 1 << 20)
  blocks = makeBlocks(40, size: 3 << 20)
  pins.append(Pin(1))
}
let figures = mallinfo2()
print("arena \(figures.arena) used \(figures.uordblks) free \(figures.fordblks) mapped \(figures.hblkhd)")
print("ready \(getpid())")
while true { sleep(1000) }
