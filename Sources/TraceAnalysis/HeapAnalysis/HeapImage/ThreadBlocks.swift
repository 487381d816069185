// The C library's memory of a thread: its description, and its thread-local variables.

import TraceReading

/// Where the C library keeps the description and the variables of a thread, relative to the thread pointer.
///
/// On x86-64, the variables lie below the thread pointer, and the description begins at it. On arm64, the description
/// ends at the thread pointer. Two words are at the thread pointer, and the variables follow. Source: glibc 2.41,
/// sysdeps/x86_64/nptl/tls.h and sysdeps/aarch64/nptl/tls.h.
struct ThreadBlocks {
  let isArm64: Bool
  /// Bytes below the thread pointer that belong to the description or the variables.
  let bytesBelow: UInt64
  /// Bytes from the thread pointer on that belong to the description or the variables.
  let bytesAbove: UInt64
  /// On arm64: the distance from the description's mark to the thread pointer. Nil if no thread shows it.
  private let markDistance: UInt64?
  private let image: HeapImage
  private var pageSize: UInt64 { image.kernelPageSize }

  /// More bytes than a description has. Seen: 2,304 bytes on x86-64 with glibc 2.36, 1,824 on arm64 with glibc 2.41.
  private static let longestDescription: UInt64 = 4096
  /// The two words at the thread pointer of arm64.
  private static let headOfArm64: UInt64 = 16
  /// More than any recorder writes. A damaged trace may state anything.
  private static let mostBytesOfVariables: UInt64 = 1 << 30
  /// Distance from the start of the description to its mark on arm64. Source: glibc 2.31 to 2.43, nptl/descr.h (struct
  /// pthread: robust_prev, after 24 words, a list of 2 words, and 2 numbers of 4 bytes).
  private static let markOffset: UInt64 = 216

  /// Linear in the bytes of the threads' descriptions.
  init(_ snapshot: TraceSnapshot, image: HeapImage) {
    self.image = image
    isArm64 = snapshot.isArm64
    guard isArm64 else {
      (bytesBelow, bytesAbove, markDistance) = (snapshot.staticTLSSize, Self.longestDescription, nil)
      return
    }
    markDistance = snapshot.threads.lazy.compactMap { Self.markDistance(below: $0.threadPointer, image) }.first
    bytesBelow = markDistance.map { $0 + Self.markOffset } ?? Self.longestDescription
    bytesAbove = min(max(snapshot.staticTLSSize, Self.headOfArm64), Self.mostBytesOfVariables)
  }

  /// Returns the addresses of a thread's description and variables, inside the range of their memory.
  func range(threadPointer: UInt64, in memory: Range<UInt64>) -> Range<UInt64> {
    threadPointer - min(bytesBelow, threadPointer - memory.lowerBound)..<min(memory.upperBound, end(threadPointer))
  }

  /// Returns the end of a thread's description and variables.
  func end(_ threadPointer: UInt64) -> UInt64 {
    let (end, overflow) = threadPointer.addingReportingOverflow(bytesAbove)
    return overflow ? .max : end
  }

  /// Returns where the frames of the stack with this thread pointer begin.
  func stackStart(_ threadPointer: UInt64) -> UInt64 {
    isArm64 ? threadPointer - min(threadPointer, bytesBelow) : threadPointer
  }

  /// Returns the end of the last page of a stack with these blocks at its top.
  func stackEnd(_ threadPointer: UInt64) -> UInt64 {
    let size = isArm64 ? bytesAbove : Self.descriptionSizeOfX86
    let (end, overflow) = threadPointer.addingReportingOverflow(size + pageSize - 1)
    return (overflow ? .max : end) & ~(pageSize - 1)
  }

  /// Other versions have the same size, or a slightly smaller one that ends in the same page. Source: glibc 2.36,
  /// nptl/descr.h (struct pthread).
  private static let descriptionSizeOfX86: UInt64 = 0x900

  // MARK: Exited threads

  /// Offset from the thread pointer of the word with the address of the thread's table of thread-local variables. A new
  /// thread on this stack takes over the table. Source: glibc 2.36, sysdeps/x86_64/nptl/tls.h and
  /// sysdeps/aarch64/nptl/tls.h (tcbhead_t), and nptl/allocatestack.c (get_cached_stack).
  var vectorOffset: UInt64 { isArm64 ? 0 : 8 }

  /// The addresses, relative to the thread pointer, where the fields of the stack may be.
  func stackFields(_ threadPointer: UInt64) -> Range<UInt64>? {
    if isArm64 { return stackStart(threadPointer)..<threadPointer }
    let (end, overflow) = threadPointer.addingReportingOverflow(Self.descriptionSizeOfX86)
    return overflow ? nil : threadPointer + Self.firstStackFieldOfX86..<end
  }

  private static let firstStackFieldOfX86: UInt64 = 0x200

  /// The most bytes between the thread pointer and the end of its stack.
  var mostBytesToStackEnd: UInt64 { (isArm64 ? bytesAbove : 0) + 2 * pageSize }

  /// Returns the thread pointer if a word is the mark of a thread's description; otherwise nil. Each description has a
  /// few words that hold their own addresses, or the address of the next word.
  func threadPointer(markedBy value: UInt64, at address: UInt64) -> UInt64? {
    if isArm64 {
      guard let markDistance, Self.isMark(value, at: address, image) else { return nil }
      return address &+ markDistance
    }
    return value == address && image.word(at: address &+ 16) == address ? address : nil
  }

  /// Returns whether a thread's description belongs to a thread pointer.
  func isDescribed(_ threadPointer: UInt64) -> Bool {
    let address = isArm64 ? threadPointer &- (markDistance ?? 0) : threadPointer
    return image.word(at: address).map { self.threadPointer(markedBy: $0, at: address) == threadPointer } ?? false
  }

  /// The list of a thread's robust mutexes is empty, except in a thread that holds one: its end and its start are the
  /// same word, which holds its own address.
  private static func isMark(_ value: UInt64, at address: UInt64, _ image: HeapImage) -> Bool {
    value == address &+ 8 && image.word(at: address &+ 8) == value
  }

  private static func markDistance(below threadPointer: UInt64, _ image: HeapImage) -> UInt64? {
    guard threadPointer > longestDescription else { return nil }
    var distance: UInt64?
    image.forEachWord(in: threadPointer - longestDescription..<threadPointer) { address, value in
      if isMark(value, at: address, image) { distance = threadPointer - address }
    }
    return distance
  }
}
