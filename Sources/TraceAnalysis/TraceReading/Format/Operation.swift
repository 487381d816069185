// The operations that events record.

import CTraceFormat

/// A recorded operation. Its number may be unknown to this reader. Events of unknown operations are counted, and
/// otherwise ignored.
package struct Operation: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  package var rawValue: UInt8
  @inline(__always) package init(rawValue: UInt8) { self.rawValue = rawValue }
  @inline(__always) init(_ operation: lt_operation) { rawValue = UInt8(truncatingIfNeeded: operation.rawValue) }

  /// The numbers of operations are below this limit. Control records have this number or a higher one.
  package static let limit = 48

  package static var object: Operation { .init(LT_OP_OBJECT) }
  package static var malloc: Operation { .init(LT_OP_MALLOC) }
  package static var calloc: Operation { .init(LT_OP_CALLOC) }
  package static var realloc: Operation { .init(LT_OP_REALLOC) }
  static var reallocarray: Operation { .init(LT_OP_REALLOCARRAY) }
  static var posixMemalign: Operation { .init(LT_OP_POSIX_MEMALIGN) }
  static var memalign: Operation { .init(LT_OP_MEMALIGN) }
  static var valloc: Operation { .init(LT_OP_VALLOC) }
  static var pvalloc: Operation { .init(LT_OP_PVALLOC) }
  static var operatorNew: Operation { .init(LT_OP_NEW) }
  package static var free: Operation { .init(LT_OP_FREE) }
  package static var reallocFree: Operation { .init(LT_OP_REALLOC_FREE) }
  static var reallocFailed: Operation { .init(LT_OP_REALLOC_FAILED) }
  package static var operatorDelete: Operation { .init(LT_OP_DELETE) }
  /// Ends all blocks, because a list of the existing blocks follows.
  static var heapListed: Operation { .init(LT_OP_HEAP_LISTED) }
  package static var retain: Operation { .init(LT_OP_RETAIN) }
  package static var retainN: Operation { .init(LT_OP_RETAIN_N) }
  package static var tryRetain: Operation { .init(LT_OP_TRY_RETAIN) }
  package static var weakLoadStrong: Operation { .init(LT_OP_WEAK_LOAD_STRONG) }
  package static var weakTakeStrong: Operation { .init(LT_OP_WEAK_TAKE_STRONG) }
  package static var unownedRetainStrong: Operation { .init(LT_OP_UNOWNED_RETAIN_STRONG) }
  package static var unownedRetainStrongAndRelease: Operation { .init(LT_OP_UNOWNED_RETAIN_STRONG_AND_RELEASE) }
  package static var nonatomicRetain: Operation { .init(LT_OP_NONATOMIC_RETAIN) }
  package static var nonatomicRetainN: Operation { .init(LT_OP_NONATOMIC_RETAIN_N) }
  package static var release: Operation { .init(LT_OP_RELEASE) }
  package static var releaseN: Operation { .init(LT_OP_RELEASE_N) }
  package static var nonatomicRelease: Operation { .init(LT_OP_NONATOMIC_RELEASE) }
  package static var nonatomicReleaseN: Operation { .init(LT_OP_NONATOMIC_RELEASE_N) }
  package static var unownedRetain: Operation { .init(LT_OP_UNOWNED_RETAIN) }
  package static var unownedRelease: Operation { .init(LT_OP_UNOWNED_RELEASE) }

  /// A mark of the program, which is not an operation on a block. The event's `size` is the mark's index among the
  /// reader's marks.
  package static var mark: Operation { .init(rawValue: UInt8(LT_CONTROL_MARK)) }

  /// The effect of an operation on a block.
  package enum Effect: UInt8, Hashable, Sendable {
    case allocation, free, reallocFailed, heapListed, retain, release, unownedRetain, unownedRelease, mark, unknown
  }

  @inline(__always)
  package var effect: Effect {
    switch rawValue {
    case 1...11: .allocation
    case 16, 17, 19: .free
    case 18: .reallocFailed
    case 20: .heapListed
    case 24...32: .retain
    case 36...39: .release
    case 42: .unownedRetain
    case 43: .unownedRelease
    case 52: .mark
    default: .unknown
    }
  }

  @inline(__always)
  var isAllocation: Bool { rawValue &- 1 < 11 }

  /// True for retains and releases, strong or unowned.
  @inline(__always)
  var countsReferences: Bool { rawValue &- 24 < 24 }

  /// Bit n is set if operation n has operands. These are allocations, `reallocFailed`, and operations with a count of
  /// references.
  @inline(__always)
  static var operandMask: UInt64 {
    // Swift 6.0 takes too long to check this as a single expression.
    let blocks: UInt64 = 0b1111_1111_1110
    let late: UInt64 = 1 << 18 | 1 << 25 | 1 << 32
    return blocks | late | (1 << 37 | 1 << 39)
  }

  /// True if the operation's events have a size, or a count in the place of the size.
  package var hasOperands: Bool { rawValue < 64 && Self.operandMask >> UInt64(rawValue) & 1 != 0 }

  /// True if the operation's operand is a count of references.
  @inline(__always)
  package var hasCount: Bool { rawValue == 25 || rawValue == 32 || rawValue == 37 || rawValue == 39 }

  /// The name in reports and dumps: the name of the called function.
  package var name: String {
    switch rawValue {
    case 1: "swift_allocObject"
    case 2: "malloc"
    case 3: "calloc"
    case 4: "realloc"
    case 5: "reallocarray"
    case 6: "posix_memalign"
    case 7: "aligned_alloc"
    case 8: "memalign"
    case 9: "valloc"
    case 10: "pvalloc"
    case 11: "operator_new"
    case 16: "free"
    case 17: "realloc_free"
    case 18: "realloc_failed"
    case 19: "operator_delete"
    case 20: "heap_listed"
    case 24: "swift_retain"
    case 25: "swift_retain_n"
    case 26: "swift_tryRetain"
    case 27: "swift_weakLoadStrong"
    case 28: "swift_weakTakeStrong"
    case 29: "swift_unownedRetainStrong"
    case 30: "swift_unownedRetainStrongAndRelease"
    case 31: "swift_nonatomic_retain"
    case 32: "swift_nonatomic_retain_n"
    case 36: "swift_release"
    case 37: "swift_release_n"
    case 38: "swift_nonatomic_release"
    case 39: "swift_nonatomic_release_n"
    case 42: "swift_unownedRetain"
    case 43: "swift_unownedRelease"
    case 52: "mark"
    default: "operation_\(rawValue)"
    }
  }
}
