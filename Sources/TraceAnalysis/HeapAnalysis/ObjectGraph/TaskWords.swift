// Finds words of tasks that keep nothing: handles, and words left over from earlier uses of the memory.

import TraceReading

/// Distinguishes the words of a task's own block that keep their targets from the words that do not.
///
/// A waiting task keeps itself alive. Another task may have its address for one of three reasons. The other task
/// resumes it at its own end, or has a handle to it, or has a word left over from an earlier use of the memory. Words
/// that resume a task have known places: a future leads to the task that waits for its result, and a child leads to its
/// parent. Handles and left-over words look the same, and neither kind keeps a task alive. So if nothing can resume
/// several tasks, each is lost for its own reason, unless it waits for another of them.
///
/// Other words of a task may keep their targets. Three kinds of words do not, since they are not written before the
/// task ends: the error in the prefix of the task's function, storage for a result of no size, and a word after the
/// task's end. A glibc block has such a word: the size of a task is a multiple of 16, and the block has 8 bytes more.
///
/// The words around a task's initial context identify the context; see `InitialTaskMemory` for their places and the
/// source. If no context is found, every word of the task counts.
struct TaskWords {
  private struct Places {
    /// Addresses of the words that may lead to a task that this task resumes.
    var resumed: [UInt64]
    /// Ranges that have not been written.
    var unwritten: [Range<UInt64>]
  }

  private var places: [UInt32: Places] = [:]

  /// Makes an empty value, without any task.
  init() {}

  /// - Parameters:
  ///   - tasks: tasks of a known layout with blocks of their own.
  ///   - isImage: returns whether an address lies in a loaded image.
  ///   - isEmpty: returns whether values of the type whose metadata is at an address have no size.
  ///
  /// Linear in the tasks' words.
  init(
    tasks: [BlockID], heap: LiveHeap, image: HeapImage, isImage: (UInt64) -> Bool, isEmpty: (UInt64) -> Bool
  ) {
    for task in tasks { places[task.rawValue] = Self.places(of: heap[task], image, isImage, isEmpty) }
  }

  /// Returns whether a word of a task's block does not keep its target.
  func isBorrowed(_ address: UInt64, of task: UInt32, leadsToTask: Bool) -> Bool {
    guard let places = places[task] else { return false }
    return leadsToTask
      ? !places.resumed.contains(address) : places.unwritten.contains { $0.contains(address) }
  }

  private static let wordSize: UInt64 = 8
  private static let contextAlignment: UInt64 = 16
  /// Bytes from the start of a future to the type of its result.
  private static let resultTypeOffset: UInt64 = 8
  /// Size of a child's three words: the parent, the next child, the group. The future or the prefix follows.
  private static let childSize: UInt64 = 24

  private static func places(
    of block: LiveBlock, _ image: HeapImage, _ isImage: (UInt64) -> Bool, _ isEmpty: (UInt64) -> Bool
  ) -> Places? {
    typealias Layout = InitialTaskMemory
    let (start, end) = (block.address, block.address &+ block.size)
    let least = Layout.minHeaderSize + Layout.functionDistance
    guard start & (contextAlignment - 1) == 0, start < end, block.size >= least + Layout.contextHeaderSize else {
      return nil
    }
    func isContext(_ context: UInt64) -> Bool {
      image.word(at: context) == nil && image.word(at: context + wordSize).map(isImage) == true
        && image.word(at: context - Layout.functionDistance).map(isImage) == true
    }
    func result(_ context: UInt64) -> UInt64? {
      guard let result = image.word(at: context - Layout.resultDistance),
        result >= start + Layout.minHeaderSize + Layout.futureSize, result <= context - Layout.resultDistance
      else { return nil }
      return result
    }
    let contexts = stride(
      from: (start + least + contextAlignment - 1) & ~(contextAlignment - 1), through: end - Layout.contextHeaderSize,
      by: Int(contextAlignment)
    ).filter(isContext)
    var unwritten: [Range<UInt64>] = []
    var resumed: [UInt64]
    let context: UInt64
    if let found = contexts.first(where: { result($0) != nil }), let result = result(found) {
      context = found
      // If a result is aligned to 16 bytes, there may be a word of padding between its future and the result.
      let futures = [result - Layout.futureSize] + (result & 15 == 0 ? [result - Layout.futureSize - wordSize] : [])
      resumed = futures + futures.map { $0 - childSize }
      if let type = image.word(at: result - Layout.futureSize + resultTypeOffset), isEmpty(type) {
        unwritten.append(result..<found - Layout.resultDistance)
      }
    } else if let found = contexts.first {
      context = found
      resumed = [found - Layout.functionDistance - childSize]
    } else {
      return nil
    }
    unwritten.append(context - Layout.errorDistance..<context)
    if block.size % contextAlignment == wordSize { unwritten.append(end - wordSize..<end) }
    return Places(resumed: resumed, unwritten: unwritten.filter { !$0.isEmpty })
  }
}
