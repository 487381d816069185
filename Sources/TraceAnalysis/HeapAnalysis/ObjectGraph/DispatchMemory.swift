// Memory that libdispatch keeps for later, with the words that its last use left in it.

import TraceReading

/// Free continuations of libdispatch. A thread keeps some hundred of its finished continuations in a list of its own,
/// and reuses them. They hold one another and nothing else.
///
/// A continuation is a block of 64 bytes from calloc. It begins with flags, or with the address of a table of
/// functions. In a list, the second word is the number of continuations after it. At 16 is the next continuation, at 32
/// the function, at 40 its context, and at 48 data. A continuation with a table uses the word at 56 as well. A list
/// begins in a thread-local variable.
///
/// A continuation from the list keeps the words of its last use until a queue writes another link. A continuation made
/// by dispatch_after is in no queue, and has flags: it uses only the function, the context and the data. The data is
/// the source that it made for the timer, whose record, at 88, has the continuation for its handler, at 40.
///
/// Source: swiftlang/swift-corelibs-libdispatch, src/queue_internal.h, src/inline_internal.h, src/source.c and
/// src/shims/tsd.h; seen with Swift 6.1.2, 6.2.3 and 6.3.1.
struct DispatchMemory {
  /// By block: a continuation that is free.
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
  /// By bytes from its start: the context and the data of a continuation that waits for a timer.
  static let timerWords: Range<UInt64> = 40..<56
  /// Offsets of a source's record, and of the record's handler.
  private static let recordOffset: UInt64 = 88
  private static let handlerOffset: UInt64 = 40

  /// - Parameters:
  ///   - isCalloc: whether a block came from calloc, as far as is known, and is no object.
  ///   - isListed: whether a block's allocation was not recorded.
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

  /// The continuation after a free one.
  func next(after continuation: BlockID) -> BlockID? {
    image.word(at: heap[continuation].address &+ Self.nextOffset).flatMap { self.continuation(at: $0) }
  }

  /// Returns whether a block is a continuation that waits for a timer. All its words except `timerWords` are then left
  /// over from earlier uses, or lead to code.
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
    // A continuation that resumed a task has no function. Its link to another continuation identifies it.
    return image.word(at: continuation &+ Self.nextOffset).map { self.continuation(at: $0) != nil } ?? false
  }
}
