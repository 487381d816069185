// Keeps few of its allocations, so that its allocator holds much free memory, and waits while it is inspected. Prints
// the allocator's own figures. Argument: pinned (one object lies above all free blocks), arenas (threads have freed
// their blocks), or mapped (large blocks are in use).

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

/// A function of libc's that Swift's module of it lacks.
func function<Type>(_ name: String, as type: Type.Type) -> Type {
  unsafeBitCast(dlsym(nil, name)!, to: type)
}

let kind = CommandLine.arguments[1]
setvbuf(stdout, nil, _IONBF, 0)
pins.reserveCapacity(100)
switch kind {
case "pinned":
  // The first pins fill memory that is free already; the last one lies above the blocks.
  var many: [Pin] = []
  many.reserveCapacity(100_000)
  let freed = makeBlocks(128 * 1024, size: 1000)
  for number in 1...100_000 { many.append(Pin(number)) }
  pins.append(many.removeLast())
  many = []
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
  let threshold: Int32 = -3
  _ = function("mallopt", as: (@convention(c) (Int32, Int32) -> Int32).self)(threshold, 1 << 20)
  blocks = makeBlocks(40, size: 3 << 20)
  pins.append(Pin(1))
}
// A structure of ten numbers, which is returned through a pointer in the first argument's place.
let figures = UnsafeMutablePointer<Int>.allocate(capacity: 10)
_ = function("mallinfo2", as: (@convention(c) (UnsafeMutablePointer<Int>) -> UnsafeMutablePointer<Int>).self)(figures)
print("arena \(figures[0]) used \(figures[7]) free \(figures[8]) mapped \(figures[4])")
print("ready \(getpid())")
while true { sleep(1000) }
