// Makes tasks in reused memory, and prints how many have the former contents in their reserved word, which the runtime never writes.
import Glibc

private let mark: UInt8 = 0x5A

/// Leaves marks in memory of all sizes that a task may have.
private func markMemory() {
  var blocks: [UnsafeMutableRawPointer] = []
  for size in stride(from: 200, through: 1040, by: 16) {
    for _ in 0..<30 {
      guard let block = malloc(size) else { continue }
      memset(block, Int32(mark), size)
      blocks.append(block)
    }
  }
  blocks.forEach { free($0) }
}

private func isMarked(_ task: Task<Int, Never>) -> Bool {
  let reserved = 72
  return withExtendedLifetime(task) { unsafeBitCast(task, to: UnsafeRawPointer.self).load(fromByteOffset: reserved, as: UInt8.self) == mark }
}

// Not inlined, so that the compiler can remove neither the dead writes nor the reads of uninitialised memory.
@inline(never) private func allocate(_ size: Int) -> UnsafeMutableRawPointer? { malloc(size) }

@inline(never) private func fill(_ block: UnsafeMutableRawPointer, _ size: Int) { memset(block, Int32(mark), size) }

/// The number of marked bytes in a block that was freed and allocated again.
private func markedBytes() -> Int {
  let size = 304
  guard let block = allocate(size) else { return 0 }
  fill(block, size)
  free(block)
  guard let again = allocate(size) else { return 0 }
  defer { free(again) }
  return UnsafeRawBufferPointer(start: again, count: size).filter { $0 == mark }.count
}

@main enum Program {
  static func main() async {
    markMemory()
    var tasks: [Task<Int, Never>] = []
    var marked = 0
    for number in 0..<20 {
      let task = Task { () -> Int in
        await Task.yield()
        return number
      }
      if isMarked(task) { marked += 1 }
      tasks.append(task)
    }
    var sum = 0
    for task in tasks { sum += await task.value }
    let isOwnMemoryMarked = markedBytes() > 200
    print("marked tasks \(marked), own memory \(isOwnMemoryMarked ? "marked" : "clear"), sum \(sum)")
  }
}
