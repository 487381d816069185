// What an event says happened.

import CTraceFormat

/// A recorded operation. May hold a number that this reader does not know; such events are counted and otherwise ignored.
public struct Operation: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  public var rawValue: UInt8
  @inline(__always) public init(rawValue: UInt8) { self.rawValue = rawValue }
  @inline(__always) init(_ operation: lt_operation) { rawValue = UInt8(truncatingIfNeeded: operation.rawValue) }

  /// Operations are below this; control records are at or above.
  public static let limit = 48

  public static var object: Operation { .init(LT_OP_OBJECT) }
  public static var malloc: Operation { .init(LT_OP_MALLOC) }
  public static var calloc: Operation { .init(LT_OP_CALLOC) }
  public static var realloc: Operation { .init(LT_OP_REALLOC) }
  public static var reallocarray: Operation { .init(LT_OP_REALLOCARRAY) }
  public static var posixMemalign: Operation { .init(LT_OP_POSIX_MEMALIGN) }
  public static var alignedAlloc: Operation { .init(LT_OP_ALIGNED_ALLOC) }
  public static var memalign: Operation { .init(LT_OP_MEMALIGN) }
  public static var valloc: Operation { .init(LT_OP_VALLOC) }
  public static var pvalloc: Operation { .init(LT_OP_PVALLOC) }
  public static var operatorNew: Operation { .init(LT_OP_NEW) }
  public static var free: Operation { .init(LT_OP_FREE) }
  public static var reallocFree: Operation { .init(LT_OP_REALLOC_FREE) }
  public static var reallocFailed: Operation { .init(LT_OP_REALLOC_FAILED) }
  public static var operatorDelete: Operation { .init(LT_OP_DELETE) }
  public static var retain: Operation { .init(LT_OP_RETAIN) }
  public static var retainN: Operation { .init(LT_OP_RETAIN_N) }
  public static var tryRetain: Operation { .init(LT_OP_TRY_RETAIN) }
  public static var weakLoadStrong: Operation { .init(LT_OP_WEAK_LOAD_STRONG) }
  public static var weakTakeStrong: Operation { .init(LT_OP_WEAK_TAKE_STRONG) }
  public static var unownedRetainStrong: Operation { .init(LT_OP_UNOWNED_RETAIN_STRONG) }
  public static var unownedRetainStrongAndRelease: Operation { .init(LT_OP_UNOWNED_RETAIN_STRONG_AND_RELEASE) }
  public static var nonatomicRetain: Operation { .init(LT_OP_NONATOMIC_RETAIN) }
  public static var nonatomicRetainN: Operation { .init(LT_OP_NONATOMIC_RETAIN_N) }
  public static var release: Operation { .init(LT_OP_RELEASE) }
  public static var releaseN: Operation { .init(LT_OP_RELEASE_N) }
  public static var nonatomicRelease: Operation { .init(LT_OP_NONATOMIC_RELEASE) }
  public static var nonatomicReleaseN: Operation { .init(LT_OP_NONATOMIC_RELEASE_N) }
  public static var unownedRetain: Operation { .init(LT_OP_UNOWNED_RETAIN) }
  public static var unownedRelease: Operation { .init(LT_OP_UNOWNED_RELEASE) }

  /// Something the program says: no operation on a block. The event's `size` is its index among the reader's marks.
  public static var mark: Operation { .init(rawValue: UInt8(LT_CONTROL_MARK)) }

  /// What an operation does to a block.
  public enum Effect: UInt8, Hashable, Sendable {
    case allocation, free, reallocFailed, retain, release, unownedRetain, unownedRelease, mark, unknown
  }

  @inline(__always)
  public var effect: Effect {
    switch rawValue {
    case 1...11: .allocation
    case 16, 17, 19: .free
    case 18: .reallocFailed
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

  /// Retains and releases, strong or unowned.
  @inline(__always)
  var countsReferences: Bool { rawValue &- 24 < 24 }

  /// Bit n is set if operation n has operands: allocations, `reallocFailed`, and those that count references.
  @inline(__always)
  static var operandMask: UInt64 { 0b1111_1111_1110 | 1 << 18 | 1 << 25 | 1 << 32 | 1 << 37 | 1 << 39 }

  /// Whether its event carries a size, or a count in its place.
  public var hasOperands: Bool { rawValue < 64 && Self.operandMask >> UInt64(rawValue) & 1 != 0 }

  /// Whether its operand is a count of references.
  @inline(__always)
  public var hasCount: Bool { rawValue == 25 || rawValue == 32 || rawValue == 37 || rawValue == 39 }

  /// The name that reports and dumps use: that of the function called.
  public var name: String {
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
