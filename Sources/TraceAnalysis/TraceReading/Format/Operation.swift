// The operations that events record.

import CTraceFormat

/// A recorded operation. Its number may be unknown to this reader. Events of unknown operations are counted, and
/// otherwise ignored.
package struct Operation: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  package var rawValue: UInt8
  @inline(__always) package init(rawValue: UInt8) { self.rawValue = rawValue }
  @inline(__always) init(_ operation: lt_operation) { rawValue = UInt8(truncatingIfNeeded: operation.rawValue) }

  /// The numbers of operations are below this limit. Control records have this number or a higher one.
  package static let limit = Int(LT_OP_LIMIT.rawValue)

  package static var object: Operation { .init(LT_OP_OBJECT) }
  package static var malloc: Operation { .init(LT_OP_MALLOC) }
  package static var calloc: Operation { .init(LT_OP_CALLOC) }
  package static var realloc: Operation { .init(LT_OP_REALLOC) }
  static var reallocarray: Operation { .init(LT_OP_REALLOCARRAY) }
  static var posixMemalign: Operation { .init(LT_OP_POSIX_MEMALIGN) }
  static var alignedAlloc: Operation { .init(LT_OP_ALIGNED_ALLOC) }
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
    case Self.object.rawValue...Self.operatorNew.rawValue: .allocation
    case Self.free.rawValue, Self.reallocFree.rawValue, Self.operatorDelete.rawValue: .free
    case Self.reallocFailed.rawValue: .reallocFailed
    case Self.heapListed.rawValue: .heapListed
    case Self.retain.rawValue...Self.nonatomicRetainN.rawValue: .retain
    case Self.release.rawValue...Self.nonatomicReleaseN.rawValue: .release
    case Self.unownedRetain.rawValue: .unownedRetain
    case Self.unownedRelease.rawValue: .unownedRelease
    case Self.mark.rawValue: .mark
    default: .unknown
    }
  }

  @inline(__always)
  package var isAllocation: Bool {
    rawValue &- Self.object.rawValue <= Self.operatorNew.rawValue - Self.object.rawValue
  }

  /// True for retains and releases, strong or unowned.
  @inline(__always)
  var countsReferences: Bool { rawValue &- Self.retain.rawValue < UInt8(Self.limit) - Self.retain.rawValue }

  /// The operation as a bit: bit n for operation n.
  @inline(__always)
  private var bit: UInt64 { 1 &<< UInt64(rawValue) }

  /// Allocations, as bits.
  @inline(__always)
  private static var allocationMask: UInt64 { (operatorNew.bit &<< 1) &- object.bit }

  /// The operations whose operand is a count of references, as bits.
  @inline(__always)
  private static var countMask: UInt64 {
    let retains = retainN.bit | nonatomicRetainN.bit
    return retains | releaseN.bit | nonatomicReleaseN.bit
  }

  /// The operations that have operands, as bits. These are allocations, `reallocFailed`, and operations with a count of
  /// references.
  @inline(__always)
  static var operandMask: UInt64 { allocationMask | reallocFailed.bit | countMask }

  /// Allocations and `reallocFailed`, as bits. All numbers below `free` are reserved for allocations.
  @inline(__always)
  static var allocatingMask: UInt64 { (free.bit &- 1) | reallocFailed.bit }

  /// Retains and releases, strong or unowned, as bits.
  @inline(__always)
  static var countingMask: UInt64 { (unownedRelease.bit &<< 1) &- retain.bit }

  /// True if the operation's events have a size, or a count in the place of the size.
  package var hasOperands: Bool { rawValue < 64 && Self.operandMask >> UInt64(rawValue) & 1 != 0 }

  /// True if the operation's operand is a count of references.
  @inline(__always)
  package var hasCount: Bool { rawValue < 64 && Self.countMask &>> UInt64(rawValue) & 1 != 0 }

  /// The name in reports and dumps: the name of the called function.
  package var name: String {
    switch self {
    case .object: "swift_allocObject"
    case .malloc: "malloc"
    case .calloc: "calloc"
    case .realloc: "realloc"
    case .reallocarray: "reallocarray"
    case .posixMemalign: "posix_memalign"
    case .alignedAlloc: "aligned_alloc"
    case .memalign: "memalign"
    case .valloc: "valloc"
    case .pvalloc: "pvalloc"
    case .operatorNew: "operator_new"
    case .free: "free"
    case .reallocFree: "realloc_free"
    case .reallocFailed: "realloc_failed"
    case .operatorDelete: "operator_delete"
    case .heapListed: "heap_listed"
    case .retain: "swift_retain"
    case .retainN: "swift_retain_n"
    case .tryRetain: "swift_tryRetain"
    case .weakLoadStrong: "swift_weakLoadStrong"
    case .weakTakeStrong: "swift_weakTakeStrong"
    case .unownedRetainStrong: "swift_unownedRetainStrong"
    case .unownedRetainStrongAndRelease: "swift_unownedRetainStrongAndRelease"
    case .nonatomicRetain: "swift_nonatomic_retain"
    case .nonatomicRetainN: "swift_nonatomic_retain_n"
    case .release: "swift_release"
    case .releaseN: "swift_release_n"
    case .nonatomicRelease: "swift_nonatomic_release"
    case .nonatomicReleaseN: "swift_nonatomic_release_n"
    case .unownedRetain: "swift_unownedRetain"
    case .unownedRelease: "swift_unownedRelease"
    case .mark: "mark"
    default: "operation_\(rawValue)"
    }
  }
}
