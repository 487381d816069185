// Memory that libdispatch keeps for reuse. Words from the last use remain there.

import TraceReading

/// Free continuations of libdispatch. Each thread keeps a few hundred finished continuations in a list, and reuses
/// them. A free continuation keeps only the next one in the list alive.
///
/// A continuation is a block of 64 bytes from calloc. It begins with flags, or with the address of a function table.
/// Its fields have these byte offsets:
///
/// - 8: in a free list, the number of continuations that follow;
/// - 16: the next continuation;
/// - 32: the function;
/// - 40: the function's context;
/// - 48: data;
/// - 56: used only by continuations that begin with a function table.
///
/// A thread-local variable has the head of the list.
///
/// When a thread takes a continuation from its list, the link to the next one stays until a queue overwrites it. A
/// continuation of dispatch_after is never in a queue, and begins with flags. It uses only the function, the context
/// and the data. Its data is the source that dispatch_after makes for the timer. Byte 88 of the source has the address
/// of the timer's record. Byte 40 of the record has the address of the continuation, which is the handler.
///
/// Source: swiftlang/swift-corelibs-libdispatch, src/queue_internal.h, src/inline_internal.h, src/source.c and
/// src/shims/tsd.h; seen with Swift 6.1.2, 6.2.3 and 6.3.1.
struct DispatchMemory {
  /// Blocks that are free continuations.
  private(set) var idle: NodeSet

  private let heap: LiveHeap
  private let image: HeapImage
  private let isCalloc: (BlockID) -> Bool
  private let isListed: (LiveBlock) -> Bool

  private static let continuationSize: UInt64 = 64
  private static let countOffset: UInt64 = 8
  static let nextOffset: UInt64 = 16
  private static let functionOffset: UInt64 = 32
  private static let dataOffset: UInt64 = 48
  /// Offsets of the context and the data in a continuation that waits for a timer.
  static let timerWords: Range<UInt64> = 40..<56
  /// Offsets of the record's address in a source, and of the handler in the record.
  private static let recordOffset: UInt64 = 88
  private static let handlerOffset: UInt64 = 40

  /// - Parameters:
  ///   - isCalloc: returns whether a block that is not an object may have come from calloc.
  ///   - isListed: whether a block comes from a list of live blocks, since its allocation was not recorded.
  ///
  /// Linear in the thread-local variables and the free continuations.
  init(
    heap: LiveHeap, image: HeapImage, roots: HeapRoots, isCalloc: @escaping (BlockID) -> Bool,
    isListed: @escaping (LiveBlock) -> Bool
  ) {
    self.heap = heap
    self.image = image
    self.isCalloc = isCalloc
    self.isListed = isListed
    idle = NodeSet(bound: heap.count)
    for root in roots.roots {
      guard case .threadLocal = root.kind else { continue }
      for range in root.ranges {
        var heads: [UInt64] = []
        image.forEachWord(in: range) { heads.append($1) }
        for head in heads {
          guard let first = continuation(at: head), isFree(head, roots) else { continue }
          var next: BlockID? = first
          while let found = next, idle.insert(found.rawValue) { next = self.next(after: found) }
        }
      }
    }
  }

  /// Returns the next free continuation in the list; nil at its end.
  func next(after continuation: BlockID) -> BlockID? {
    image.word(at: heap[continuation].address &+ Self.nextOffset).flatMap { self.continuation(at: $0) }
  }

  /// Returns whether a block is a continuation that waits for a timer. Words of such a block outside `timerWords` are
  /// left over from earlier uses, or point to code.
  func waitsForTimer(_ block: BlockID) -> Bool {
    let address = heap[block].address
    guard isContinuation(block),
      let data = image.word(at: address &+ Self.dataOffset),
      let source = heap.block(containing: data), heap[source].address == data,
      heap[source].size >= Self.recordOffset + 8, isCalloc(source),
      let word = image.word(at: data &+ Self.recordOffset), let record = heap.block(containing: word),
      word &+ Self.handlerOffset &+ 8 <= heap[record].address &+ heap[record].size, isCalloc(record)
    else { return false }
    return image.word(at: word &+ Self.handlerOffset) == address
  }

  private func continuation(at address: UInt64) -> BlockID? {
    guard let found = heap.block(containing: address), heap[found].address == address,
      isContinuation(found)
    else { return nil }
    return found
  }

  private func isContinuation(_ block: BlockID) -> Bool {
    heap[block].mayHaveSize(Self.continuationSize, isListed: isListed(heap[block])) && isCalloc(block)
  }

  private func isFree(_ continuation: UInt64, _ roots: HeapRoots) -> Bool {
    guard image.word(at: continuation).map({ roots.isImage($0) }) ?? true,
      image.word(at: continuation &+ Self.countOffset) == nil
    else { return false }
    if let function = image.word(at: continuation &+ Self.functionOffset) { return roots.isImage(function) }
    // A continuation that resumed a task has no function. It is recognised by its link to another continuation.
    return image.word(at: continuation &+ Self.nextOffset).map { self.continuation(at: $0) != nil } ?? false
  }
}
