// Words of a task's memory that have not been written yet.

import TraceReading

/// The words of tasks that still hold the contents of earlier uses of their memory.
///
/// A task's memory has these parts, in this order:
///
/// - a header;
/// - parts that depend on the kind of task: its parent, its group, the future with its result;
/// - a prefix for the task's function;
/// - the context of that function, at an address that is a multiple of 16.
///
/// Byte offsets in the header: 56 the address where the task resumes, 64 the context it resumes with, 72 a reserved
/// word. The runtime's private part follows these words. It has the allocator of frames at 112.
///
/// The prefix has, backwards from the context: an error, which is written when the task ends; the closure context with
/// the captures; the function; and the address of the result, if the task has one. The context begins with the address
/// of its parent, which is nil, and the address where execution resumes when the function ends. The task's function
/// writes the rest of the context.
///
/// A task that has not begun resumes at one of two adapters of the runtime, which call the task's function. The runtime
/// exports the adapters' addresses for debuggers. A running task has the same words until it is first suspended. So a
/// task counts as begun if a thread refers to it.
///
/// Source: swiftlang/swift, include/swift/ABI/Task.h, stdlib/public/Concurrency/Task.cpp, TaskPrivate.h and Debug.h;
/// seen with Swift 6.0.3 and 6.1.2, with a header of 192 bytes, and with 6.2.3 and 6.3.1, with a header of 208.
struct InitialTaskMemory {
  static let adapterVariables = [
    "_swift_concurrency_debug_future_adapter", "_swift_concurrency_debug_non_future_adapter",
  ]

  /// The unwritten ranges of each task in ascending order. The key is the task's block.
  private(set) var unwritten: [UInt32: [Range<UInt64>]] = [:]

  static let resumeOffset: UInt64 = 56
  static let contextOffset: UInt64 = 64
  /// The words of the header that hold no references: the flags and the number, a reserved word, and the state.
  static let plainWords: [Range<UInt64>] = [32..<40, 72..<80, 96..<104]
  private static let allocator: Range<UInt64> = 112..<128
  static let minHeaderSize: UInt64 = 192
  /// Size of a future without its result: the waiting tasks, the result's type, an error. The result follows.
  static let futureSize: UInt64 = 24
  /// These distances count backwards from the context.
  static let resultDistance: UInt64 = 32
  static let functionDistance: UInt64 = 24
  static let closureDistance: UInt64 = 16
  static let errorDistance: UInt64 = 8
  static let contextHeaderSize: UInt64 = 16

  /// - Parameters:
  ///   - tasks: tasks with blocks of their own.
  ///   - layout: the layout of the runtimes' tasks.
  ///   - variable: returns the values of the exported variable with the given name, one for each concurrency runtime of
  ///     the process.
  ///
  /// Linear in the tasks. If some task may not have begun, also linear in the words of all threads.
  init(
    tasks: [BlockID], heap: LiveHeap, image: HeapImage, roots: HeapRoots, snapshot: TraceSnapshot,
    layout: TaskLayout, variable: (String) -> [UInt64]
  ) {
    guard layout.isKnown else { return }
    for task in tasks where heap[task].size >= Self.minHeaderSize {
      let start = heap[task].address
      unwritten[task.rawValue] = Self.plainWords.map { start &+ $0.lowerBound..<start &+ $0.upperBound }
    }
    // A thread that could not be stopped may run any task.
    guard snapshot.isFrozen, !snapshot.threads.contains(where: { $0.stackPointer == nil }) else { return }
    let adapters = Self.adapterVariables.map { Set(variable($0)) }
    var waiting: [UInt32: [Range<UInt64>]] = [:]
    for task in tasks {
      if let ranges = Self.ranges(of: heap[task], image, roots, future: adapters[0], other: adapters[1]) {
        waiting[task.rawValue] = ranges
      }
    }
    guard !waiting.isEmpty else { return }
    roots.forEachWordOfThreads(in: image) { word in
      if let found = heap.block(containing: word & HeapImage.addressBits) { waiting[found.rawValue] = nil }
    }
    for (task, ranges) in waiting { unwritten[task, default: []] += ranges }
  }

  /// Returns the unwritten ranges of a task; nil unless the task's own words show that it has not begun.
  private static func ranges(
    of block: LiveBlock, _ image: HeapImage, _ roots: HeapRoots, future: Set<UInt64>, other: Set<UInt64>
  ) -> [Range<UInt64>]? {
    let (start, end) = (block.address, block.address &+ block.size)
    guard block.size >= minHeaderSize + functionDistance + contextHeaderSize, start < end,
      let resume = image.word(at: start + resumeOffset), future.contains(resume) || other.contains(resume),
      let context = image.word(at: start + contextOffset), context & 15 == 0,
      context >= start + minHeaderSize + functionDistance, context <= end - contextHeaderSize,
      image.word(at: context) == nil, image.word(at: context + 8).map({ roots.isImage($0) }) == true,
      image.word(at: context - functionDistance).map({ roots.isImage($0) }) == true,
      // A task that has allocated a frame has begun.
      image.firstWord(in: start + allocator.lowerBound..<start + allocator.upperBound) == nil
    else { return nil }
    var ranges: [Range<UInt64>] = []
    if future.contains(resume) {
      guard context >= start + minHeaderSize + futureSize + resultDistance,
        let result = image.word(at: context - resultDistance),
        result >= start + minHeaderSize + futureSize, result <= context - resultDistance
      else { return nil }
      ranges.append(result..<context - resultDistance)
    }
    ranges.append(context - errorDistance..<context)
    ranges.append(context + contextHeaderSize..<end)
    return ranges.filter { !$0.isEmpty }
  }
}
