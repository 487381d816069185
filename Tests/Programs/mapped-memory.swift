// Keeps objects by addresses in memory that it maps itself, and gives that memory neighbours of all kinds: stacks of
// threads, large blocks of the allocator's, other mappings. One object in a hundred is lost if asked to.

import Foundation

final class Session {
  let id: Int
  init(_ id: Int) { self.id = id }
}

/// Memory with the addresses of objects.
struct Table {
  let slots: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  let capacity: Int

  init(bytes: Int) {
    let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
    precondition(memory != MAP_FAILED)
    slots = memory.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
    capacity = bytes / 8
  }

  /// All over the memory, its first and last words included.
  @inline(never) func fill(_ count: Int) {
    for index in 0..<count {
      slots[index * (capacity - 1) / (count - 1)] = Unmanaged.passRetained(Session(index)).toOpaque()
    }
  }
}

nonisolated(unsafe) var tables: [Table] = []
nonisolated(unsafe) var buffers: [[UInt8]] = []
nonisolated(unsafe) var threads: [Thread] = []
let begun = DispatchSemaphore(value: 0)
let finished = DispatchSemaphore(value: 0)

func table(_ bytes: Int) {
  let table = Table(bytes: bytes)
  table.fill(20)
  tables.append(table)
}

for size in [8 << 10, 64 << 10, 1 << 20] {
  table(size)
  buffers.append([UInt8](repeating: 1, count: 200_000))
  table(size)
  // One thread stays, and one ends, whose stack the C library keeps.
  for ends in [false, true] {
    let thread = Thread {
      begun.signal()
      if ends { return }
      finished.wait()
    }
    thread.start()
    threads.append(thread)
    begun.wait()
    table(size)
  }
  buffers.append([UInt8](repeating: 1, count: 3_000_000))
  table(size)
}
while !threads.enumerated().allSatisfy({ $0.offset % 2 == 0 || $0.element.isFinished }) { usleep(1000) }
usleep(10_000)
if CommandLine.arguments.dropFirst().first == "leak" {
  for table in tables { table.slots[0] = nil }
}
setvbuf(stdout, nil, _IONBF, 0)
print("ready \(getpid())")
while true { sleep(1000) }
